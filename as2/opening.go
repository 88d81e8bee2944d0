package as2

import (
	"bytes"
	"crypto"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/edigw/edigw/cms"
	"github.com/edigw/edigw/entity"
	"github.com/edigw/edigw/partners"
)

// Limits of an opened message.
const (
	maxLayers       = 8
	maxAttachments  = 100
	maxEntities     = 1000
	ratio           = 200     // decompressed bytes for each compressed one
	freeRatio       = 1 << 20 // up to which none is asked
	defaultMaxBytes = 256 << 20
)

// Opener opens the messages of a partner: what they have to be, by whom they may be
// signed, and what they may be encrypted to.
type Opener struct {
	Partner *partners.Partner
	Keys    func() ([]cms.Key, error) // ours, that may be encrypted to; nil: none
	Leads   func([]byte) bool         // whether text begins an interchange; nil: all does
	Now     time.Time
	Max     int64 // bytes of a message, decompressed; 0 is 256 MiB
	// Room takes memory for so many bytes beside the message itself, until what was opened
	// is done with. The message is left with its error, ErrNoRoom or ErrTooMuch. nil has room.
	Room func(n int64) error
}

// Opened is a message as far as it could be opened, also where there is a fault.
type Opened struct {
	Parts  []Part         // in order
	Report *entity.Entity // it is an MDN: RFC 4130 §7.4
	MIC    MIC            // what an MDN says of it, where it could be computed

	Encrypted  bool
	Compressed bool
	Signed     bool
	Signer     *partners.Certificate // whose signature it is
	Shown      []byte                // in DER, another certificate of the same key that the signature is by; nil where it is the Signer's
	Hash       crypto.Hash           // of the signature
	Header     []byte                // of the signed entity, as RFC 8551 §3.5 has it, where it stood in that of HTTP
	Entity     []byte                // the signed entity, behind Header
	Opaque     bool                  // Entity is a SignedData with its content, in DER or BER
	Detached   []byte                // a SignedData without its content, in DER or BER; Entity is what it is over
	Notes      []string              // what was let pass, in words

	checked []byte // what the MIC is over; nil where the body is
	digest  []byte // of checked, by Hash, where it is signed
	micalg  string // what the signed entity calls that algorithm
}

// Part is one part of the payload.
type Part struct {
	Type     string // of its content
	Filename string // a label
	Body     []byte // decoded
	EDI      bool   // it begins an interchange, or nobody can say
}

// size is that of the parts together, in bytes.
func (m *Opened) size() (n int64) {
	for _, p := range m.Parts {
		n += int64(len(p.Body))
	}
	return n
}

// Open opens a message: encryption, compression and signature in any order and each
// at most once (RFC 4130 §5.2, RFC 5402 §3). The error is a *Fault, or that of Keys. The body may be
// spoilt afterwards: it is decrypted where it lies.
func (o *Opener) Open(outer *entity.Entity, wanted Wanted) (*Opened, error) {
	op := &opening{Opener: o, m: &Opened{}, left: o.Max}
	if op.left == 0 {
		op.left = defaultMaxBytes
	}
	err := op.layer(outer)
	if err == nil {
		err = op.required()
	}
	if micErr := op.check(outer, wanted); micErr != nil && err == nil {
		err = micErr
	}
	if f := faultOf(err); f != nil && f.Reason == decryptionFailed {
		op.m = &Opened{Encrypted: true} // nothing of it is told, also not its MIC
	}
	return op.m, err
}

// opening is one message being opened.
type opening struct {
	*Opener
	m      *Opened
	depth  int
	count  int   // of entities, also those that hold nothing
	left   int64 // bytes that may still be decompressed
	sealed bool  // what was encrypted could not be changed on its way: GCM, CCM
	proved bool  // one of the partner's keys made the signature, whatever else is wrong
	among  bool  // it is one of several parts: what protects a message is around all of them
}

// layer opens one entity, and those inside it.
func (o *opening) layer(e *entity.Entity) error {
	if o.depth++; o.depth > maxLayers {
		return malformed(nil, "The message has more than %d layers of MIME.", maxLayers)
	}
	if o.count++; o.count > maxEntities {
		return malformed(nil, "The message has more than %d MIME entities in each other.", maxEntities)
	}
	t := e.ContentType()
	switch {
	case o.among && (isCMS(t) || t.Word == "multipart/signed"):
		return malformed(nil, "One part among several is encrypted, compressed or signed by itself. Do that to all of them together.")
	case isCMS(t):
		return o.cms(e)
	case t.Word == "multipart/signed":
		return o.signed(e)
	case t.Word == "multipart/report" && !o.among:
		o.m.Report = e
		return nil
	case strings.HasPrefix(t.Word, "multipart/"):
		return o.attachments(e)
	}
	return o.part(e)
}

