package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/journal"
)

// evidencePage is how many rows of a list are read at a time.
const evidencePage = 500

// message writes what is known of the key now: its variants and their states.
func (e *evidence) message() error {
	variants, err := e.variants(e.key)
	if err != nil {
		return err
	}
	out := struct {
		Partner   string    `json:"partner"`
		MessageID string    `json:"message_id"`
		FirstAt   any       `json:"first_at"`
		PurgeOn   string    `json:"purge_on"`
		KeptBy    []string  `json:"kept_by"`
		Carried   []ref     `json:"carried,omitempty"`
		Variants  []variant `json:"variants"`
	}{e.key.Partner, e.key.ID, e.key.FirstAt.UTC(), e.key.PurgeOn.Format("2006-01-02"), keptBy(e.key.Hold()), nil, variants}
	for _, c := range e.key.Carried {
		out.Carried = append(out.Carried, ref{c.Partner, c.ID, hexOf(c.SHA256), messagePath(c.Partner, c.ID)})
	}
	return e.json("message.json", "every content seen under the id, its state, and what was answered", out)
}

// payloads writes every payload that is kept, byte for byte as it was received
// (after transfer encodings), named by its digest.
func (e *evidence) payloads() error {
	for _, v := range e.key.Variants {
		switch {
		case v.NoDigest:
			e.gap("a content that a former gateway processed: neither its bytes nor its digest are known")
			continue
		case v.Payload.ID == uuid.Nil:
			e.gap("payload %s was not stored under this id", hexOf(v.SHA256))
			continue
		}
		// The first piece tells whether it is still kept.
		if _, err := e.piece(storedAs(e.key.Partner, v), 0); isPurged(err) {
			e.gap("payload %s is no longer kept: its retention has passed", hexOf(v.SHA256))
			continue
		} else if err != nil {
			return err
		}
		if err := e.begin("payloads/"+hexOf(v.SHA256)+".edi", "payload as received, "+v.State.String()); err != nil {
			return err
		}
		for at := int64(0); at < v.Length; {
			b, err := e.piece(storedAs(e.key.Partner, v), at)
			if err != nil {
				return err
			}
			if _, err := e.open.Write(b); err != nil {
				return err
			}
			at += int64(len(b))
		}
		e.end()
		// The digest of a transport id that carried several parts is made of theirs.
		if got := e.files[len(e.files)-1].SHA256; got != hexOf(v.SHA256) && e.key.Kind == dedup.Interchange {
			return fmt.Errorf("payload %s of %s is stored with other bytes, %s", hexOf(v.SHA256), e.key.ID, got)
		}
	}
	return nil
}

// journal writes every reception, a line each, the latest first, and what each was
// answered, as it left.
func (e *evidence) journal() error {
	f := journal.Filter{Partners: []string{e.key.Partner}, Limit: evidencePage}
	for _, c := range e.key.Carried {
		f.Partners = append(f.Partners, c.Partner)
	}
	slices.Sort(f.Partners)
	f.Partners = slices.Compact(f.Partners)
	underKey(&f, e.key)
	if err := e.begin("journal.jsonl", "every reception and its outcome, a line each, the latest first"); err != nil {
		return err
	}
	acks := acknowledgementsOf(e.key)
	transports := map[dedup.Ref]bool{}
	for {
		list, err := e.api.Journal.List(e.ctx(), f)
		if err != nil {
			return err
		}
		for _, d := range list {
			line, err := json.Marshal(deliveryOf(d))
			if err != nil {
				return err
			}
			if _, err := e.open.Write(append(line, '\n')); err != nil {
				return err
			}
			if d.Ack != nil && d.AckIn != nil {
				acks = append(acks, journal.AckRef{Partner: d.Partner, ID: *d.Ack, Month: *d.AckIn})
			}
			if d.TransportID != "" && d.TransportID != e.key.ID {
				transports[dedup.Ref{Partner: d.Partner, ID: d.TransportID}] = true
			}
			f.From = &journal.Position{ID: d.ID, Seq: d.Seq}
		}
		if len(list) < f.Limit {
			break
		}
	}
	e.end()
	for ref := range transports { // the receipt as a whole stands with the transport id
		k, err := e.api.Inbox.Get(e.ctx(), ref)
		if err != nil {
			return err
		}
		if k == nil {
			e.gap("the receipt of transport id %s is no longer kept, or stands with the partner who delivered it", ref.ID)
			continue
		}
		acks = append(acks, acknowledgementsOf(k)...)
	}
	return e.acknowledgements(acks)
}

// acknowledgementsOf are those of a key's variants.
func acknowledgementsOf(k *dedup.Key) (refs []journal.AckRef) {
	for _, v := range k.Variants {
		if v.Ack.ID != uuid.Nil {
			refs = append(refs, journal.AckRef{Partner: k.Partner, ID: v.Ack.ID, Month: v.Ack.Month})
		}
	}
	return refs
}

