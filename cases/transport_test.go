package cases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

// transport is a way on which talquist brings interchanges over a real socket, and the
// words for what he is told on it.
type transport struct {
	name string
	yaml func() string // talquist as one who uses it

	transportKey func(id string) string
	// bring sends a payload as the message of an id: the same bytes each time.
	bring func(s *sending, id, payload string) reply

	positive, negative string
	again              string // what is no acknowledgement

	// plain: an answer that is made afresh has the bytes of one that says the same.
	plain bool
}

// reply is what was told, in words and as it came.
type reply struct {
	told       string
	body       []byte
	retryAfter string
}

var transports = []*transport{
	{
		name: "AS2", yaml: func() string { return unsignedAS2 },
		transportKey: func(id string) string { return "as2:NORDHAFEN-AS2:" + id + "@talquist.example" },
		bring: func(s *sending, id, payload string) reply {
			s.t.Helper()
			m := s.post(id, asksMDN, payload)
			return reply{m.String(), m.body, m.header.Get("Retry-After")}
		},
		positive: positive, negative: negative, again: told503, plain: true,
	},
	{
		name: "AS4", yaml: signedAS4,
		transportKey: func(id string) string { return "as4:nordhafen-ap:" + id + "@talquist.example" },
		bring: func(s *sending, id, payload string) reply {
			s.t.Helper()
			c := s.composed[id+" "+payload]
			if c == nil {
				c = composeAS4(s.t, id, zipped(payload), talquistAP(), oursAP())
				s.composed[id+" "+payload] = c
			}
			return s.pushed(c)
		},
		positive: "200 signed receipt", negative: "200 signed EBMS:0004", again: "503 signed EBMS:0202, fault Receiver",
	},
}

// sending is talquist on a transport, before a gateway of his own.
type sending struct {
	*rig
	*transport
	composed map[string]*as4.Composed // by id and payload
}

func newSending(t *testing.T, over *transport, settings string) *sending {
	t.Helper()
	return &sending{rig: newRig(t, over.yaml()+settings), transport: over, composed: map[string]*as4.Composed{}}
}

// brings sends a payload as the message of an id; it expects the rows of the outcome
// table that it is judged by, and what is told.
func (s *sending) brings(id, payload, rows, told string) reply {
	s.t.Helper()
	a := s.bring(s, id, payload)
	if got := s.rows(); got != rows {
		s.t.Fatalf("it was judged by %s, want %s, and told %s\n%s", got, rows, a.told, a.body)
	}
	if a.told != told {
		s.t.Fatalf("got %s\nwant %s\n%s", a.told, told, a.body)
	}
	if told == s.again && a.retryAfter == "" {
		s.t.Error("it is not told when to come again")
	}
	return a
}

// same expects that a repeat is told what came before, byte for byte.
func (s *sending) same(before, again reply) {
	s.t.Helper()
	if string(before.body) != string(again.body) {
		s.t.Errorf("a repeat is told in other bytes:\n%s\n%s", before.body, again.body)
	}
}

// alike expects that a repeat whose answer is made afresh says what came before.
func (s *sending) alike(before, again reply) {
	s.t.Helper()
	if s.plain {
		s.same(before, again)
	} else if before.told != again.told {
		s.t.Errorf("a repeat is told %s, and before it was told %s", again.told, before.told)
	}
}

// decides takes an operator's decision on the one drift that is open.
func (r *rig) decides(c gateway.Choice) {
	r.t.Helper()
	list := r.alerts()
	if len(list) != 1 || !list[0].Undecided() {
		r.t.Fatalf("%d alerts", len(list))
	}
	ruling, err := r.gateway.Decide(r.t.Context(), gateway.Decision{Alert: list[0].ID, Choice: c, Reason: "corrected", By: gateway.Person{Name: "anna", Role: "operator"}})
	if err != nil || ruling.State != "resolved" {
		r.t.Fatalf("%+v, %v", ruling, err)
	}
}

// live expects one document of a number to stand.
func (r *rig) live(number string) {
	r.t.Helper()
	if n := r.count(`select count(*) from document where number = $1 and state = 'live' and superseded_by is null and cancelled_by is null`, number); n != 1 {
		r.t.Errorf("%d documents %s stand", n, number)
	}
}

// words gives what an answer over AS4 says: receipt, the codes of its errors, and fault
// with the code of a SOAP Fault.
func (a rawAnswer) words() string {
	var told []string
	if strings.Contains(a.Body, "<eb:Receipt") {
		told = append(told, "receipt")
	}
	for _, m := range as4Code.FindAllStringSubmatch(a.Body, -1) {
		told = append(told, m[1])
	}
	if _, after, ok := strings.Cut(a.Body, "<S12:Value>S12:"); ok {
		code, _, _ := strings.Cut(after, "<")
		told = append(told, "fault "+code)
	}
	return strings.Join(told, ", ")
}

// String is its status, whether it is signed, and its words.
func (a rawAnswer) String() string {
	how := ""
	if strings.Contains(a.Body, "SignatureValue") {
		how = "signed "
	}
	return fmt.Sprint(a.Status, " ", how, a.words())
}