// isCMS reports whether an entity is a CMS message: RFC 8551 §3.2.
//
// QUIRK: some name it by its file alone.
func isCMS(t entity.Value) bool {
	switch t.Word {
	case "application/pkcs7-mime", "application/x-pkcs7-mime":
		return true
	case "application/octet-stream":
		name := strings.ToLower(t.Get("name"))
		return strings.HasSuffix(name, ".p7m") || strings.HasSuffix(name, ".p7z")
	}
	return false
}

// cms opens a CMS message by what it is; smime-type is not asked, since it is wrong
// as often as it is missing.
func (o *opening) cms(e *entity.Entity) error {
	if o.malleable() && garbled(e) {
		return malformed(nil, "The header of the signed or compressed part is garbled.")
	}
	der, err := o.undress(e)
	if isRoom(err) {
		return err
	}
	if err != nil {
		return malformed(err, "The transfer encoding of the encrypted or compressed part cannot be undone.")
	}
	switch cms.KindOf(der) {
	case cms.EnvelopedData, cms.AuthEnvelopedData:
		return o.enveloped(der)
	case cms.CompressedData:
		return o.compressed(der)
	case cms.SignedData:
		return o.opaque(e, der)
	}
	switch e.ContentType().Get("smime-type") {
	case "signed-data":
		return o.unreadable(nil)
	case "compressed-data":
		return o.cannotDecompress(nil, "The compressed part cannot be read.")
	}
	return cannotDecrypt(nil)
}

// malleable reports whether what is read now could have been changed on its way, block
// by block, by somebody who cannot read it: inside CBC, and before a signature is found
// right.
func (o *opening) malleable() bool { return o.m.Encrypted && !o.sealed && !o.m.Signed }

// garbled reports whether a header has characters in it that are in none. A header that no
// signature is over is read with all tolerance, and blocks that were put into it came out
// as anything: whether there is a line end in them, or a quotation mark, would show by
// what becomes of the message.
func garbled(e *entity.Entity) bool {
	for _, c := range e.Header() {
		if (c < ' ' || c > '~') && c != '\t' && c != '\r' && c != '\n' {
			return true
		}
	}
	return false
}

// undress gives the CMS message in a body.
//
// QUIRK: a proxy or library undoes base64 and leaves Content-Transfer-Encoding, or the
// other way round. DER and BER of these begin with 0x30, base64 of that with M.
func (o *opening) undress(e *entity.Entity) ([]byte, error) {
	if len(e.Body) > 0 && e.Body[0] == 0x30 && !entity.IsBase64(e.Body) {
		return e.Body, nil
	}
	encoding := e.Get("Content-Transfer-Encoding")
	if word := entity.ParseValue(encoding).Word; word != "base64" && word != "quoted-printable" && entity.IsBase64(e.Body) {
		encoding = "base64"
	}
	return o.decode(encoding, e.Body)
}

// decode undoes a transfer encoding, in memory that was taken for it: what it gives is
// never longer than the body.
func (o *opening) decode(encoding string, body []byte) ([]byte, error) {
	if word := entity.ParseValue(encoding).Word; word == "base64" || word == "quoted-printable" {
		if err := o.room(len(body)); err != nil {
			return nil, err
		}
	}
	return entity.Decode(encoding, body)
}

// room takes memory for n bytes that are made beside the message. Its error is ErrNoRoom,
// or a fault where the message can never have so much.
func (o *opening) room(n int) error {
	if o.Room == nil {
		return nil
	}
	err := o.Room(int64(n))
	if errors.Is(err, ErrTooMuch) {
		return tooMuch(err)
	}
	return err
}

// tooMuch is of a message that is decoded, decrypted or decompressed to more than one may
// need.
func tooMuch(err error) *Fault {
	return malformed(err, "The message is too large for how it is encoded: opened it needs more memory than one message may have. Send it in binary, or its interchanges in several.")
}

// isRoom reports whether an error is of memory, not of what was read.
func isRoom(err error) bool { return errors.Is(err, ErrNoRoom) || errors.Is(err, ErrTooMuch) }

