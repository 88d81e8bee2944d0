package ubl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pairs = 6

// faultsOfSenders are the rules of EN 16931 that an INVOIC of the official examples
// breaks and its twin in UBL does not, since the two differ there: what the INVOIC says
// is written as it is.
var faultsOfSenders = map[string]string{
	"2 BR-CO-09": "the VAT identifiers of seller and buyer begin with no country: 123456789MVA",
	"5 BR-61":    "the INVOIC says a SEPA credit transfer (58) and names no account; the twin says a direct debit (49)",
	"6 BR-CO-09": "the VAT identifier of the seller begins with no country: 123456789MVA",
}

// TestValid holds what we write against a validator of others: phive, with the XML
// Schema of UBL 2.1 and the rules of EN 16931. One process looks at all files.
func TestValid(t *testing.T) {
	dir := t.TempDir()
	var files []string
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
		return path
	}
	of := map[string]string{}
	for _, name := range ours(t) {
		text, _ := written(t, message(t, name+".edi"))
		of[name] = file(name+".xml", []byte(text))
	}
	broken := file("broken.xml", []byte(strings.ReplaceAll(read(t, of["invoice"]), "cbc:IssueDate>", "cbc:DateOfIssue>")))
	_, err := os.Stat(filepath.FromSlash("../../../shared"))
	present := err == nil
	if present {
		for n := 1; n <= pairs; n++ {
			text, _ := written(t, mapped(t, pair(t, n)))
			of[fmt.Sprint("ours ", n)] = file(fmt.Sprintf("ours%d.xml", n), []byte(text))
			of[fmt.Sprint("twin ", n)] = file(fmt.Sprintf("twin%d.xml", n), shared(t, fmt.Sprintf("samples/edi/en16931/ubl-tc434-example%d.xml", n)))
		}
	}
	files = append(files, "--schema")
	for name, text := range mutilated(t) {
		of[name] = file(fmt.Sprint(len(files), ".xml"), text)
	}
	if present {
		samples(t, func(name string, content []byte) { of[name] = file(fmt.Sprint(len(files), ".xml"), content) })
	}
	faults := validate(t, files)

	t.Run("every sample of others keeps the schema, or there is no file", func(t *testing.T) {
		written := 0
		samples(t, func(name string, _ []byte) {
			written++
			for _, f := range faults[of[name]] {
				t.Errorf("%s: %s", name, f.Text)
			}
		})
		if written < 3 {
			t.Errorf("of the samples %d became a file", written)
		}
	})
	t.Run("what lacks a part of any kind keeps the schema, or there is no file", func(t *testing.T) {
		for name := range mutilated(t) {
			for _, f := range faults[of[name]] {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	})
	for _, name := range ours(t) {
		t.Run(name+" breaks no rule of the schema and of EN 16931", func(t *testing.T) {
			if diff := cmp.Diff([]fault(nil), faults[of[name]]); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the validator finds what is wrong", func(t *testing.T) {
		if len(faults[broken]) == 0 {
			t.Error("a file with an element that UBL has not is valid")
		}
	})
	for n := 1; n <= pairs; n++ {
		t.Run(fmt.Sprintf("EN 16931 example %d breaks no rule that its twin keeps", n), func(t *testing.T) {
			if !present {
				t.Skip("shared absent")
			}
			twin := map[string]bool{}
			for _, f := range faults[of[fmt.Sprint("twin ", n)]] {
				twin[f.Rule] = true
			}
			met := map[string]bool{}
			for _, f := range faults[of[fmt.Sprint("ours ", n)]] {
				key := fmt.Sprint(n, " ", f.Rule)
				met[key] = true
				if !twin[f.Rule] && faultsOfSenders[key] == "" {
					t.Errorf("%+v", f)
				}
			}
			for key := range faultsOfSenders {
				if strings.HasPrefix(key, fmt.Sprint(n, " ")) && !met[key] {
					t.Errorf("%s is broken no more: take it from the list", key)
				}
			}
		})
	}
}

// samples writes every invoice beside the repository that has a currency, or is given one.
func samples(t *testing.T, each func(name string, content []byte)) {
	t.Helper()
	shared(t, "samples/edi/INDEX.md") // absent: nothing to do
	files, err := filepath.Glob(filepath.FromSlash("../../../shared/samples/edi/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		for i, d := range all([]byte(read(t, path))) {
			if d.Currency == "" {
				d.Currency = "USD" // most 810s name none
			}
			var b bytes.Buffer
			_, err := Write(&b, d)
			var unfit *Unfit
			name := fmt.Sprintf("%s, message %d", filepath.Base(path), i+1)
			switch {
			case errors.As(err, &unfit):
				// As the despatch advices among them.
			case err != nil:
				t.Errorf("%s: %v", name, err)
			default:
				each(name, b.Bytes())
			}
		}
	}
}

// pair reads INVOIC n of the official examples, without the file that goes with it.
func pair(t *testing.T, n int) []byte {
	t.Helper()
	text := shared(t, fmt.Sprintf("samples/edi/en16931/EDIFACT_EXAMPLE%d.TXT", n))
	if at := bytes.Index(text, []byte("UNO+")); at >= 0 {
		text = append(text[:at:at], text[bytes.LastIndex(text, []byte("UNZ+")):]...)
	}
	return text
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fault is an error that the validator finds; warnings are none.
type fault struct{ Rule, Place, Text string }

// validate gives the faults of each file.
func validate(t *testing.T, files []string) map[string][]fault {
	t.Helper()
	jars := filepath.FromSlash("../../bin/phive/jars")
	if _, err := os.Stat(jars); err != nil {
		t.Fatal("phive, which ours is held against, is not here: run deploy/phive")
	}
	program := exec.CommandContext(t.Context(), "java", append([]string{"-Xmx512m", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", filepath.Join(jars, "*"), filepath.Join("testdata", "Validate.java")}, files...)...)
	var stderr bytes.Buffer
	program.Stderr = &stderr
	out, err := program.Output()
	if err != nil {
		t.Fatalf("phive: %v\n%s", err, stderr.String())
	}
	faults, through := map[string][]fault{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		switch {
		case len(part) == 2 && part[1] == "read":
			through[part[0]] = true
		case len(part) == 5 && slices.Contains([]string{"error", "fatal_error"}, part[1]):
			faults[part[0]] = append(faults[part[0]], fault{part[2], part[3], part[4]})
		case len(part) == 5:
		default:
			t.Fatalf("phive says %q", line)
		}
	}
	for _, path := range files {
		if !through[path] && path != "--schema" {
			t.Fatalf("phive has not read %s: %s", path, stderr.String())
		}
	}
	return faults
}
