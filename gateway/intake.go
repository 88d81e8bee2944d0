package gateway

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/documents"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/journal"
	"github.com/edigw/edigw/partners"
)

// intake is a delivery on its way through Receive.
type intake struct {
	*Delivery
	id             uuid.UUID
	payloadID      uuid.UUID
	started        time.Time // this node's monotonic clock, for took
	now            time.Time // the database's
	key            dedup.Ref // the transport key, or sha256: of a payload that holds no interchange; zero if there is neither
	parts          []*part
	spooled        *Spooled           // what was read of a stored payload; nil where it is the transport's
	alsoLock       []dedup.Ref        // keys of open transport drifts whose interchange arrived under another id
	unkeyed        dedup.Revision     // what parts without a key are judged under
	overQuarantine bool               // nothing more of the partner that is refused without a key is kept today
	looked         map[dedup.Ref]bool // keys that were looked for
	purged         []dedup.Ref        // keys that the transport id carried, and that were not found after it was read
	written        []*journal.Acknowledgement

	mayWait *time.Duration // for others in this process: what is left; nil: an operator's act, which takes no turn
	room    *room          // of memory; nil: it took none

	keys   map[dedup.Ref]*dedup.Key // as read: without a lock at look-up, under it when deciding
	alerts map[dedup.Ref][]*dedup.Alert
	acks   map[uuid.UUID]*journal.Acknowledgement
	copies []foundCopy // drifts with the same content
	met    bool        // a document of it was known under its guard key

	foreseen bool // nothing is to be written: Foresee

	wholly  bool         // keys are read with every drift under them, by decisions and by who may close some
	decided *dedup.Alert // a transport drift that a decision processes
	stored  dedup.Stored // where its payload stands
}

// part is one interchange of a delivery, or a stretch of text that is none.
type part struct {
	payload *edi.Payload
	format  *Format
	read    Reading
	ic      *edi.Interchange
	fault   *edi.Error        // no envelope could be read
	owner   *partners.Partner // of the sender's address; the transport partner where there is no key
	key     dedup.Ref         // zero: none
	reject  *Rejection        // refused before its key
	notes   []*edi.Error      // of the text around it

	prepared bool
	retained bool      // documents are kept in judged
	base     uuid.UUID // of the documents' ids
	judged   []judgement
	ids      identities            // beside judged
	docs     []*documents.Document // beside judged, where they are retained
	errs     map[int][]*edi.Error  // of messages and their documents, beside edi.Interchange.MessageErrors
	taken    []int                 // messages refused for a reference that another has
	units    []namedUnit           // SSCCs of despatch advices, to be looked for in others
	tooMany  bool                  // refused messages, to keep what is wrong with each
	listed   []string              // document numbers of the first messages
	arrival  Arrival
	number   string // control reference of our acknowledgement
	advice   string // of our application advice, once it is leased
	advising bool   // one is needed
	compared *comparison
	moved    bool // the original was not where its key said, once

	elsewhere map[int][]*edi.Error // of messages: which of their units others name

	yields  map[int][]*edi.Error // of messages that the policy alone refuses: what is told of them otherwise
	yielded bool                 // the guard was asked which of them it absorbs

	heard   []*heard // what it answers
	matched bool     // with what we sent
}

// judgement is what prepare found of one message. It is kept small: an
// interchange may hold 999,999.
type judgement struct {
	fate     dedup.Fate // Posted: sound
	revision uint8      // documents.Revision
	class    uint8      // index into classes

	unsupported bool // of a type that the partner may not send
}

// classes are the document classes a judgement names by number.
var classes = [...]string{documents.ClassGeneric, documents.ClassInvoice, documents.ClassDespatch}

func (p *part) refuse(i int, errs ...*edi.Error) judgement {
	p.remember(i, errs)
	return judgement{fate: dedup.RefusedMsg, unsupported: len(errs) == 1 && errs[0].Code == unsupportedType}
}

// maxRemembered bounds the messages of an interchange whose findings are kept.
// What is dropped is counted; an interchange with more refused messages is
// refused as a whole, so that none is refused without a reason.
const maxRemembered = 10_000

func (p *part) remember(i int, errs []*edi.Error) {
	if len(errs) == 0 {
		return
	}
	if len(p.errs) >= maxRemembered && p.errs[i] == nil {
		p.ic.DroppedErrors += len(errs)
		p.tooMany = p.tooMany || edi.Worst(errs) >= edi.SeverityError && errs[0].Code != unsupportedType
		return
	}
	if p.errs == nil {
		p.errs = map[int][]*edi.Error{}
	}
	p.errs[i] = errs
}

// doc is message i's document, nil where it is not retained.
func (p *part) doc(i int) *documents.Document {
	if i < len(p.docs) {
		return p.docs[i]
	}
	return nil
}

// copyOf is the content of message i without number and date; zero where its
// document is not retained.
func (p *part) copyOf(i int) [32]byte {
	if d := p.doc(i); d != nil {
		return d.ContentWithoutNumberAndDate()
	}
	return [32]byte{}
}

