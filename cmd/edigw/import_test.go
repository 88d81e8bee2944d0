package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// importFile writes a file of rows under a header, and gives its path.
func importFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "former.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const envelopes = "partner,kind,syntax,sender,sender_qualifier,recipient,recipient_qualifier,reference,payload_sha256,received_at"

// envelope is a row of an interchange of acme.
func envelope(reference, sha string) string {
	return "acme,interchange,edifact,9520001000010,14,9520002000019,14," + reference + "," + sha + ","
}

// renumbered is the invoice of testdata with another control reference, number
// and amount.
func renumbered(t *testing.T, reference, number, amount string) string {
	t.Helper()
	return strings.NewReplacer("REF000709", reference, "RG-44", number, "MOA+203:100.00", "MOA+203:"+amount, "MOA+79:100.00", "MOA+79:"+amount).Replace(read(t, "testdata/invoice.edi"))
}

// sendAs ingests a text and gives the verdict, and the row of the outcome table
// that it was.
func (g *gatewayUnderTest) sendAs(text string) (verdict, row string) {
	g.t.Helper()
	var answer struct {
		Files []struct{ Verdict string }
	}
	type page struct {
		Items []struct {
			ID   string `json:"delivery_id"`
			Rule string
		}
	}
	var before, after page
	g.must(&before, "messages", "list", "--limit", "1", "-o", "json")
	path := filepath.Join(g.t.TempDir(), "sent.edi")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	decode(g.t, g.do("ingest", path, "--partner", "acme", "-o", "json").out, &answer)
	waitFor(g.t, func() bool {
		g.must(&after, "messages", "list", "--limit", "1", "-o", "json")
		return len(after.Items) > len(before.Items) || after.Items[0].ID != before.Items[0].ID
	})
	return answer.Files[0].Verdict, after.Items[0].Rule
}

