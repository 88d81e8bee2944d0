package gateway_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/edigw/edigw/gateway"
)

// told is what a receipt says, as far as the model foretells it.
type told struct {
	Rules   []string
	Verdict gateway.Verdict
	Answer  string
	Items   []toldItem
	Key     string
}

type toldItem struct {
	Answer, Verdict, Outcome, Problem, Key string
	Alert                                  bool
	Documents                              []string
	Copies, Void                           int    // findings possible_copy and document-void
	CONTRL                                 string // 0083 of UCI
	Bytes                                  string // of a stored answer
}

// tells renders what the model expects as told.
func (w *world) tells(e *expectation, parts []*sending) told {
	x := told{Answer: e.answer.Told().Word + " " + fmt.Sprint(e.answer), Key: e.id}
	if e.id == "" && len(parts) == 1 && e.items[0].key != nil {
		x.Key = e.items[0].key.id
	} else if e.id == "" {
		d := sha(payload(parts))
		x.Key = "payload:sha256:" + hex.EncodeToString(d[:])
	}
	for n, r := range e.items {
		rule := strings.TrimSpace(e.rule + " " + r.row)
		if r.row == e.rule {
			rule = r.row
		}
		x.Rules = append(x.Rules, rule)
		if n == 0 || x.Verdict == r.verdict {
			x.Verdict = r.verdict
		} else {
			x.Verdict = gateway.Mixed
		}
		x.Items = append(x.Items, w.tellsItem(e, r))
	}
	return x
}

func (w *world) tellsItem(e *expectation, r *wanted) toldItem {
	x := toldItem{Answer: fmt.Sprint(r.answer)}
	if r.stored {
		x.Bytes = string(r.item)
		return x
	}
	how := r.answer.Told()
	x.Verdict, x.Outcome, x.Problem, x.Alert, x.Copies = string(r.verdict), how.Word, how.Problem, r.alert != nil, r.copies
	x.Void = r.void
	switch {
	case r.id != "":
		x.Key = r.id
	case r.sent == nil:
		x.Key = e.id
	}
	if r.variant != nil && r.answer != gateway.ToldReplaced && how.Problem == "" {
		x.Outcome = r.variant.state
	}
	switch r.row {
	case "I1b", "I4", "I9", "I10", "I11", "I12":
		for _, m := range r.variant.messages {
			word, _, _ := strings.Cut(m.fate, " ")
			x.Documents = append(x.Documents, strings.TrimSuffix(word, ","))
		}
		switch r.answer {
		case gateway.ToldAccepted:
			x.CONTRL = fmt.Sprint(w.receiptAction)
		case gateway.ToldPartly:
			x.CONTRL = "7"
		case gateway.ToldRejected, gateway.ToldUnsupported:
			x.CONTRL = "4"
		case gateway.ToldDead:
			if w.uci8 {
				x.CONTRL = "8"
			}
		}
	case "I1", "I13":
		if w.driftAck == "reject" && w.onDrift == "reject" {
			x.CONTRL = "4"
		}
	}
	return x
}

// heard reads a receipt as told. Of what is a stored answer only the bytes count.
func heard(t *rapid.T, r *gateway.Receipt, e *expectation) told {
	x := told{Rules: r.Rules, Verdict: r.Verdict, Answer: r.Answer.Told().Word + " " + fmt.Sprint(r.Answer), Key: r.MessageID}
	for n, it := range r.Items {
		i := toldItem{Answer: fmt.Sprint(it.Answer)}
		if n < len(e.items) && e.items[n].stored {
			if e.items[n].item != nil {
				i.Bytes = string(it.JSON)
			}
			x.Items = append(x.Items, i)
			continue
		}
		var j gateway.InterchangeReceipt
		if err := json.Unmarshal(it.JSON, &j); err != nil {
			t.Fatalf("interchange %d of the receipt: %v\n%s", n, err, it.JSON)
		}
		i.Verdict, i.Outcome, i.Problem, i.Key, i.Alert = string(j.Verdict), j.Outcome, j.Problem, j.MessageID, j.Alert != ""
		if n < len(e.items) && e.items[n].row == "I5" {
			x.Items = append(x.Items, i) // lists what it was prepared for, if it was
			continue
		}
		for _, d := range j.Documents {
			i.Documents = append(i.Documents, d.State)
		}
		for _, f := range j.Findings {
			switch f.Code {
			case "possible_copy":
				i.Copies++
			case "document-void":
				i.Void++
			}
		}
		if j.Acknowledgement != nil {
			for s := range strings.SplitSeq(j.Acknowledgement.Content, "'") {
				if f := strings.Split(s, "+"); f[0] == "UCI" {
					i.CONTRL = f[4]
				}
			}
		}
		x.Items = append(x.Items, i)
	}
	return x
}

// learn keeps the bytes that the gateway stores from now on.
func (e *expectation) learn(r *gateway.Receipt) {
	for n, it := range e.items {
		if it.variant != nil && !it.stored && it.answer == it.variant.answer {
			it.variant.item = r.Items[n].JSON
		}
		if e.into != nil && it.variant == nil && n < len(e.into.parts) {
			e.into.parts[n].item = r.Items[n].JSON
		}
	}
	if e.into != nil {
		e.into.body = r.Rendered.Body
	}
}