// split finds the interchanges of d with their keys and digests.
func (g *Gateway) split(d *Delivery) (*intake, error) {
	in := &intake{Delivery: d, id: g.NewID(), payloadID: g.NewID(), started: time.Now(), now: g.Now(),
		unkeyed: dedup.Revision{Partner: g.ConfigRevision(), Rules: g.rules()}}
	var stray []*edi.Error
	err := walkParts(d.Payload, d.Parts, g.Formats, readingOf(d.Partner), func(f *Format, ic *edi.Interchange, fault *edi.Error) error {
		if fault != nil && fault.Severity < edi.SeverityError {
			stray = append(stray, fault)
			return nil
		}
		p := &part{payload: d.Payload, format: f, read: readingOf(d.Partner), owner: d.Partner, ic: ic, fault: fault}
		in.parts = append(in.parts, p)
		g.keyOf(in, p)
		return nil
	})
	if errors.Is(err, ErrTooMany) {
		e := TooMany()
		return nil, &Rejection{ToldUnreadable, e.Code, e.Text}
	}
	if err != nil {
		return nil, err
	}
	if len(in.parts)+len(stray) == 0 {
		stray = append(stray, &edi.Error{Code: "empty", Severity: edi.SeverityError, Text: "The payload is empty."})
	}
	in.around(stray)
	holds := false // an interchange, refused without a key or not
	for _, p := range in.parts {
		holds = holds || p.fault == nil
	}
	switch {
	case d.TransportID != "":
		in.key = dedup.Ref{Partner: d.Partner.ID, ID: d.TransportID}
	case !holds:
		in.key = dedup.Ref{Partner: d.Partner.ID, ID: dedup.PayloadKey(d.SHA256)}
	}
	return in, nil
}

// close lets go of what the delivery keeps beside memory.
func (in *intake) close() {
	if in == nil {
		return
	}
	for _, p := range in.parts {
		p.ids.close()
	}
	if in.spooled != nil {
		_ = in.spooled.Close() // it has no name: it is gone, whatever closing says
		in.spooled = nil
	}
}

// around gives text outside interchanges to its neighbour as a note; where there
// is no interchange, it is what the delivery consists of.
func (in *intake) around(stray []*edi.Error) {
	if len(stray) == 0 {
		return
	}
	if len(in.parts) == 0 {
		ic := &edi.Interchange{Length: in.Payload.Size(), PayloadSHA256: in.SHA256}
		in.parts = []*part{{payload: in.Payload, ic: ic, fault: stray[0], owner: in.Partner}}
		return
	}
	near := 0 // both are in the order of the payload
	for _, e := range stray {
		for near+1 < len(in.parts) && in.parts[near+1].ic.Offset <= e.Offset {
			near++
		}
		in.parts[near].notes = append(in.parts[near].notes, e)
	}
}

// keyOf finds whose interchange p is and gives it its key, or the reason why it
// has none.
func (g *Gateway) keyOf(in *intake, p *part) {
	if p.fault != nil {
		return
	}
	owner := g.Sender(p.ic.Sender)
	if owner == nil || !g.MaySpeakFor(in.Partner, owner) {
		p.reject = &Rejection{ToldSenderNotAllowed, "sender-not-allowed",
			fmt.Sprintf("%s may not deliver interchanges of sender %s. If this sender is yours, have it added to your identifiers.", in.Partner.ID, address(p.ic.Sender))}
		return
	}
	p.owner = owner
	p.read = readingOf(owner)
	p.key = dedup.Ref{Partner: owner.ID, ID: dedup.InterchangeKey(p.ic, shape(owner.Policy))}
	p.arrival = Arrival{SHA256: p.ic.PayloadSHA256, Date: p.ic.Date, Policy: &owner.Policy, Window: owner.Retention.DedupWindow,
		Connected: owner.Connected, Now: in.now, Revision: dedup.Revision{Partner: owner.Revision, Rules: g.rules()}}
}

func shape(p partners.Policy) dedup.Shape {
	return dedup.Shape{ControlReference: p.ControlReference, IncludeApplication: p.KeyIncludesApplication}
}

// earlier gives the keys an interchange had before the partner's key settings
// were changed, the latest first, while they are to be looked for.
func (p *part) earlier(now time.Time) []dedup.Ref {
	var refs []dedup.Ref
	for prev := p.owner.Policy.Previous; prev != nil && now.Before(prev.Until); prev = prev.Before {
		r := dedup.Ref{Partner: p.owner.ID, ID: dedup.InterchangeKey(p.ic, dedup.Shape{ControlReference: prev.ControlReference, IncludeApplication: prev.KeyIncludesApplication})}
		if r != p.key {
			refs = append(refs, r)
		}
	}
	return refs
}

func readingOf(p *partners.Partner) Reading {
	return Reading{Tolerance: p.Policy.Reading, UnreliableMessageReferences: p.Policy.MessageReference == "unreliable"}
}

func address(p edi.Party) string {
	if p.Qualifier == "" {
		return p.ID
	}
	return p.ID + ":" + p.Qualifier
}

// refs gives every key of the delivery, sorted.
func (in *intake) refs() []dedup.Ref {
	var refs []dedup.Ref
	if in.key != (dedup.Ref{}) {
		refs = append(refs, in.key)
	}
	for _, p := range in.parts {
		if p.key != (dedup.Ref{}) {
			refs = append(refs, p.key)
		}
	}
	return dedup.SortRefs(append(refs, in.alsoLock...))
}

// messageID names the delivery in its receipt.
func (in *intake) messageID() string {
	if in.TransportID != "" {
		return in.TransportID
	}
	if len(in.parts) == 1 && in.parts[0].key.ID != "" {
		return in.parts[0].key.ID
	}
	return dedup.PayloadKey(in.SHA256)
}

func hexOf(d [32]byte) string { return hex.EncodeToString(d[:]) }
