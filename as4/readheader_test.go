package as4

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4/infoset"
)

// wholeHeader is a user message with everything that a profile knows.
const wholeHeader = `<eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><eb:UserMessage>
<eb:MessageInfo><eb:Timestamp>2026-11-29T10:15:00.000Z</eb:Timestamp><eb:MessageId>m1@talquist.example</eb:MessageId></eb:MessageInfo>
<eb:PartyInfo><eb:From><eb:PartyId type="urn:type">talquist-ap</eb:PartyId><eb:Role>urn:from</eb:Role></eb:From>
<eb:To><eb:PartyId type="urn:type">nordhafen-ap</eb:PartyId><eb:Role>urn:to</eb:Role></eb:To></eb:PartyInfo>
<eb:CollaborationInfo><eb:AgreementRef type="urn:agreed" pmode="p1">urn:agreement</eb:AgreementRef><eb:Service type="urn:services">urn:invoices</eb:Service><eb:Action>Deliver</eb:Action><eb:ConversationId>c1</eb:ConversationId></eb:CollaborationInfo>
<eb:MessageProperties><eb:Property name="originalSender" type="urn:who">C1</eb:Property></eb:MessageProperties>
<eb:PayloadInfo><eb:PartInfo href="cid:p1@talquist.example"><eb:PartProperties><eb:Property name="MimeType">application/edifact</eb:Property><eb:Property name="CharacterSet">UTF-8</eb:Property><eb:Property name="CompressionType">application/gzip</eb:Property></eb:PartProperties></eb:PartInfo></eb:PayloadInfo>
</eb:UserMessage></eb:Messaging>`

func headerOf(t testing.TB, text string) (*header, error) {
	t.Helper()
	doc, err := infoset.Parse([]byte(text), infoset.Header)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return readHeader(doc.Root())
}

func TestUserMessage(t *testing.T) {
	h, err := headerOf(t, wholeHeader)
	if err != nil {
		t.Fatal(err)
	}
	want := &UserMessage{
		MPC:         DefaultMPC,
		MessageInfo: MessageInfo{Timestamp: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), MessageID: "m1@talquist.example"},
		From:        Party{ID: "talquist-ap", Type: "urn:type", Role: "urn:from"},
		To:          Party{ID: "nordhafen-ap", Type: "urn:type", Role: "urn:to"},
		Collaboration: CollaborationInfo{Agreement: Agreement{"urn:agreement", "urn:agreed", "p1"}, Service: "urn:invoices", ServiceType: "urn:services",
			Action: "Deliver", ConversationID: "c1"},
		Properties: []Property{{"originalSender", "urn:who", "C1"}},
		Parts: []PartInfo{{Href: "cid:p1@talquist.example", MimeType: "application/edifact", CharacterSet: "UTF-8", CompressionType: GZIP,
			Properties: []Property{{Name: "MimeType", Value: "application/edifact"}, {Name: "CharacterSet", Value: "UTF-8"}, {Name: "CompressionType", Value: GZIP}}}},
	}
	if diff := cmp.Diff(want, h.user); diff != "" {
		t.Error(diff)
	}
}

