package main

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/documents"
)

func TestDocumentsAreSearchedAndExported(t *testing.T) {
	g := serveGateway(t)
	g.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	g.must(nil, "ingest", "testdata/invoice.edi", "--partner", "acme")
	var list struct {
		Items []struct {
			ID     string `json:"document_id"`
			Number string
		}
	}
	g.must(&list, "documents", "list", "-o", "json")
	if len(list.Items) != 1 {
		t.Fatalf("%+v", list)
	}
	number := list.Items[0].Number
	dir := t.TempDir()
	t.Run("a search that would read years is refused, and says what to add", func(t *testing.T) {
		r := g.do("documents", "list", "--currency", "EUR")
		if r.code != exitFailed || !strings.Contains(r.stderr, "add received_from") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("days are taken for times of receipt, the last one whole", func(t *testing.T) {
		today := g.one(t, `select (received_at at time zone 'utc')::date::text from document`)
		for args, want := range map[string]int{"--received-from " + today: 1, "--received-to " + today: 1, "--received-from " + today + " --received-to " + today + " --class invoice": 1, "--received-to 2020-01-01": 0} {
			g.must(&list, append([]string{"documents", "list", "-o", "json"}, strings.Fields(args)...)...)
			if len(list.Items) != want {
				t.Errorf("%s: %d documents, want %d", args, len(list.Items), want)
			}
		}
		if r := g.do("documents", "list", "--received-from", "yesterday"); r.code != exitUsage || !strings.Contains(r.stderr, "--received-from must be a day like 2026-11-28") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("JSON Lines, to standard output and into a file", func(t *testing.T) {
		r := g.must(nil, "documents", "export", "--partner", "acme")
		var d documents.Stored
		if err := json.Unmarshal([]byte(r.out), &d); err != nil || d.Number != number || len(d.Lines) == 0 || r.stderr != "1 document\n" {
			t.Errorf("%v %+v %q", err, d, r.stderr)
		}
		file := filepath.Join(dir, "all.jsonl")
		if err := os.WriteFile(file, []byte("of yesterday"), 0o600); err != nil {
			t.Fatal(err)
		}
		if told := g.must(nil, "documents", "export", "-o", file); told.out != "" || told.stderr != file+": 1 document\n" {
			t.Errorf("%q %q", told.out, told.stderr)
		}
		if diff := cmp.Diff(r.out, read(t, file)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("CSV by line", func(t *testing.T) {
		file := filepath.Join(dir, "lines.csv")
		g.must(nil, "documents", "export", "--number", number, "--format", "csv", "--rows", "lines", "-o", file)
		rows, err := csv.NewReader(strings.NewReader(read(t, file))).ReadAll()
		if err != nil || len(rows) < 2 || rows[0][4] != "number" || rows[1][4] != number {
			t.Errorf("%v %v", err, rows)
		}
	})
	t.Run("UBL, and what cannot be UBL ends with 5", func(t *testing.T) {
		file := filepath.Join(dir, "invoices.zip")
		if r := g.must(nil, "documents", "export", "--format", "ubl", "-o", file); r.stderr != file+": 1 document\n" {
			t.Errorf("%q", r.stderr)
		}
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		if z.File[0].Name != "acme/"+number+"."+g.one(t, `select document_id::text from document`)+".xml" {
			t.Errorf("%s", z.File[0].Name)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		g.one(t, `update document set currency = null returning 'done'`)
		if r := g.do("documents", "export", "--format", "ubl", "-o", file); r.code != exitPartly || !strings.Contains(r.stderr, "0 documents; 1 more cannot be UBL, manifest.jsonl in it says why") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("the schema is that of the gateway", func(t *testing.T) {
		status, body := g.get("/api/v1/schemas/document.json")
		if r := g.must(nil, "documents", "schema"); status != http.StatusOK || r.out != body {
			t.Errorf("%d, %d and %d bytes", status, len(body), len(r.out))
		}
	})
	t.Run("nothing but the files is left in the folder", func(t *testing.T) {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 3 {
			t.Errorf("%v %v", files, err)
		}
	})
}

// one asks the gateway's database for one value.
func (g *gatewayUnderTest) one(t *testing.T, sql string) (value string) {
	t.Helper()
	if err := connected(t, g.url).QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func TestAnExportThatBreaksOffLeavesTheFileAsItWas(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		answer func(w http.ResponseWriter)
		told   string
	}{
		"a connection that is cut": {"jsonl", func(w http.ResponseWriter) {
			fmt.Fprint(w, "{}\n")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}, "the export broke off, and "},
		"a proxy that ends it in a line":    {"csv", func(w http.ResponseWriter) { fmt.Fprint(w, "a,b\r\nc,") }, "its last line has no end"},
		"a proxy that ends it in a zip":     {"ubl", func(w http.ResponseWriter) { fmt.Fprint(w, "PK\x03\x04") }, "not a valid zip file"},
		"a refusal":                         {"csv", func(w http.ResponseWriter) { w.WriteHeader(422); fmt.Fprint(w, `{"title":"No","status":422}`) }, "edigw: No"},
		"fewer lines than the gateway sent": {"jsonl", counted("{}\n", "2"), "the gateway sent 2 documents, but 1 line came"},
		"a count that is none":              {"csv", counted("a\r\n", "many"), `the gateway says that it sent "many" documents`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) }))
			defer server.Close()
			file := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(file, []byte("of yesterday"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, "documents", "export", "--format", c.format, "-o", file)
			if r.code != exitFailed || !strings.Contains(r.stderr, c.told) {
				t.Errorf("exit %d: %s", r.code, r.stderr)
			}
			if got := read(t, file); got != "of yesterday" {
				t.Errorf("the file holds %q", got)
			}
			if files, err := os.ReadDir(filepath.Dir(file)); err != nil || len(files) != 1 {
				t.Errorf("%v %v", files, err)
			}
		})
	}
	t.Run("to standard output it is told that it is not all", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "{}\n")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}))
		defer server.Close()
		r := edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, "documents", "export")
		if r.code != exitFailed || r.out != "{}\n" || !strings.Contains(r.stderr, "what was written is not all of it") {
			t.Errorf("exit %d: %q %s", r.code, r.out, r.stderr)
		}
	})
}

