//go:build linux

package crash_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edigw/edigw/embeddedpg"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/pgtest"
)

// site is a database with partners. Every run takes a partner of its own, so
// that what it left is told apart from everything else.
type site struct {
	server   *embeddedpg.Server
	settings map[string]string // of the server, beside those of production
	dir      string
	url      string
	pool     *pgxpool.Pool
	taken    atomic.Int64
	have     int64
}

// newSite starts a PostgreSQL with every setting of production and connects
// that many partners.
func newSite(t *testing.T, count int) *site {
	t.Helper()
	server, dir := pgtest.Server(t)
	s := &site{server: server, dir: dir, url: server.URL(), pool: pgtest.Pool(t, server.URL())}
	t.Cleanup(func() { pgtest.Stop(t, s.server) }) // the one that was started last
	s.connect(t, count)
	return s
}

// partnersYAML declares an organisation and that many partners.
func partnersYAML(count int) string {
	var text strings.Builder
	text.WriteString("kind: Organisation\nid: north\n")
	for n := range count {
		p := partner{n: n + 1}
		digest := sha256.Sum256([]byte(p.token()))
		fmt.Fprintf(&text, "---\nkind: Partner\nid: %s\norganisation: north\nidentifiers: [{qualifier: \"14\", id: \"%s\"}]\n"+
			"types: [INVOIC]\nhttp:\n  tokens: [{label: erp, sha256: %s}]\n", p.id(), p.address(), hex.EncodeToString(digest[:]))
	}
	return text.String()
}

func (s *site) connect(t *testing.T, count int) {
	t.Helper()
	specs, err := partners.Reader{}.Read("", []byte(partnersYAML(count)))
	if err != nil {
		t.Fatal(err)
	}
	store := partners.Store{Pool: s.pool}
	err = pgx.BeginFunc(context.Background(), s.pool, func(tx pgx.Tx) error {
		_, err := store.Apply(context.Background(), tx, specs)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.have = int64(count)
}

// partner gives one that nobody used.
func (s *site) partner(t *testing.T) partner {
	t.Helper()
	n := s.taken.Add(1)
	if n > s.have {
		t.Fatalf("the test needs more than %d partners", s.have)
	}
	return partner{n: int(n)}
}

// partner is one who sends.
type partner struct{ n int }

func (p partner) id() string      { return fmt.Sprintf("p%04d", p.n) }
func (p partner) token() string   { return "edigw_p_" + p.id() }
func (p partner) address() string { return fmt.Sprintf("95200010%05d", p.n) }

// interchange writes an INVOIC interchange with invoices of one line of those
// numbers.
func (p partner) interchange(reference string, numbers ...string) string {
	return p.amounts(reference, "100.00", numbers...)
}

// amounts is interchange with another amount in each invoice.
func (p partner) amounts(reference, amount string, numbers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "UNB+UNOC:3+%s:14+9520002000019:14+261129:1015+%s'", p.address(), reference)
	for i, number := range numbers {
		fmt.Fprintf(&b, "UNH+%d+INVOIC:D:96A:UN:EAN008'BGM+380+%s+9'DTM+137:20261127:102'NAD+SU+%[3]s::9'NAD+BY+9520002000019::9'CUX+2:EUR:4'"+
			"LIN+1++9520000001018:EN'QTY+47:10'MOA+203:%[4]s'PRI+AAA:10.00'UNS+S'MOA+77:%[4]s'MOA+79:%[4]s'CNT+2:1'UNT+15+%[1]d'",
			i+1, number, p.address(), amount)
	}
	fmt.Fprintf(&b, "UNZ+%d+%s'", len(numbers), reference)
	return b.String()
}

// numbers gives n document numbers.
func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("RG-%d", i+1)
	}
	return list
}

// wrong is an interchange whose last message has a wrong segment count.
func (p partner) wrong(reference string, invoices int) string {
	good := p.interchange(reference, numbers(invoices)...)
	end := strings.LastIndex(good, "UNT+15+")
	return good[:end] + "UNT+99+" + good[end+len("UNT+15+"):]
}

// file is an interchange in testdata, as if this partner had sent it.
func (p partner) file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "9520001000010", p.address())
}