func TestImportKeys(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	is := func(t *testing.T, text, verdict, row string) {
		t.Helper()
		if v, r := g.sendAs(text); v != verdict || r != row {
			t.Errorf("%s by row %s, want %s by %s", v, r, verdict, row)
		}
	}
	imported := func(t *testing.T, code int, args ...string) (im importState, stderr string) {
		t.Helper()
		r := g.do(append([]string{"import", "keys", "-o", "json"}, args...)...)
		if r.code != code {
			t.Fatalf("exit %d, want %d\n%s%s", r.code, code, r.out, r.stderr)
		}
		if code == exitOK || code == exitPartly {
			decode(t, r.out, &im)
		}
		return im, r.stderr
	}
	counts := func(t *testing.T, im importState, added, known, differs, faulty, expired int64) {
		t.Helper()
		c := im.ImportCounts
		if c.Added != added || c.Known != known || c.Differs != differs || c.Faulty != faulty || c.Expired != expired {
			t.Errorf("%+v, want %d added, %d known, %d differ, %d faulty, %d expired", c, added, known, differs, faulty, expired)
		}
	}

	t.Run("a dry run says what would be added, and adds nothing", func(t *testing.T) {
		path := importFile(t, envelopes, envelope("FORMER1", ""), envelope("FORMER2", ""))
		im, _ := imported(t, exitOK, path, "--dry-run")
		counts(t, im, 2, 0, 0, 0, 0)
		im, _ = imported(t, exitOK, path, "--dry-run")
		counts(t, im, 2, 0, 0, 0, 0)
		if r := g.do("messages", "show", "acme", "unb:9520001000010:14:9520002000019:14:FORMER1"); r.code != exitFailed {
			t.Errorf("exit %d: %s", r.code, r.out)
		}
	})
	t.Run("an imported reference is a duplicate, once its digest is known other content is drift", func(t *testing.T) {
		im, _ := imported(t, exitOK, importFile(t, envelopes, envelope("FORMER1", "")))
		counts(t, im, 1, 0, 0, 0, 0)
		first := renumbered(t, "FORMER1", "F-1", "100.00")
		is(t, first, "duplicate", "I8b")
		is(t, first, "duplicate", "I2")
		is(t, renumbered(t, "FORMER1", "F-1", "200.00"), "drift", "I13")
		if r := g.must(nil, "documents", "list", "--number", "F-1"); strings.Contains(r.out, "F-1") {
			t.Errorf("what the former gateway has posted was posted again:\n%s", r.out)
		}
	})
	t.Run("with the payload's digest other content is drift at once", func(t *testing.T) {
		text := renumbered(t, "FORMER3", "F-3", "100.00")
		imported(t, exitOK, importFile(t, envelopes, envelope("FORMER3", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))))
		is(t, renumbered(t, "FORMER3", "F-3", "200.00"), "drift", "I13")
		is(t, text, "duplicate", "I2")
	})
	t.Run("an imported document number is absorbed under any reference", func(t *testing.T) {
		imported(t, exitOK, importFile(t, "partner;kind;class;type;number;date;issuer;issuer_scheme",
			"acme;document;invoice;380;F-10;2026-11-27;;", "acme;document;invoice;380;F-11;2026;9520001000010;0088", "acme;document;invoice;380;F-12;2025;;"))
		for _, c := range []struct{ number, want string }{{"F-10", ""}, {"F-11", ""}, {"F-12", "F-12"}} {
			is(t, renumbered(t, "NEW"+c.number, c.number, "100.00"), "first", "I1b")
			if r := g.must(nil, "documents", "list", "--number", c.number); strings.Contains(r.out, c.number) != (c.want != "") {
				t.Errorf("%s:\n%s", c.number, r.out)
			}
		}
		is(t, renumbered(t, "NEWER", "F-10", "300.00"), "first", "I1b")
		if r := g.must(nil, "documents", "list", "--number", "F-10"); strings.Contains(r.out, "F-10") {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("keys as edigw writes them, of interchanges and transports, with a byte order mark and CRLF", func(t *testing.T) {
		path := importFile(t, "\ufeffKind\tPartner\tmessage_id\ttransport\tto\tid\r", "interchange\tacme\tunb:9520001000010:14:9520002000019:14:FORMER4\t\t\t\r",
			"transport\tacme\tas2:NORTH:abc@example.test\t\t\t\r", "transport\tacme\t\thttp\t\tidem-1\r", "transport\tacme\t\tas2\tNORTH\t<abc@example.test>\r")
		im, _ := imported(t, exitOK, path)
		counts(t, im, 3, 1, 0, 0, 0)
		is(t, renumbered(t, "FORMER4", "F-4", "100.00"), "duplicate", "I8b")
		if r := g.must(nil, "messages", "show", "acme", "http:north:idem-1"); !strings.Contains(r.out, "transport key") || !strings.Contains(r.out, "imported") {
			t.Errorf("%s", r.out)
		}
		path = filepath.Join(t.TempDir(), "idem.edi")
		if err := os.WriteFile(path, []byte(renumbered(t, "FORMER7", "F-7", "100.00")), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := g.must(nil, "ingest", path, "--partner", "acme", "--message-id", "idem-1"); !strings.Contains(r.out, "duplicate") {
			t.Errorf("%s", r.out)
		}
		if r := g.must(nil, "documents", "list", "--number", "F-7"); strings.Contains(r.out, "F-7") {
			t.Errorf("what came under an imported transport id was posted again:\n%s", r.out)
		}
	})
	t.Run("what is there stays: known, or different", func(t *testing.T) {
		sum := fmt.Sprintf("%064x", 1)
		im, _ := imported(t, exitOK, importFile(t, envelopes, envelope("FORMER1", ""), envelope("FORMER1", sum), envelope("TWICE", sum), envelope("TWICE", fmt.Sprintf("%064x", 2))))
		counts(t, im, 1, 1, 2, 0, 0)
		is(t, renumbered(t, "FORMER1", "F-1", "100.00"), "duplicate", "I2")
	})
	t.Run("what is older than the window is not needed", func(t *testing.T) {
		old, recent := time.Now().AddDate(0, 0, -500).Format(time.DateOnly), time.Now().AddDate(0, 0, -100).Format(time.DateOnly)
		im, _ := imported(t, exitOK, importFile(t, envelopes, envelope("OLD", "")+old, envelope("RECENT", "")+recent))
		counts(t, im, 1, 0, 0, 0, 1)
		var m struct {
			FirstAt time.Time `json:"first_at"`
			PurgeOn string    `json:"purge_on"`
		}
		g.must(&m, "messages", "show", "acme", "unb:9520001000010:14:9520002000019:14:RECENT", "-o", "json")
		if m.FirstAt.Format(time.DateOnly) != recent || m.PurgeOn != time.Now().UTC().AddDate(0, 0, 300).Format(time.DateOnly) {
			t.Errorf("%+v", m)
		}
	})
	t.Run("faulty rows are told and not taken; mended settings take them again", func(t *testing.T) {
		path := importFile(t, envelopes, envelope("FORMER5", ""), strings.Replace(envelope("FORMER6", ""), "acme", "talquist", 1), "a,b,c,d,e,f,g,h,i,j,k,l")
		im, stderr := imported(t, exitPartly, path)
		counts(t, im, 1, 0, 0, 2, 0)
		for _, want := range []string{path + `:3: partner: there is no partner "talquist"; connect it with`, path + ":4: has 12 values, the header 10 columns"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q is missing in\n%s", want, stderr)
			}
		}
		im, stderr = imported(t, exitPartly, path)
		if counts(t, im, 1, 0, 0, 2, 0); !strings.Contains(stderr, "--again reads it once more") {
			t.Errorf("%s", stderr)
		}
		yaml := filepath.Join(t.TempDir(), "talquist.yaml")
		if err := os.WriteFile(yaml, []byte("kind: Partner\nid: talquist\norganisation: north\nidentifiers: [{qualifier: \"14\", id: \"9520001000027\"}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		g.must(nil, "partners", "apply", "-f", yaml)
		im, stderr = imported(t, exitPartly, path, "--again")
		if counts(t, im, 0, 1, 0, 2, 0); !strings.Contains(stderr, "sender: 9520001000010:14 is none of the identifiers of talquist") {
			t.Errorf("%s", stderr)
		}
	})
	t.Run("a header is held against what there is", func(t *testing.T) {
		for header, want := range map[string]string{
			"partner,kind,mesage_id":       `:1: column 3: there is no column "mesage_id"; did you mean message_id?`,
			"partner,kind,invoice_total":   `:1: column 3: there is no column "invoice_total"; there are: partner, kind, message_id,`,
			"partner,kind,number,number":   ":1: column 4: number stands twice",
			"partner,message_id":           ":1: the column kind is missing",
			"partner":                      ":1: the first line names the columns, separated by comma, semicolon or tab",
			"partner,kind,id\nacme,\"a\"b": "is quoted, and its quotes doubled",
		} {
			if _, stderr := imported(t, exitFailed, importFile(t, header)); !strings.Contains(stderr, want) {
				t.Errorf("%q is missing in %s", want, stderr)
			}
		}
	})
	t.Run("imports are listed, and stand in the audit log", func(t *testing.T) {
		r := g.must(nil, "import", "list")
		if !strings.Contains(r.out, "former.csv  local  finished, dry run") || !strings.Contains(r.out, "STARTED") {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("nobody but an administrator imports", func(t *testing.T) {
		g.must(nil, "users", "add", "anna", "--role", "approver")
		token := strings.TrimSpace(g.must(nil, "tokens", "create", "--role", "approver", "--person", "anna").out)
		r := g.do("import", "keys", importFile(t, envelopes, envelope("X", "")), "--api", g.at.URL, "--token", token)
		if r.code != exitFailed || !strings.Contains(r.stderr, "needs the role admin") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func TestImportWithoutAGateway(t *testing.T) {
	file := importFile(t, "partner;kind;message_id", "acme;interchange;x")
	r := edigw(t, "", nil, "import", "keys", file, "--api", "http://127.0.0.1:1", "--token", "x")
	if r.code != exitFailed || !strings.Contains(r.stderr, "is the gateway running there?") || strings.Contains(r.stderr, "trying again") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}