func TestAZipThatIsFullIsToldWithWhatGoesOn(t *testing.T) {
	const next = "01a22d9b-c3ad-7b87-a21a-781afc700000"
	asked, kept := make(chan string, 1), false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("after")
		if !kept {
			w.Header().Set("Trailer", "Edigw-Documents, Edigw-Left-Out, Edigw-Next")
		}
		z := zip.NewWriter(w)
		f, err := z.Create("export.json")
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprintf(f, `{"exported_by": "books", "files": 2, "left_out": 0, "next": %q}`, next)
		if err := z.Close(); err != nil {
			t.Error(err)
		}
		if !kept {
			w.Header().Set("Edigw-Documents", "2")
			w.Header().Set("Edigw-Left-Out", "0")
			w.Header().Set("Edigw-Next", next)
		}
	}))
	defer server.Close()
	export := func(t *testing.T, file string) ran {
		t.Helper()
		r := edigw(t, "", []string{"EDIGW_API=" + server.URL, "EDIGW_TOKEN=t"}, "documents", "export", "--format", "ubl", "-o", file, "--after", "01a22d9b-bcfa-7a4a-bcc9-b728cb800000")
		if got := <-asked; got != "01a22d9b-bcfa-7a4a-bcc9-b728cb800000" {
			t.Errorf("asked behind %q", got)
		}
		return r
	}
	file := filepath.Join(t.TempDir(), "x.zip")
	goesOn := file + ": 2 documents\n" + file + ": it takes no more: the rest comes with the same command and --after " + next + "\n"
	t.Run("by the gateway", func(t *testing.T) {
		if r := export(t, file); r.code != exitPartly || r.stderr != goesOn {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	kept = true
	t.Run("by the zip, where a proxy keeps back what the gateway says", func(t *testing.T) {
		if r := export(t, file); r.code != exitPartly || r.stderr != goesOn {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
	t.Run("in a stream it is not known then, and not taken for all", func(t *testing.T) {
		if r := export(t, "-"); r.code != exitPartly || r.stderr != "how many documents that is was not told; export.json in it says so, and whether there are more\n" {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	})
}

// counted answers with a text, and says behind it how many documents that was.
func counted(text, count string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Trailer", "Edigw-Documents, Edigw-Left-Out")
		fmt.Fprint(w, text)
		w.Header().Set("Edigw-Documents", count)
		w.Header().Set("Edigw-Left-Out", "0")
	}
}

func TestExportProgress(t *testing.T) {
	var stderr bytes.Buffer
	p := &exportProgress{a: &app{stderr: &stderr}, lines: true}
	for _, text := range []string{"{}\n{}", "\n"} {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	if p.count != 2 || p.bytes != 6 || !strings.HasPrefix(stderr.String(), "1 document, 0.0 MB, ") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%d %d %q", p.count, p.bytes, stderr.String())
	}
}