// inner opens what was encrypted or compressed.
//
// QUIRK: some encrypt the interchange alone, without the MIME entity that RFC 4130
// §5.2 wants around it.
func (o *opening) inner(content []byte) error {
	if entity.HasHeader(content) {
		e, err := entity.Parse(content)
		if err != nil {
			return malformed(err, "A header in the message cannot be read.")
		}
		return o.layer(e)
	}
	if !o.leads(content) {
		return malformed(nil, "What was encrypted or compressed is neither a MIME entity nor an interchange.")
	}
	return o.layer(&entity.Entity{Raw: content, Body: content, Fields: []entity.Field{{Name: "Content-Type", Value: "application/octet-stream"}}})
}

func (o *opening) leads(text []byte) bool { return o.Leads == nil || o.Leads(text) }

// attachments opens the parts of a multipart body in order: several attachments, RFC
// 6362.
func (o *opening) attachments(e *entity.Entity) error {
	m, err := e.Multipart()
	switch {
	case err != nil:
		return malformed(err, "The parts of a multipart body cannot be told apart: its boundary is missing or not the one that its Content-Type names.")
	case !m.Closed:
		return malformed(nil, "The last boundary of a multipart body is missing: the end of the message may be too.")
	}
	o.among = true
	depth := o.depth
	for _, p := range m.Parts {
		o.depth = depth
		if err := o.layer(p); err != nil {
			return err
		}
	}
	return nil
}

// part takes one part of the payload.
func (o *opening) part(e *entity.Entity) error {
	if len(o.m.Parts) == maxAttachments {
		return malformed(nil, "The message has more than %d parts.", maxAttachments)
	}
	body, err := o.decode(e.Get("Content-Transfer-Encoding"), e.Body)
	if isRoom(err) {
		return err
	}
	if err != nil {
		return malformed(err, "The transfer encoding of a part cannot be undone.")
	}
	o.m.Parts = append(o.m.Parts, Part{Type: e.ContentType().Word, Filename: e.Filename(), Body: body, EDI: o.leads(body)})
	return nil
}

// required holds the message against what the partner's have to be.
func (o *opening) required() error {
	if o.m.Report != nil {
		return nil // who sends MDNs is for who asked for them to judge
	}
	switch rules := o.Partner.AS2; {
	case rules.EncryptionNeeded && !o.m.Encrypted:
		return fault(insufficientSecurity, nil, "The message is not encrypted, and has to be.")
	case rules.SignatureRequired && !o.m.Signed:
		f := fault(insufficientSecurity, nil, "The message is not signed, and has to be.")
		if o.m.Encrypted && !o.sealed {
			// Of CBC nobody knows whether it is what was encrypted: a recorded message whose
			// start was changed into a bare interchange would tell here that it is padded well.
			return cannotDecrypt(f)
		}
		return f
	}
	return nil
}

// check computes the MIC, RFC 4130 §7.3.1 and RFC 5402 §4: of a signed message over what
// was signed, by the signature's algorithm (§7.4.3); else over what was decrypted or
// decompressed, with its header; of a plain one over the body without one, by the first
// algorithm that the sender asks for.
func (o *opening) check(outer *entity.Entity, wanted Wanted) error {
	switch {
	case o.m.Signed && o.Partner.AS2.MICRequested && len(wanted.MICs) > 0:
	case o.m.Signed:
		o.m.MIC = MIC{o.m.digest, wanted.spelling(o.m.Hash, o.m.micalg)}
		return nil
	case o.m.checked == nil && (o.m.Encrypted || isCMS(outer.ContentType()) || outer.ContentType().Word == "multipart/signed"):
		return nil // it could not be opened
	}
	content := o.m.checked
	if content == nil {
		content = outer.Body
	}
	hash, name := wanted.mic()
	mic, err := micOver(hash, name, func(w io.Writer) error { _, err := w.Write(content); return err })
	if err != nil {
		return err
	}
	o.m.MIC = mic
	return nil
}

// withoutLoneLF gives text with every line end as CRLF, and whether that is another
// text: the canonical form of text, RFC 8551 §3.1.1.
func withoutLoneLF(text []byte) ([]byte, bool) {
	lone := 0
	for i, c := range text {
		if c == '\n' && (i == 0 || text[i-1] != '\r') {
			lone++
		}
	}
	if lone == 0 {
		return text, false
	}
	var b bytes.Buffer
	b.Grow(len(text) + lone)
	for i, c := range text {
		if c == '\n' && (i == 0 || text[i-1] != '\r') {
			b.WriteByte('\r')
		}
		b.WriteByte(c)
	}
	return b.Bytes(), true
}

// faultOf gives the fault that an error is.
func faultOf(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}
