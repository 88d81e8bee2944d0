package partners_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edigw/edigw/partners"
)

var update = flag.Bool("update", false, "write the faults that were found to testdata/faults")

// reader resolves the references in testdata.
var reader = partners.Reader{
	Getenv: func(name string) (string, bool) {
		v, ok := map[string]string{
			"VARIED_TOKEN": "a token from the environment",
			"SHORT":        "fifteen bytes..",
		}[name]
		return v, ok
	},
	ReadFile: func(path string) ([]byte, error) {
		if filepath.Base(path) == "secret.token" {
			return []byte("a token from a file\r\n"), nil
		}
		if filepath.Base(path) == "with-key.pem" {
			return []byte("-----BEGIN PRIVATE KEY-----\nMAAA\n-----END PRIVATE KEY-----\n"), nil
		}
		if filepath.Ext(path) == ".pem" {
			return os.ReadFile(filepath.Join("testdata", filepath.Base(path)))
		}
		return nil, fs.ErrNotExist
	},
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// specs reads YAML that has no fault.
func specs(t testing.TB, name, text string) []partners.Spec {
	t.Helper()
	s, err := reader.Read(name, []byte(text))
	if err != nil {
		t.Fatalf("%s:\n%v", name, err)
	}
	return s
}

// variedPartner is testdata/varied.yaml's partner of that name.
func variedPartner(t testing.TB) *partners.PartnerSpec {
	t.Helper()
	for _, s := range specs(t, "testdata/varied.yaml", string(readFile(t, "testdata/varied.yaml"))) {
		if s.Partner != nil && s.Partner.ID == "varied" {
			return s.Partner
		}
	}
	t.Fatal("testdata/varied.yaml has no partner varied")
	return nil
}

func TestRead(t *testing.T) {
	t.Run("a partner of three lines has every default", func(t *testing.T) {
		got := specs(t, "small.yaml", "kind: Partner\nid: acme\norganisation: north\n")
		want := partners.Defaults()
		want.ID, want.Name, want.Organisation = "acme", "acme", "north"
		if diff := cmp.Diff([]partners.Spec{{Partner: &want, File: "small.yaml", Line: 1}}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("every key is read", func(t *testing.T) {
		got := variedPartner(t)
		expires, from := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)
		instant := time.Date(2027, 6, 30, 10, 0, 0, 0, time.UTC)
		want := &partners.PartnerSpec{
			ID: "varied", Name: "Varied & Söhne", State: "paused", Preset: "van", Organisation: "north",
			Identifiers: []partners.Identifier{{ID: "VARIED"}, {Qualifier: "14", ID: "0012345000013"}, {Qualifier: "ZZ", ID: "VARIED"}},
			Share:       20,
			SpeaksFor:   []string{"small"},
			Types:       []string{"810", "INVOIC"},
			Acceptance:  "message", OnDrift: "hold", OnDead: "refuse", DriftAcknowledgement: "reject", FourEyes: "off",
			ReceiptAction: 8, AcceptsUCI8: true, Absorb: []string{"envelope", "formatting"}, Attempts: 9,
			ControlReference: "unique_per_day", MessageReference: "unreliable", TransportID: "unreliable",
			KeyIncludesApplication:    true,
			KnownDocument:             partners.KnownDocument{Invoice: "note", Despatch: "hold"},
			Checks:                    partners.Checks{"line-repeated": "off"},
			AcknowledgeBy:             "webhook",
			AdviseBy:                  "folder",
			AcknowledgeURL:            "https://varied.example/edi",
			AcknowledgeSecret:         "varied-2026",
			FunctionalAcknowledgement: "999", TA1: "always",
			Documents: partners.DocumentsSpec{Profile: "retail-x12", Roles: partners.RolesSpec{
				Parties: partners.Roles{"CN": "none"}, References: partners.Roles{"ON": "customer_reference"}, Dates: partners.Roles{"10E": "best_before"},
				Amounts: partners.Roles{"66": "line_net"}, Totals: partners.Roles{"128": "tax_inclusive"}, Quantities: partners.Roles{"1": "ordered"},
				Prices: partners.Roles{"AAE": "net"}, Texts: partners.Roles{"ZZZ": "note"}}},
			Processing: partners.Processing{"INVOIC": "deferred"}, HandOver: "folder", Silence: 72,
			Reading: partners.ReadingSpec{Charset: "UTF-8", DefaultCharset: "ISO-8859-15", ByteOrderMark: "refuse", BlankLines: "refuse",
				Padding: "refuse", LeadingZeros: "refuse", SurroundingText: "refuse", Structure: "refuse", Guide: "EAN008", LineWraps: "accept"},
			Retention: partners.RetentionSpec{DedupWindow: 200, RetryWindow: 20, ReuseAfter: 100, Payloads: 60,
				Acknowledgements: 70, Quarantine: 80, Deliveries: 300, Documents: partners.DocumentsRetention{Invoice: 3650, Despatch: 500, Other: 600}, LegalHold: true},
			Certificates: []partners.CertificateSpec{{Label: "2027", Certificate: base64Of(t, "testdata/varied.pem"), Purposes: []string{"as2_encrypt", "tls_client"},
				Pin: "key", KeyUsage: "ignore", From: &from, Until: &expires}},
			HTTP: partners.HTTPSpec{Credentials: "both", Tokens: []partners.TokenSpec{
				{Label: "by env", SHA256: sha256Hex("a token from the environment")},
				{Label: "by file", SHA256: sha256Hex("a token from a file"), Expires: &instant},
				{Label: "erp", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Expires: &expires},
			}},
			AS2: partners.AS2Spec{Names: []string{"VARIED-AS2", "Varied Works"}, Signature: "optional", Encryption: "authenticated", OldAlgorithms: []string{"md5", "sha224"},
				Expired: "accept", MIC: "requested", CompressedMIC: "body", Scheme: "rsa-pss", MDNDigest: "sha512", MDNHosts: []string{"as2.varied.example", "mdn.varied.example:8443"},
				Send: partners.AS2SendSpec{URL: "https://as2.varied.example/receive?a=b", From: "NORDWIND-AS2", To: "VARIED-AS2", Signature: "sha384",
					Encryption: "aes256-gcm", KeyEncryption: "rsa-oaep", Compression: true, MDN: "unsigned", MDNTo: "https://edi.nordwind.example/as2"}},
			AS4: partners.AS4Spec{Profile: "peppol", From: partners.AS4Party{ID: "POP000001", Type: "urn:varied:party", Role: "urn:varied:seller"},
				To: partners.AS4Party{ID: "POP000002", Type: "urn:varied:our-party", Role: "urn:varied:buyer"}, Agreement: "urn:varied:agreement", AgreementType: "urn:varied:agreements",
				MPC: "urn:varied:channel", Services: []partners.AS4Service{{"urn:varied:anything", "none", "none"}, {"urn:varied:orders", "urn:varied:process", "urn:varied:invoice::2.1"}},
				Unsigned: "certificate", UnsignedBody: "accept", Unencrypted: "accept", Signatures: []string{"rsa-sha512", "ed25519"}, SHA1: "accept", CBC: "accept",
				Errors: "fault", Token: "ski", Compression: "none", URL: "https://varied.example/as4", Reply: partners.AS4Service{"urn:varied:answers", "urn:varied:process", "Acknowledge"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("testdata/varied.yaml leaves no key at its default", func(t *testing.T) {
		varied, defaults := leaves(*variedPartner(t)), leaves(partners.Defaults())
		for key, v := range varied {
			if cmp.Equal(v, defaults[key]) {
				t.Errorf("%s is %v in both", key, v)
			}
		}
	})
	t.Run("every key reaches the partner the gateway works with", func(t *testing.T) {
		// What no key decides: the store gives these.
		fixed := map[string]bool{".Revision": true, ".Connected": true, ".Policy.Previous": true}
		varied := leaves(*partners.PartnerOf(*variedPartner(t)))
		defaults := leaves(*partners.PartnerOf(partners.Defaults()))
		for key, v := range varied {
			if cmp.Equal(v, defaults[key]) != fixed[key] {
				t.Errorf("%s is %v with defaults, %v with other settings", key, defaults[key], v)
			}
		}
	})
	t.Run("documents come in their order, with their place", func(t *testing.T) {
		var got []string
		for _, s := range specs(t, "testdata/varied.yaml", string(readFile(t, "testdata/varied.yaml"))) {
			switch {
			case s.Organisation != nil:
				got = append(got, fmt.Sprintf("%s:%d organisation %s", s.File, s.Line, s.Organisation.ID))
			case s.Partner != nil:
				got = append(got, fmt.Sprintf("%s:%d partner %s", s.File, s.Line, s.Partner.ID))
			}
		}
		want := []string{
			"testdata/varied.yaml:2 organisation north",
			"testdata/varied.yaml:11 partner varied",
			"testdata/varied.yaml:143 partner small",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a byte order mark, CR LF and an empty document are no fault", func(t *testing.T) {
		got := specs(t, "dos.yaml", "\xef\xbb\xbf%YAML 1.2\r\n---\r\n---\r\nkind: Partner\r\nid: acme\r\norganisation: north\r\n...\r\n")
		if len(got) != 1 || got[0].Partner == nil || got[0].Partner.ID != "acme" || got[0].Line != 4 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("nothing is nothing", func(t *testing.T) {
		if got := specs(t, "empty.yaml", "# only a comment\n"); got != nil {
			t.Errorf("got %+v", got)
		}
	})
}

func TestReadFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("testdata: %d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run("all faults at once: "+filepath.Base(path), func(t *testing.T) {
			got, err := reader.Read(filepath.Base(path), readFile(t, path))
			if err == nil || got != nil {
				t.Fatalf("got %d specs, %v", len(got), err)
			}
			want := strings.TrimSuffix(path, ".yaml") + ".want"
			text := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(want, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(readFile(t, want)), text); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a token's file stands beside the YAML", func(t *testing.T) {
		var got []string
		r := partners.Reader{ReadFile: func(path string) ([]byte, error) {
			got = append(got, path)
			return []byte("a token from a file"), nil
		}}
		text := "kind: Partner\nid: a\norganisation: n\nhttp: {tokens: [{label: x, file: x.token}, {label: y, file: /run/y.token}]}\n"
		_, err := r.Read("conf/partners/a.yaml", []byte(text))
		want := "conf/partners/a.yaml:4:44: http.tokens[2]: is the same token as another of this partner"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if diff := cmp.Diff([]string{"conf/partners/x.token", "/run/y.token"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a server reads no secrets of its own", func(t *testing.T) {
		_, err := partners.Reader{}.Read("sent.yaml", []byte("kind: Partner\nid: a\norganisation: n\nhttp: {tokens: [{label: x, env: HOME}, {label: y, file: secret}]}\n"))
		want := "sent.yaml:4:33: http.tokens[1].env: is only read on the machine that applies the file; give sha256 here\n" +
			"sent.yaml:4:57: http.tokens[2].file: is only read on the machine that applies the file; give sha256 here"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
	t.Run("hostile texts are refused before they are parsed", func(t *testing.T) {
		for text, want := range map[string]string{
			strings.Repeat("[", 60_000):                  "x.yaml:1:1: brackets are nested too deep",
			"---\na: " + strings.Repeat("{a: ", 15_000):  "x.yaml:1:1: brackets are nested too deep",
			"a: 1\n---\n" + strings.Repeat("a", 192<<10): "x.yaml:2:1: a document has at most 196608 bytes",
			strings.Repeat("#\n", 8<<20+1):               "x.yaml: a configuration file has at most 16777216 bytes; split it",
		} {
			_, err := reader.Read("x.yaml", []byte(text))
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%.20q…: got %.100v", text, err)
			}
		}
	})
	t.Run("the fullest partner there can be is written and read", func(t *testing.T) {
		p := partners.Defaults()
		p.ID, p.Organisation, p.Name = strings.Repeat("p", 40), strings.Repeat("o", 40), strings.Repeat("日", 200)
		expires, later := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 12, 1, 0, 0, 0, 0, time.UTC)
		p.Types = nil
		for i := range 500 {
			p.Identifiers = append(p.Identifiers, partners.Identifier{Qualifier: "0000", ID: fmt.Sprintf("%035d", i)})
			p.SpeaksFor = append(p.SpeaksFor, fmt.Sprintf("%040d", i))
			p.Types = append(p.Types, fmt.Sprintf("%06d", i))
		}
		for i := range 20 {
			p.HTTP.Tokens = append(p.HTTP.Tokens, partners.TokenSpec{Label: strings.Repeat("日", 58) + fmt.Sprintf("%02d", i), SHA256: sha256Hex(fmt.Sprint(i)), Expires: &expires})
		}
		for i := range 8 {
			p.Certificates = append(p.Certificates, partners.CertificateSpec{Label: strings.Repeat("日", 58) + fmt.Sprintf("%02d", i), Certificate: longCertificate(t),
				Purposes: slices.Clone(partners.Purposes), Pin: "certificate", KeyUsage: "enforce", From: &expires, Until: &later})
		}
		long := func(i int) string { return fmt.Sprintf("%0255d", i) }
		p.AS4 = partners.AS4DefaultsOf("peppol")
		p.AS4.From, p.AS4.To = partners.AS4Party{ID: long(1), Type: long(2), Role: long(3)}, partners.AS4Party{ID: long(1), Type: long(2), Role: long(3)}
		p.AS4.Agreement, p.AS4.AgreementType, p.AS4.MPC, p.AS4.URL = long(1), long(2), long(3), "https://"+strings.Repeat("a", 1900)
		p.AS4.Reply = partners.AS4Service{Service: long(1), Type: long(2), Action: long(3)}
		for i := range 20 {
			p.AS4.Services = append(p.AS4.Services, partners.AS4Service{Service: long(i), Type: long(i), Action: long(i)})
		}
		partners.Normalise([]partners.Spec{{Partner: &p}})
		text, err := partners.Write([]partners.Spec{{Partner: &p}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&p, specs(t, "full.yaml", string(text))[0].Partner); diff != "" {
			t.Error(diff)
		}
		for _, more := range []string{"identifiers: [" + strings.Repeat("{id: x}, ", 501), "certificates: [" + strings.Repeat("{}, ", 9), "speaks_for: [" + strings.Repeat("x, ", 501), "http: {tokens: [" + strings.Repeat("{}, ", 21)} {
			end := "]\n"
			if strings.HasPrefix(more, "http") {
				end = "]}\n"
			}
			_, err := reader.Read("more.yaml", []byte("kind: Partner\nid: a\norganisation: n\n"+more+end))
			if err == nil || !strings.Contains(err.Error(), "items, of which there may be at most") || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("%.20s: got %.200v", more, err)
			}
		}
	})
}

func TestWriteQuotes(t *testing.T) {
	for _, name := range []string{"? A", "- A", "A: B", "no", "1e5", "0x1F", "~", "#", "a <b> & \u00fc"} {
		t.Run("a name like "+name+" is read as it was", func(t *testing.T) {
			text, err := partners.Write([]partners.Spec{{Organisation: &partners.OrganisationSpec{ID: "north", Name: name}}})
			if err != nil {
				t.Fatal(err)
			}
			got := specs(t, "", string(text))
			if len(got) != 1 || got[0].Organisation.Name != name {
				t.Fatalf("%s", text)
			}
		})
	}
}

// Whatever a partner may be called, or keep, is the same after it was written
// and read.
func TestWriteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := []partners.Spec{{Organisation: &partners.OrganisationSpec{ID: "north", Name: anyText(t, 200), Identifiers: anyIdentifiers(t)}},
			{Partner: anyPartner(t)}}
		text, err := partners.Write(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := partners.Reader{}.Read("", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for i := range got {
			got[i].Line = 0
		}
		partners.Normalise(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(files, "testdata/varied.yaml") {
		f.Add(readFile(f, path))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := reader.Read("fuzz.yaml", text)
		if err != nil {
			if !partners.IsFault(err) || err.Error() == "" {
				t.Fatalf("no fault: %v", err)
			}
			return
		}
		written, err := partners.Write(read)
		if err != nil {
			t.Fatal(err)
		}
		again, err := partners.Reader{}.Read("fuzz.yaml", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		for i := range again {
			again[i].Line = read[i].Line
		}
		if diff := cmp.Diff(read, again); diff != "" {
			t.Fatalf("%s\n%s", diff, written)
		}
	})
}

// leaves gives every value of a struct that is not a struct itself, by its path.
func leaves(v any) map[string]any {
	all := map[string]any{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
			all[path] = v.Interface()
			return
		}
		for i := range v.NumField() {
			walk(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	walk("", reflect.ValueOf(v))
	return all
}