// changed is wholeHeader with pairs of texts replaced.
func changed(t testing.TB, pairs ...string) string {
	t.Helper()
	text := wholeHeader
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the header holds no %q", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestWhatAHeaderMayLeaveOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		pairs []string
		see   func(*UserMessage) any
		want  any
	}{
		{"an empty conversation", []string{"<eb:ConversationId>c1</eb:ConversationId>", "<eb:ConversationId/>"}, func(u *UserMessage) any { return u.Collaboration.ConversationID }, ""},
		{"no agreement", []string{`<eb:AgreementRef type="urn:agreed" pmode="p1">urn:agreement</eb:AgreementRef>`, ""}, func(u *UserMessage) any { return u.Collaboration.Agreement }, Agreement{}},
		{"no properties of the message", []string{`<eb:MessageProperties><eb:Property name="originalSender" type="urn:who">C1</eb:Property></eb:MessageProperties>`, ""}, func(u *UserMessage) any { return len(u.Properties) }, 0},
		{"no types of parties", []string{` type="urn:type"`, "", ` type="urn:type"`, ""}, func(u *UserMessage) any { return u.From.Type + u.To.Type }, ""},
		{"a time without a zone is UTC", []string{"10:15:00.000Z", "10:15:00"}, func(u *UserMessage) any { return u.MessageInfo.Timestamp.Format(time.RFC3339) }, "2026-11-29T10:15:00Z"},
		{"a time with a zone and nine digits", []string{"10:15:00.000Z", "11:15:00.123456789+01:00"}, func(u *UserMessage) any { return u.MessageInfo.Timestamp.UTC().Format(time.RFC3339Nano) }, "2026-11-29T10:15:00.123456789Z"},
		{"a pretty-printed id", []string{">m1@talquist.example<", ">\n  m1@talquist.example\n<"}, func(u *UserMessage) any { return u.MessageInfo.MessageID }, "m1@talquist.example"},
		{"a comment in an id", []string{">m1@talquist", "><!-- x -->m1@<!-- y -->talquist"}, func(u *UserMessage) any { return u.MessageInfo.MessageID }, "m1@talquist.example"},
		{"a channel of its own", []string{"<eb:UserMessage>", `<eb:UserMessage mpc="urn:channel">`}, func(u *UserMessage) any { return u.MPC }, "urn:channel"},
		{"elements of others", []string{"<eb:MessageInfo>", `<x:more xmlns:x="urn:x"/><eb:MessageInfo>`}, func(u *UserMessage) any { return u.MessageInfo.MessageID }, "m1@talquist.example"},
		{"a part that is not compressed and has no properties", []string{wholeHeader[strings.Index(wholeHeader, "<eb:PartProperties>"):strings.Index(wholeHeader, "</eb:PartInfo>")], ""}, func(u *UserMessage) any { return u.Parts }, []PartInfo{{Href: "cid:p1@talquist.example"}}},
		{"an href of another spelling", []string{"cid:p1", "CID:p1"}, func(u *UserMessage) any { return u.Parts[0].Href }, "CID:p1@talquist.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := headerOf(t, changed(t, c.pairs...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.see(h.user)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeaderFaults(t *testing.T) {
	unit := wholeHeader[strings.Index(wholeHeader, "<eb:UserMessage>"):strings.Index(wholeHeader, "</eb:Messaging>")]
	for _, c := range []struct {
		name  string
		pairs []string
		code  string
		named bool
	}{
		{"no MessageId", []string{"<eb:MessageId>m1@talquist.example</eb:MessageId>", ""}, InvalidHeader, false},
		{"a blank MessageId", []string{"m1@talquist.example</eb:MessageId>", "  </eb:MessageId>"}, InvalidHeader, false},
		{"a MessageId of two words", []string{"m1@talquist.example</eb:MessageId>", "m1 m2</eb:MessageId>"}, InvalidHeader, false},
		{"two MessageIds", []string{"</eb:MessageId>", "</eb:MessageId><eb:MessageId>m2</eb:MessageId>"}, InvalidHeader, false},
		{"an element within the MessageId", []string{"m1@talquist.example</eb:MessageId>", "m1<b/></eb:MessageId>"}, InvalidHeader, false},
		{"a long MessageId", []string{"m1@talquist.example</eb:MessageId>", strings.Repeat("m", maxValue+1) + "</eb:MessageId>"}, InvalidHeader, false},
		{"two user messages", []string{unit, unit + unit}, ValueInconsistent, false},
		{"no message", []string{unit, ""}, InvalidHeader, false},
		{"a time that is none", []string{"2026-11-29T10:15:00.000Z", "not-a-date"}, InvalidHeader, true},
		{"no time", []string{"<eb:Timestamp>2026-11-29T10:15:00.000Z</eb:Timestamp>", ""}, InvalidHeader, true},
		{"no PartyId", []string{`<eb:PartyId type="urn:type">talquist-ap</eb:PartyId>`, ""}, InvalidHeader, true},
		{"two PartyIds", []string{`talquist-ap</eb:PartyId>`, `talquist-ap</eb:PartyId><eb:PartyId>x</eb:PartyId>`}, ValueInconsistent, true},
		{"no Role", []string{"<eb:Role>urn:to</eb:Role>", ""}, InvalidHeader, true},
		{"no Service", []string{`<eb:Service type="urn:services">urn:invoices</eb:Service>`, ""}, InvalidHeader, true},
		{"an empty Action", []string{"<eb:Action>Deliver</eb:Action>", "<eb:Action/>"}, InvalidHeader, true},
		{"no ConversationId", []string{"<eb:ConversationId>c1</eb:ConversationId>", ""}, InvalidHeader, true},
		{"an element of ebMS that does not belong", []string{"<eb:MessageInfo>", "<eb:Receipt/><eb:MessageInfo>"}, InvalidHeader, true},
		{"a property without a name", []string{`name="originalSender"`, ""}, InvalidHeader, true},
		{"a property twice", []string{`<eb:Property name="CharacterSet">`, `<eb:Property name="MimeType">`}, ValueInconsistent, true},
		{"a hyperlink for a payload", []string{"cid:p1@talquist.example", "https://talquist.example/p1"}, ExternalPayloadError, true},
		{"a payload in the Body", []string{"cid:p1@talquist.example", "#p1"}, ExternalPayloadError, true},
		{"a part without an href", []string{` href="cid:p1@talquist.example"`, ""}, ExternalPayloadError, true},
		{"another compression", []string{"application/gzip</eb:Property>", "application/zip</eb:Property>"}, ValueInconsistent, true},
		{"compression without a MimeType", []string{`<eb:Property name="MimeType">application/edifact</eb:Property>`, ""}, ValueInconsistent, true},
		{"a character set that is none", []string{"UTF-8", "!utf*"}, ValueInconsistent, true},
		{"a MimeType that is none", []string{"application/edifact", "edifact"}, ValueInconsistent, true},
		{"many parts", []string{"</eb:PartInfo>", "</eb:PartInfo>" + strings.Repeat(`<eb:PartInfo href="cid:x"/>`, maxParts)}, ProcessingModeMismatch, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := headerOf(t, changed(t, c.pairs...))
			var e *Error
			if !errors.As(err, &e) || e.Code != c.code || e.Detail == "" {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if named := h.named != ""; named != c.named {
				t.Errorf("an error refers to %q", h.named)
			}
		})
	}
}

func TestSignals(t *testing.T) {
	signal := func(content string) string {
		return `<eb:Messaging xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/"><eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-29T10:15:00Z</eb:Timestamp><eb:MessageId>s1</eb:MessageId><eb:RefToMessageId>m1</eb:RefToMessageId></eb:MessageInfo>` +
			content + `</eb:SignalMessage></eb:Messaging>`
	}
	t.Run("several errors in one signal are read", func(t *testing.T) {
		h, err := headerOf(t, signal(`<eb:Error errorCode="EBMS:0004" severity="failure" refToMessageInError="m1" shortDescription="Other"><eb:Description xml:lang="en">all</eb:Description><eb:ErrorDetail>of it</eb:ErrorDetail></eb:Error><eb:Error errorCode="EBMS:0006" severity="WARNING"/>`))
		if err != nil {
			t.Fatal(err)
		}
		want := []ErrorSignal{{Code: "EBMS:0004", Severity: "failure", Short: "Other", RefToMessage: "m1", Description: "all", Detail: "of it"}, {Code: "EBMS:0006", Severity: "warning"}}
		if diff := cmp.Diff(want, h.signal.Errors); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a pull request names a channel", func(t *testing.T) {
		h, err := headerOf(t, signal(`<eb:PullRequest mpc="urn:c"/>`))
		if err != nil || h.signal.Pull == nil || *h.signal.Pull != "urn:c" {
			t.Errorf("got %+v, %v", h.signal, err)
		}
	})
	for name, content := range map[string]string{
		"nothing":                      "",
		"a pull request and an error":  `<eb:PullRequest/><eb:Error errorCode="EBMS:0004" severity="failure"/>`,
		"an error without a code":      `<eb:Error severity="failure"/>`,
		"an error of unknown severity": `<eb:Error errorCode="EBMS:0004" severity="bad"/>`,
	} {
		t.Run("a signal with "+name+" is refused", func(t *testing.T) {
			if h, err := headerOf(t, signal(content)); err == nil {
				t.Errorf("taken as %+v", h.signal)
			}
		})
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(wholeHeader)
	f.Add(strings.Replace(wholeHeader, "cid:p1@talquist.example", "", 1))
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := infoset.Parse([]byte(text), infoset.Header)
		if err != nil {
			return
		}
		h, err := readHeader(doc.Root())
		if err == nil && h.user != nil && (h.user.MessageInfo.MessageID == "" || h.user.From.ID == "" || h.user.To.ID == "" || h.user.Collaboration.Action == "") {
			t.Errorf("taken without what is mandatory: %+v", h.user)
		}
		if err == nil && h.user == nil && h.signal == nil {
			t.Error("neither a message nor an error")
		}
	})
}
