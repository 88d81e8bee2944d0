package httpin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/gateway"
)

// Bounds of a receipt, which has to fit into a megabyte whatever it is for.
const (
	maxItemBytes = 768 << 10 // of interchanges
	maxErrors    = 50        // of errors
)

// Render makes the body of the answer. It depends on what the receipt says and
// on nothing else: no time, no random number, so that what was told once can be
// told again. The receipt's id is made of the rest of it.
func Render(r *gateway.Receipt) (gateway.Rendered, error) {
	told := r.Answer.Told()
	rendered := gateway.Rendered{Status: told.HTTP, ContentType: receiptJSON}
	var head any
	said := said{
		Partner:       r.Partner,
		MessageID:     r.MessageID,
		Outcome:       told.Word,
		PayloadSHA256: hex.EncodeToString(r.SHA256[:]),
	}
	if r.AlertID != uuid.Nil {
		said.AlertID = r.AlertID.String()
	}
	if told.Problem == "" {
		head = said
	} else {
		rendered.ContentType = problemJSON
		p, err := problemOf(r, told)
		if err != nil {
			return rendered, err
		}
		p.said = said
		head = p
	}
	object, err := encode(head)
	if err != nil {
		return rendered, err
	}
	rest := append(object[1:len(object)-1], interchanges(r.Items)...)
	id := receiptID(rest)
	rendered.Body = make([]byte, 0, len(rest)+64)
	rendered.Body = append(rendered.Body, `{"receipt_id":"`...)
	rendered.Body = append(rendered.Body, id.String()...)
	rendered.Body = append(rendered.Body, `",`...)
	rendered.Body = append(rendered.Body, rest...)
	rendered.Body = append(rendered.Body, "}\n"...)
	return rendered, nil
}

// said is what a receipt says beside its interchanges.
type said struct {
	Partner       string `json:"partner"`
	MessageID     string `json:"message_id"`
	Outcome       string `json:"outcome"`
	PayloadSHA256 string `json:"payload_sha256"`
	AlertID       string `json:"alert_id,omitempty"`
}

// problemReceipt is a receipt that is a problem as well (RFC 9457 §3.2).
type problemReceipt struct {
	details
	Errors        []problemError `json:"errors,omitempty"`
	ErrorsOmitted int            `json:"errors_omitted,omitempty"`
	said
}

// problemError is one error of the text, with its interchange.
type problemError struct {
	Interchange string `json:"interchange,omitempty"` // its message_id
	gateway.Finding
}

// interchanges gives the items as they are, byte for byte, as the last member
// of an object.
func interchanges(items []gateway.Item) []byte {
	var b bytes.Buffer
	b.WriteString(`,"interchanges":[`)
	for i, it := range items {
		if b.Len()+len(it.JSON) > maxItemBytes && i > 0 {
			b.WriteString(`],"interchanges_omitted":`)
			b.WriteString(strconv.Itoa(len(items) - i))
			return b.Bytes()
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(it.JSON)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// receiptID is a UUID of version 8 (RFC 9562 §5.8): 122 bits of a digest.
func receiptID(rest []byte) uuid.UUID {
	sum := sha256.Sum256(rest)
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// problemOf says what is wrong, where, and what to do: in a sentence for the
// first interchange that is refused, and as a list for all.
func problemOf(r *gateway.Receipt, told gateway.Told) (*problemReceipt, error) {
	p := &problemReceipt{details: details{Type: ProblemBase + told.Problem, Title: told.Title, Status: told.HTTP}}
	what := ""
	for i, it := range r.Items {
		if it.Answer.Told().Problem == "" {
			continue
		}
		var ic gateway.InterchangeReceipt
		if err := json.Unmarshal(it.JSON, &ic); err != nil {
			return nil, fmt.Errorf("read the receipt of interchange %d: %w", i+1, err)
		}
		listed := len(p.Errors)
		for _, f := range ic.Findings {
			if f.Severity != edi.SeverityError.String() {
				continue
			}
			if len(p.Errors) == maxErrors {
				p.ErrorsOmitted++
				continue
			}
			p.Errors = append(p.Errors, problemError{ic.MessageID, f})
		}
		if what == "" && it.Answer == r.Answer {
			what = ic.Detail
			if len(p.Errors) > listed {
				what = join(what, placed(p.Errors[listed].Finding, ic.Detail, len(ic.Documents) > 1))
			}
			if what == "" {
				what = told.Title
			}
			if len(r.Items) > 1 {
				what = fmt.Sprintf("Interchange %d of %d: %s", i+1, len(r.Items), what)
			}
		}
	}
	if what == "" {
		what = told.Title
	}
	p.Detail = join(what, advice[told.Problem])
	if len(r.Items) > 1 {
		p.Detail = join(p.Detail, "What became of the others stands beside each in interchanges")
	}
	if r.AlertID != uuid.Nil {
		p.Detail = join(p.Detail, "If you ask us, name alert "+r.AlertID.String())
	}
	return p, nil
}

// placed gives a finding with its place, as a person says it: segment 12 LIN,
// element 3, component 1, at byte 841; of one among several messages which one.
// said is what was said already.
func placed(f gateway.Finding, said string, several bool) string {
	text := f.Message
	if strings.Contains(said, text) {
		text = ""
	}
	l := f.Location
	if l == nil {
		return capital(text)
	}
	var at []string
	if several && f.MessageIndex > 0 {
		at = append(at, fmt.Sprintf("message %d (%s)", f.MessageIndex, f.MessageReference))
	}
	if l.Segment > 0 || l.Tag != "" {
		at = append(at, strings.TrimSpace(fmt.Sprintf("segment %d %s", l.Segment, l.Tag)))
	}
	if l.Element > 0 {
		at = append(at, fmt.Sprintf("element %d", l.Element))
	}
	if l.Component > 0 {
		at = append(at, fmt.Sprintf("component %d", l.Component))
	}
	at = append(at, fmt.Sprintf("at byte %d", l.Offset))
	place := strings.Join(at, ", ")
	if text == "" {
		return capital(place)
	}
	return capital(strings.TrimRight(text, ".")) + " (" + place + ")"
}

// join puts sentences behind each other.
func join(sentences ...string) string {
	var all []string
	for _, s := range sentences {
		if s = sentence(s); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

// acknowledge sends the receipt: its stored bytes if it is a repeat.
func acknowledge(w http.ResponseWriter, r *gateway.Receipt) (status int, lost error) {
	answer := r.Rendered
	header := w.Header()
	if r.Repeat {
		header.Set("Idempotent-Replayed", "true")
		if answer.Status == http.StatusCreated {
			answer.Status = http.StatusOK // nothing was created this time
		}
	}
	if r.Verdict != "" {
		header.Set("Edigw-Verdict", strings.ToLower(strings.ReplaceAll(string(r.Verdict), " ", "-")))
	}
	if r.Delivery != uuid.Nil {
		header.Set("Edigw-Delivery", r.Delivery.String())
	}
	return answer.Status, send(w, answer)
}
