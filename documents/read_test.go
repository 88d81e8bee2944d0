package documents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/edigw/edigw/documents/roles"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/edifact"
	"github.com/edigw/edigw/x12"
)

// mapped is what a handler made of one message.
type mapped struct {
	doc  *Document
	errs []*edi.Error
}

// plainMapper maps by what messages say of themselves.
type plainMapper func(*edi.Interchange, int, *edi.Body) (*Document, []*edi.Error)

func plainly(m func(*edi.Interchange, int, *edi.Body, *Reading) (*Document, []*edi.Error)) plainMapper {
	return by(roles.Automatic, m)
}

// by maps by a profile.
func by(profile string, m func(*edi.Interchange, int, *edi.Body, *Reading) (*Document, []*edi.Error)) plainMapper {
	set, ok := roles.New(profile, roles.Settings{})
	if !ok {
		panic("there is no profile " + profile)
	}
	return func(ic *edi.Interchange, i int, b *edi.Body) (*Document, []*edi.Error) {
		return m(ic, i, b, &Reading{Roles: set})
	}
}

// syntax is what reads text.
type syntax struct {
	split func(*edi.Payload, int64) (*edi.Interchange, error)
	scan  func(*edi.Payload, *edi.Interchange, func(int, *edi.Body) error) error
}

func syntaxOf(text []byte) syntax {
	if x12.Leads(text) {
		return syntax{x12.Reader{}.Split, x12.Reader{}.Scan}
	}
	return syntax{edifact.Reader{}.Split, edifact.Reader{}.Scan}
}

// read maps every message of EDIFACT or X12 text. Faults of the syntax layer are not the
// subject here, except that a refused message is not mapped.
func read(t testing.TB, text []byte) (*edi.Interchange, []mapped) {
	t.Helper()
	return readBy(t, text, nil)
}

// readBy maps them as a partner's.
func readBy(t testing.TB, text []byte, by *Reading) (*edi.Interchange, []mapped) {
	t.Helper()
	p := edi.Bytes(text)
	syntax := syntaxOf(text)
	ic, err := syntax.split(p, 0)
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	var all []mapped
	err = syntax.scan(p, ic, func(i int, b *edi.Body) error {
		if edi.Worst(ic.MessageErrors[i]) >= edi.SeverityError {
			return errors.New(ic.MessageErrors[i][0].Error())
		}
		for _, h := range Handlers() {
			if h.Type == ic.Messages[i].Type.Type {
				d, errs := h.Map(ic, i, b, by)
				all = append(all, mapped{d, errs})
				return nil
			}
		}
		d, errs := Generic(ic, i, b)
		all = append(all, mapped{d, errs})
		return nil
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return ic, all
}

// single maps the only message of text, which must not be refused.
func single(t testing.TB, text []byte) (*Document, []*edi.Error) {
	t.Helper()
	_, all := read(t, text)
	if len(all) != 1 {
		t.Fatalf("got %d messages, want 1", len(all))
	}
	if all[0].doc == nil {
		t.Fatalf("refused: %v", all[0].errs)
	}
	return all[0].doc, all[0].errs
}

// codes gives the findings in short, as severity and code.
func codes(errs []*edi.Error) []string {
	list := []string{}
	for _, e := range errs {
		list = append(list, e.Severity.String()+" "+e.Code)
	}
	return list
}

// testdata reads a file of our own.
func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shared reads a file beside the repository.
func shared(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "shared", filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("shared absent")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
