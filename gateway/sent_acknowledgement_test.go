package gateway_test

import (
	"strings"
	"testing"

	"github.com/edigw/edigw/partners"
)

func TestAcknowledgementsThatAreSent(t *testing.T) {
	due := `select count(*) from outbox where kind = 'acknowledgement'`
	for by, target := range map[string]string{"webhook": "acknowledgement-webhook", "folder": "acknowledgement-folder"} {
		t.Run("by "+by+" they are written with what they answer, once", func(t *testing.T) {
			r := newRig(t)
			r.policy(func(p *partners.Policy) { p.Acknowledge = by })
			for range 2 {
				receipt, err := r.deliver("acme", "t1", interchange("1", message{number: "R-1"}))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(receipt.Items[0].JSON), "UCI+1+") {
					t.Errorf("it stands in the response too: %s", receipt.Items[0].JSON)
				}
			}
			if n := r.count(due); n != 1 {
				t.Fatalf("%d acknowledgements are due", n)
			}
			var reference, message, content, at string
			if err := r.Pool.QueryRow(t.Context(), `
				select a.reference, a.message_id, o.body->>'content', e.target
				from functional_acknowledgement a join outbox o on o.partner_id = a.partner_id and o.event_id = a.event_id and o.purge_month = a.event_month
					join effect e on e.partner_id = a.partner_id and e.event_id = a.event_id and e.state = 1`).Scan(&reference, &message, &content, &at); err != nil {
				t.Fatal(err)
			}
			if at != target || !strings.HasPrefix(message, "unb:") || !strings.Contains(content, "UCI+1+") || !strings.Contains(content, "UNZ+1+"+reference+"'") {
				t.Errorf("%s %s %s\n%s", at, message, reference, content)
			}
		})
	}
	for _, by := range []string{"response", "none"} {
		t.Run("by "+by+" nothing is written for them", func(t *testing.T) {
			r := newRig(t)
			r.policy(func(p *partners.Policy) { p.Acknowledge = by })
			if _, err := r.deliver("acme", "t1", interchange("1", message{number: "R-1"})); err != nil {
				t.Fatal(err)
			}
			if n := r.count(due) + r.count(`select count(*) from functional_acknowledgement`) + r.count(`select count(*) from effect`); n != 0 {
				t.Errorf("%d rows", n)
			}
		})
	}
	t.Run("of deferred work they go when it has ended", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acknowledge = "folder" })
		r.deferring()
		if _, err := r.deliver("acme", "t1", interchange("1", message{number: "R-1"})); err != nil {
			t.Fatal(err)
		}
		if n := r.count(due); n != 0 {
			t.Errorf("%d are due before", n)
		}
		r.work()
		if n := r.count(due); n != 1 {
			t.Errorf("%d are due after it", n)
		}
	})
	t.Run("what is refused is told so", func(t *testing.T) {
		r := newRig(t)
		r.policy(func(p *partners.Policy) { p.Acknowledge = "webhook" })
		if _, err := r.deliver("acme", "t1", interchange("1", message{number: "R-1", bad: "count"})); err != nil {
			t.Fatal(err)
		}
		if n := r.count(due + ` and body->>'content' like '%UCI+1+%+4''%'`); n != 1 {
			t.Errorf("%d negative acknowledgements", n)
		}
	})
}

func TestARepeatBringsAnAcknowledgementThatDidNotArrive(t *testing.T) {
	states := `select count(*) from effect where state = $1`
	for name, c := range map[string]struct {
		left int // state of the effect
		want int
	}{
		"given up, it goes out again":            {4, 1},
		"not known to have arrived, it does too": {5, 1},
		"arrived, it does not":                   {3, 3},
		"on its way, it stays so":                {2, 2},
	} {
		for _, bad := range []string{"", "count"} {
			t.Run(name+map[string]string{"": "", "count": ", of what was refused"}[bad], func(t *testing.T) {
				r := newRig(t)
				r.policy(func(p *partners.Policy) { p.Acknowledge = "webhook" })
				deliver := func() {
					t.Helper()
					if _, err := r.deliver("acme", "t1", interchange("1", message{number: "R-1", bad: bad})); err != nil {
						t.Fatal(err)
					}
				}
				deliver()
				content := `select count(distinct body->>'content') from outbox where kind = 'acknowledgement'`
				r.exec(`update effect set state = $1, attempts = 7, failure = 'timeout', lease_id = null`, c.left)
				deliver()
				r.Later.Flush(t.Context())
				if n := r.count(states, c.want); n != 1 {
					t.Errorf("%d effects in state %d", n, c.want)
				}
				if n := r.count(content) + r.count(`select count(*) from effect`); n != 2 {
					t.Errorf("there is another acknowledgement, or another effect of it")
				}
			})
		}
	}
}
