package partners_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/partners"
)

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// awkward are texts that YAML could take for something else.
var awkward = []string{"true", "no", "~", "null", "0123", "1e5", "1_000", "0x1F", ".inf", "-", "- a", "a: b", "#", "a #b", "*a", "&a", "!x",
	"|", ">", "%a", "@a", "`a`", "'", `"`, `\`, "[a]", "{a}", "?", ": ", "2026-01-01", "---", "...", "<<", " a", "a ", "=", "12:30:00", "ü", "日本", "\u00ad"}

func anyText(t *rapid.T, longest int) string {
	s := rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringOfN(rapid.Rune(), 1, longest, -1)).Draw(t, "text")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return 'x'
		}
		return r
	}, s)
	return s
}

func anyIdentifiers(t *rapid.T) []partners.Identifier {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) partners.Identifier {
		// Blanks on the right are filling, not identity.
		return partners.Identifier{
			Qualifier: strings.TrimRight(rapid.SampledFrom([]string{"", "14", "ZZ", "01", "~", "1e5", "no", "*a"}).Draw(t, "qualifier"), " "),
			ID:        "x" + strings.TrimRight(anyText(t, 30), " "),
		}
	}), 0, 3, rapid.ID).Draw(t, "identifiers")
}

// anyPartner draws every field, by its type and by what is allowed for it: a
// field that is not known here fails the test.
func anyPartner(t *rapid.T) *partners.PartnerSpec {
	oneOf := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }
	some := func(words ...string) []string {
		return rapid.SliceOfDistinct(rapid.SampledFrom(words), rapid.ID).Draw(t, "words")
	}
	days := func() partners.Days { return partners.Days(rapid.IntRange(30, 36500).Draw(t, "days")) }
	retry := partners.Days(rapid.IntRange(1, 30).Draw(t, "days"))
	by, address, secret := oneOf("response", "webhook", "folder", "none"), "none", "none"
	if by == "webhook" {
		address, secret = oneOf("https://acme.example/edi", "http://10.0.0.1:8080/?a=b&c=%20"), oneOf("none", "acme-2026", "007")
	}
	advise := oneOf("as_acknowledged", "folder", "none")
	p := &partners.PartnerSpec{}
	set := map[string]any{
		".ID": "p1", ".Name": anyText(t, 200), ".State": oneOf("active", "paused"), ".Preset": oneOf("standard", "strict", "lenient", "edelivery", "van"), ".Organisation": oneOf("north", "0", "1.5"),
		".Identifiers": anyIdentifiers(t), ".SpeaksFor": some("other", "true", "007", "1e5"),
		".Types": append(some("INVOIC", "DESADV", "856", "NULL"), "810"),
		".Share": rapid.IntRange(1, 100).Draw(t, "share"), ".Acceptance": oneOf("interchange", "message"), ".OnDrift": oneOf("reject", "hold"), ".OnDead": oneOf("hold", "refuse"),
		".DriftAcknowledgement": oneOf("none", "reject"), ".FourEyes": oneOf("invoices", "off"), ".ReceiptAction": rapid.IntRange(7, 8).Draw(t, "action"),
		".AcceptsUCI8": rapid.Bool().Draw(t, "uci8"), ".Absorb": some("formatting", "envelope"), ".Attempts": rapid.IntRange(1, 100).Draw(t, "attempts"),
		".ControlReference": oneOf("unique", "unique_per_day", "unreliable"), ".MessageReference": oneOf("unique", "unreliable"),
		".TransportID": oneOf("unique", "unreliable"), ".KeyIncludesApplication": rapid.Bool().Draw(t, "application"),
		".KnownDocument.Invoice": oneOf("hold", "note"), ".KnownDocument.Despatch": oneOf("hold", "note"), ".Checks": anyChecks(t), ".Documents.Profile": oneOf(append(roles.Names(), "automatic")...),
		".Documents.Roles.Parties": anyRoles(t, "supplier", "none"), ".Documents.Roles.References": anyRoles(t, "order"), ".Documents.Roles.Dates": anyRoles(t, "due"), ".Documents.Roles.Amounts": anyRoles(t, "line_net"),
		".Documents.Roles.Totals": anyRoles(t, "payable"), ".Documents.Roles.Quantities": anyRoles(t, "free"), ".Documents.Roles.Prices": anyRoles(t, "gross"), ".Documents.Roles.Texts": anyRoles(t, "note"),
		".AcknowledgeBy": by, ".AdviseBy": advise, ".AcknowledgeURL": address, ".AcknowledgeSecret": secret,
		".FunctionalAcknowledgement": oneOf("by_version", "997", "999"), ".TA1": oneOf("requested", "always", "never"),
		".Processing": anyProcessing(t), ".HandOver": oneOf("none", "folder"), ".Silence": rapid.SampledFrom([]partners.Silence{partners.SilenceAuto, partners.SilenceOff, 1, 72, 9600}).Draw(t, "silence"),
		".Reading.Charset": oneOf("declared", "UTF-8", "DETECT"), ".Reading.DefaultCharset": oneOf("none", "ISO-8859-15"),
		".Reading.ByteOrderMark": oneOf("accept", "refuse"), ".Reading.BlankLines": oneOf("accept", "refuse"), ".Reading.Padding": oneOf("accept", "refuse"),
		".Reading.LeadingZeros": oneOf("accept", "refuse"), ".Reading.SurroundingText": oneOf("accept", "refuse"), ".Reading.LineWraps": oneOf("accept", "refuse"),
		".Reading.Structure": oneOf("off", "note", "refuse"), ".Reading.Guide": oneOf("own", "EAN008", "0815"),
		".Retention.DedupWindow": days(), ".Retention.RetryWindow": retry, ".Retention.ReuseAfter": partners.Days(rapid.IntRange(0, 29).Draw(t, "days")),
		".Retention.Payloads": days(), ".Retention.Acknowledgements": days(), ".Retention.Quarantine": days(), ".Retention.Deliveries": days(),
		".Retention.Documents.Invoice": days(), ".Retention.Documents.Despatch": days(), ".Retention.Documents.Other": partners.Days(rapid.IntRange(0, 29).Draw(t, "days")),
		".Retention.LegalHold": rapid.Bool().Draw(t, "hold"), ".HTTP.Tokens": anyTokens(t),
		".AS2.Names": some("ACME-AS2", `Acme "Works"`, "007"), ".AS2.Signature": oneOf("required", "optional"), ".AS2.Encryption": oneOf("required", "optional", "authenticated"),
		".AS2.OldAlgorithms": some("3des", "md5", "sha1"), ".AS2.Expired": oneOf("refuse", "accept"), ".AS2.MIC": oneOf("signature", "requested"),
		".AS2.CompressedMIC": oneOf(partners.AS2CompressedMICs...), ".AS2.Scheme": oneOf("rsa-pkcs1", "rsa-pss"), ".AS2.Send.MDNTo": "response",
		".AS2.MDNDigest": oneOf("sha256", "sha1"), ".AS2.MDNHosts": some("as2.acme.example", "10.0.0.1:8080", "[::1]:443"),
		".AS2.Send.URL": "none", ".AS2.Send.From": oneOf("only", "~"), ".AS2.Send.To": oneOf("only", "ACME-AS2"), ".AS2.Send.Signature": oneOf("sha256", "none"),
		".AS2.Send.Encryption": oneOf("aes256-gcm", "none"), ".AS2.Send.KeyEncryption": oneOf("rsa-pkcs1", "rsa-oaep"), ".AS2.Send.Compression": rapid.Bool().Draw(t, "compression"), ".AS2.Send.MDN": oneOf("signed", "unsigned", "none"),
		".HTTP.Credentials": oneOf("any", "token", "certificate", "both"), ".Certificates": anyCertificates(t),
	}
	maps.Copy(set, anyAS4(t))
	for key := range leaves(*p) {
		value, ok := set[key]
		if !ok {
			t.Fatalf("%s is not drawn", key)
		}
		setLeaf(p, key, value)
	}
	return p
}

// anyAS4 draws what is agreed for AS4; without a profile nothing is.
func anyAS4(t *rapid.T) map[string]any {
	oneOf := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }
	drawn := map[string]any{}
	whole := partners.PartnerSpec{AS4: partners.AS4DefaultsOf("none")}
	if rapid.Bool().Draw(t, "as4") {
		awkward := func() string { return oneOf("none", "urn:a:b", "0123", "true", "~", "a:", "-", "#x", "'", "x") }
		whole.AS4 = partners.AS4Spec{Profile: oneOf("edelivery-1.15", "edelivery-2.0", "peppol"),
			From: partners.AS4Party{ID: oneOf("0123", "no", "ap:1"), Type: awkward(), Role: awkward()}, To: partners.AS4Party{ID: oneOf("1e5", "ap"), Type: awkward(), Role: awkward()},
			Agreement: awkward(), AgreementType: awkward(), MPC: oneOf("default", "urn:c"),
			Services: rapid.SampledFrom([][]partners.AS4Service{nil, {{"urn:s", "none", "none"}}, {{"a", "none", "1"}, {"a", "~", "none"}}}).Draw(t, "services"),
			Unsigned: oneOf("refuse", "certificate", "accept"), UnsignedBody: oneOf("refuse", "accept"), Unencrypted: oneOf("refuse", "accept"),
			Signatures: rapid.SampledFrom([][]string{{"ed25519"}, {"rsa-sha256", "ecdsa-sha512"}}).Draw(t, "signatures"), SHA1: oneOf("refuse", "accept"), CBC: oneOf("refuse", "accept"),
			Errors: oneOf("signal", "fault"), Token: oneOf(partners.AS4Tokens...), Compression: oneOf("gzip", "none"), URL: oneOf("none", "http://10.0.0.1:8080/as4?a=b"),
			Reply: rapid.SampledFrom([]partners.AS4Service{{"none", "none", "none"}, {"urn:s", "none", "A"}, {"1", "2", "~"}}).Draw(t, "reply")}
	}
	for key, value := range leaves(whole) {
		if strings.HasPrefix(key, ".AS4.") {
			drawn[key] = value
		}
	}
	return drawn
}

// setLeaf sets what leaves gave under path.
func setLeaf(p *partners.PartnerSpec, path string, value any) {
	field := reflect.ValueOf(p).Elem()
	for name := range strings.SplitSeq(path[1:], ".") {
		field = field.FieldByName(name)
	}
	field.Set(reflect.ValueOf(value))
}

// anyProcessing draws one as it is once it was read.
func anyProcessing(t *rapid.T) partners.Processing {
	return rapid.SampledFrom([]partners.Processing{nil, {"default": "deferred"}, {"810": "deferred"}, {"default": "deferred", "810": "inline"}}).Draw(t, "processing")
}

// anyRoles draws some as they are once they were read.
func anyRoles(t *rapid.T, words ...string) partners.Roles {
	m := partners.Roles{}
	for _, q := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ON", "NO", "1", "007", "1E5", "ZZ", "Y", "35E"}), 0, 4, rapid.ID).Draw(t, "qualifiers") {
		m[q] = rapid.SampledFrom(words).Draw(t, "role")
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// anyChecks draws some as they are once they were read.
func anyChecks(t *rapid.T) partners.Checks {
	return rapid.SampledFrom([]partners.Checks{nil, {"default": "refuse"}, {"line-total": "refuse"}, {"default": "off", "line-total": "note", "tax-total": "refuse"}}).Draw(t, "checks")
}

func anyTokens(t *rapid.T) []partners.TokenSpec {
	labels := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string { return anyText(t, 60) }), 0, 3, rapid.ID).Draw(t, "labels")
	var tokens []partners.TokenSpec
	for i, label := range labels {
		tok := partners.TokenSpec{Label: label, SHA256: sha256Hex(fmt.Sprint(i))}
		if rapid.Bool().Draw(t, "expires") {
			at := time.Unix(rapid.Int64Range(1e9, 1e11).Draw(t, "at"), 0).UTC()
			tok.Expires = &at
		}
		tokens = append(tokens, tok)
	}
	return tokens
}