// acknowledgements writes each once.
func (e *evidence) acknowledgements(refs []journal.AckRef) error {
	seen := map[uuid.UUID]bool{}
	for part := range slices.Chunk(refs, evidencePage) {
		acks, err := e.api.Journal.Acknowledgements(e.ctx(), part)
		if err != nil {
			return err
		}
		for _, r := range part {
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			a := acks[r.ID]
			if a == nil {
				e.gap("acknowledgement %s is no longer kept: its retention has passed", r.ID)
				continue
			}
			if len(a.Fields) > 0 || strings.HasPrefix(a.ContentType, "multipart/") { // its header is part of what a tool reads
				a.Receipt = slices.Concat([]byte("MIME-Version: 1.0\r\nContent-Type: "+a.ContentType+"\r\n"+
					strings.ReplaceAll(a.Fields.String(), "\n", "\r\n")+"\r\n"), a.Receipt)
			}
			for _, f := range []struct {
				ending, what string
				text         []byte
			}{
				{ending(a.ContentType), fmt.Sprintf("receipt as sent, status %d, %s", a.Status, a.ContentType), a.Receipt},
				{".answer.json", "the interchange's part of the receipt", a.Answer},
				{".functional.edi", "functional acknowledgement as sent", a.Functional},
			} {
				if len(f.text) == 0 {
					continue
				}
				if err := e.file("acknowledgements/"+r.ID.String()+f.ending, f.what, bytes.NewReader(f.text)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func ending(contentType string) string {
	switch {
	case strings.Contains(contentType, "json"):
		return ".receipt.json"
	case strings.HasPrefix(contentType, "multipart/"):
		return ".receipt.eml"
	}
	return ".receipt"
}

// documents writes every document that the interchange brought, as it stands now.
func (e *evidence) documents() error {
	if e.key.Kind != dedup.Interchange {
		return nil
	}
	f := documents.Filter{Partner: e.key.Partner, MessageID: e.key.ID, Limit: evidencePage}
	for {
		p, err := e.api.Documents.List(e.ctx(), f)
		if err != nil {
			return err
		}
		for i := range p.Documents {
			d, err := e.api.Documents.Get(e.ctx(), e.key.Partner, p.Documents[i].ID)
			if err != nil {
				return err
			}
			if err := e.json("documents/"+d.ID.String()+".json", d.Class+" "+d.Number, d); err != nil {
				return err
			}
		}
		if f.After = p.Next; p.Next == "" {
			return nil
		}
	}
}

// drifts writes the alerts under the key.
func (e *evidence) drifts() error {
	alerts, err := e.api.Alerts.List(e.ctx(), dedup.AlertFilter{Partner: e.key.Partner, MessageID: e.key.ID, Limit: maxLimit})
	if err != nil || len(alerts) == 0 {
		return err
	}
	list := make([]alert, len(alerts))
	for i, a := range alerts {
		list[i] = alertOf(a)
		e.alerts = append(e.alerts, a.ID.String())
	}
	if len(list) == maxLimit {
		e.gap("of the drifts under the id the latest %d", maxLimit)
	}
	return e.json("drifts.json", "other content that came under the id, and what was decided", list)
}

// audit writes what people did to the message, its drifts and documents.
func (e *evidence) audit() error {
	entries := []accounts.Entry{}
	for _, subject := range append([]string{e.key.ID}, e.alerts...) {
		f := accounts.AuditFilter{Partner: e.key.Partner, Subject: subject, Limit: evidencePage}
		for {
			list, err := e.api.Accounts.ListAudit(e.ctx(), f)
			if err != nil {
				return err
			}
			entries = append(entries, list...)
			if len(list) < f.Limit {
				break
			}
			f.Before = &list[len(list)-1]
		}
	}
	slices.SortStableFunc(entries, func(a, b accounts.Entry) int { return a.At.Compare(b.At) })
	return e.json("audit.json", "who did what to it", entries)
}

// evidenceReadme says what is in the zip and how it is checked; signed is what there is
// to say of the manifest's signature.
func evidenceReadme(m manifest, signed string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Evidence of message
  %s
of partner %s, exported on %s by %s.

What is here
`, m.MessageID, m.Partner, m.At.Format("2006-01-02 15:04:05 MST"), m.By)
	for _, f := range m.Files {
		fmt.Fprintf(&b, "  %s\n      %s\n", f.Name, f.What)
	}
	b.WriteString(`
How to check that nothing was changed
  Unpack it, and in its folder:

    sha256sum -c SHA256SUMS

  or, file by file, with openssl; each digest has to be the one in manifest.json:

    openssl dgst -sha256 -r payloads/* acknowledgements/* documents/* *.json *.jsonl

  The name of a payload is its own digest. The gateway decided by it what is the same
  message: it stands in message.json, in journal.jsonl and in the receipt that the
  partner got.

  That this manifest is the one that was exported then, the gateway's audit log tells:
  its entry evidence.exported has the manifest's SHA-256, and entries are never changed.

    openssl dgst -sha256 -r manifest.json

`)
	b.WriteString(signed)
	b.WriteString(`
  Plain HTTP carries no signature. What a transport signed is in signatures/, in a folder
  for each payload, where there is such a folder. In it is what was signed, with its
  signature, byte for byte, and the certificate that the gateway verified it with.
`)
	b.WriteString(signedReadme(m.Files))
	if len(m.Gaps) > 0 {
		b.WriteString("\nWhat is not here\n")
		for _, g := range m.Gaps {
			fmt.Fprintf(&b, "  - %s\n", g)
		}
	}
	return b.String()
}
