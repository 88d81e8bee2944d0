package web

import (
	"net/http"

	"github.com/edigw/edigw/accounts"
)

// Prefix stands before the path of every route.
const Prefix = "/api/v1"

// Route is one thing the API does.
type Route struct {
	Method, Path string
	Role         accounts.Role // the least that may; "" needs no token
	Query        []Parameter   // those that are understood; any other is refused
	do           func(*call) error
}

// Routes is the whole API: what there is, and who may.
var Routes = []Route{
	{http.MethodGet, "/openapi.json", "", nil, (*call).openAPI},
	{http.MethodGet, schemaPath, "", nil, (*call).documentSchema},

	{http.MethodGet, "/partners", accounts.Viewer, partnerFilters, (*call).listPartners},
	{http.MethodPut, "/partners", accounts.Admin, nil, (*call).applyPartners},
	{http.MethodGet, "/partners/{partner}", accounts.Viewer, nil, (*call).showPartner},
	{http.MethodPatch, "/partners/{partner}", accounts.Admin, nil, (*call).patchPartner},
	{http.MethodGet, "/partners/{partner}/sheet", accounts.Viewer, nil, (*call).partnerSheet},
	{http.MethodGet, "/partners/{partner}/habits", accounts.Viewer, nil, (*call).partnerHabits},
	{http.MethodPost, "/partners/{partner}/test", accounts.Operator, nil, (*call).tryPartner},
	{http.MethodGet, "/partners/{partner}/revisions", accounts.Viewer, paging, (*call).listPartnerRevisions},
	{http.MethodGet, "/partners/{partner}/revisions/{revision}", accounts.Viewer, nil, (*call).showPartnerRevision},
	{http.MethodPost, "/partners/{partner}/revisions/{revision}/restore", accounts.Admin, restoreChoices, (*call).restorePartner},
	{http.MethodGet, "/organisations/{organisation}/revisions", accounts.Viewer, paging, (*call).listOrganisationRevisions},
	{http.MethodGet, "/configuration", accounts.Admin, configurationFilters, (*call).exportConfiguration},
	{http.MethodPost, "/configuration/diff", accounts.Admin, nil, (*call).diffConfiguration},
	{http.MethodPost, "/partners/{partner}/tokens", accounts.Admin, nil, (*call).issuePartnerToken},
	{http.MethodDelete, "/partners/{partner}/tokens/{label}", accounts.Admin, nil, (*call).revokePartnerToken},

	{http.MethodGet, "/messages", accounts.Viewer, messageFilters, (*call).listMessages},
	{http.MethodGet, "/messages/{partner}/{message_id}", accounts.Viewer, nil, (*call).showMessage},
	{http.MethodGet, "/messages/{partner}/{message_id}/raw", accounts.Operator, []Parameter{{"sha256", Digest, nil}}, (*call).rawMessage},

	{http.MethodGet, "/deliveries/{partner}/{delivery_id}/raw", accounts.Operator, []Parameter{{"with", Text, []string{"header"}}}, (*call).rawDelivery},

	{http.MethodGet, "/messages/{partner}/{message_id}/evidence", accounts.Operator, nil, (*call).evidenceOf},

	{http.MethodGet, "/messages/refused", accounts.Viewer, letterFilters, (*call).listRefused},
	{http.MethodPost, "/messages/re-evaluate", accounts.Operator, nil, (*call).replayLetters},

	{http.MethodGet, "/drift", accounts.Viewer, driftFilters, (*call).listDrift},
	{http.MethodGet, "/drift/{alert_id}", accounts.Viewer, []Parameter{{"digest", Digest, nil}}, (*call).showDrift},

	{http.MethodPost, "/drift/{alert_id}/assign", accounts.Operator, nil, (*call).assignDrift},
	{http.MethodPost, "/drift/{alert_id}/decide", accounts.Operator, nil, (*call).decideDrift},
	{http.MethodPost, "/drift/{alert_id}/approve", accounts.Approver, nil, (*call).approveDrift},
	{http.MethodPost, "/drift/{alert_id}/withdraw", accounts.Operator, nil, (*call).withdrawDrift},

	{http.MethodGet, "/deadletters", accounts.Viewer, letterFilters, (*call).listDeadLetters},
	{http.MethodPost, "/deadletters/replay", accounts.Operator, nil, (*call).replayLetters},
	{http.MethodPost, "/deadletters/discard", accounts.Operator, nil, (*call).discardDeadLetters},

	{http.MethodGet, "/gaps", accounts.Viewer, gapFilters, (*call).listGaps},
	{http.MethodPost, "/gaps/{partner}/{gap_id}/dismiss", accounts.Operator, nil, (*call).dismissGap},

	{http.MethodGet, "/effects", accounts.Viewer, effectFilters, (*call).listEffects},
	{http.MethodPost, "/effects/resolve", accounts.Operator, nil, (*call).resolveEffect},

	{http.MethodGet, "/outgoing", accounts.Viewer, nil, (*call).showOutgoing},
	{http.MethodPost, "/outgoing/hold", accounts.Operator, nil, (*call).holdOutgoing},
	{http.MethodPost, "/outgoing/confirm", accounts.Admin, nil, (*call).confirmOutgoing},

	{http.MethodGet, "/retention/status", accounts.Viewer, nil, (*call).showPurge},
	{http.MethodGet, "/retention/runs", accounts.Viewer, paging, (*call).listPurgeRuns},
	{http.MethodGet, "/retention/runs/{run_id}", accounts.Viewer, nil, (*call).showPurgeRun},
	{http.MethodGet, "/retention/preview", accounts.Operator, nil, (*call).previewPurge},
	{http.MethodGet, "/retention/holds", accounts.Viewer, holdFilters, (*call).listLegalHolds},
	{http.MethodPost, "/retention/holds", accounts.Admin, nil, (*call).addLegalHold},
	{http.MethodPost, "/retention/holds/end", accounts.Admin, nil, (*call).endLegalHold},
	{http.MethodGet, "/partners/{partner}/retention", accounts.Viewer, nil, (*call).showRetention},
	{http.MethodPost, "/partners/{partner}/retention/preview", accounts.Operator, nil, (*call).previewRetention},
	{http.MethodPost, "/retention/confirm-clock", accounts.Admin, nil, (*call).confirmClock},
	{http.MethodPost, "/retention/purge", accounts.Admin, nil, (*call).beginPurge},
	{http.MethodPost, "/retention/pause", accounts.Operator, nil, (*call).pausePurge},
	{http.MethodPost, "/retention/resume", accounts.Admin, nil, (*call).resumePurge},

	{http.MethodGet, "/acknowledgements", accounts.Viewer, acknowledgementFilters, (*call).listAcknowledgements},

	{http.MethodGet, "/events", accounts.Viewer, feedFilters, (*call).listEvents},
	{http.MethodGet, "/events/{partner}/{event_id}", accounts.Viewer, nil, (*call).showEvent},

	{http.MethodGet, "/subscriptions", accounts.Viewer, subscriptionFilters, (*call).listSubscriptions},
	{http.MethodGet, "/subscriptions/{subscription}", accounts.Viewer, nil, (*call).showSubscription},
	{http.MethodPut, "/subscriptions/{subscription}", accounts.Admin, nil, (*call).putSubscription},
	{http.MethodDelete, "/subscriptions/{subscription}", accounts.Admin, nil, (*call).deleteSubscription},
	{http.MethodGet, "/subscriptions/{subscription}/set-aside", accounts.Viewer, asideFilters, (*call).listSetAside},
	{http.MethodPost, "/subscriptions/{subscription}/pause", accounts.Operator, nil, (*call).pauseSubscription},
	{http.MethodPost, "/subscriptions/{subscription}/resume", accounts.Operator, nil, (*call).resumeSubscription},
	{http.MethodPost, "/subscriptions/{subscription}/resend", accounts.Operator, nil, (*call).resendEvents},
	{http.MethodPost, "/subscriptions/{subscription}/dismiss", accounts.Operator, nil, (*call).dismissEvent},

	{http.MethodGet, "/documents", accounts.Viewer, documentFilters, (*call).listDocuments},
	{http.MethodGet, "/documents/export", accounts.Consumer, exportFilters, (*call).exportDocuments},
	{http.MethodGet, "/documents/{document_id}", accounts.Viewer, nil, (*call).showDocument},

	{http.MethodPost, "/documents/{document_id}/report", accounts.Consumer, nil, (*call).reportDocument},

	{http.MethodGet, "/imports", accounts.Admin, importFilters, (*call).listImports},
	{http.MethodPost, "/imports", accounts.Admin, nil, (*call).beginImport},
	{http.MethodGet, "/imports/{import_id}", accounts.Admin, nil, (*call).showImport},
	{http.MethodPost, "/imports/{import_id}/rows", accounts.Admin, nil, (*call).importRows},

	{http.MethodGet, "/audit", accounts.Admin, auditFilters, (*call).listAudit},

	{http.MethodGet, "/users", accounts.Admin, userFilters, (*call).listUsers},
	{http.MethodPost, "/users", accounts.Admin, nil, (*call).addUser},
	{http.MethodPost, "/users/{person}/role", accounts.Admin, nil, (*call).setUserRole},
	{http.MethodPost, "/users/{person}/disable", accounts.Admin, nil, (*call).disableUser},
	{http.MethodPost, "/users/{person}/enable", accounts.Admin, nil, (*call).enableUser},

	{http.MethodGet, "/tokens", accounts.Admin, tokenFilters, (*call).listTokens},
	{http.MethodPost, "/tokens", accounts.Admin, nil, (*call).createToken},
	{http.MethodDelete, "/tokens/{token_id}", accounts.Admin, nil, (*call).revokeToken},
}
