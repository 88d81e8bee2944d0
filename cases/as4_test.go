package cases_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// overAS4 is what the situations assume of AS4: an agreement that takes messages
// without a signature, as their files are.
const overAS4 = `as4:
  profile: edelivery-1.15
  from: {id: talquist-ap, type: "urn:oasis:names:tc:ebcore:partyid-type:unregistered"}
  to: {id: nordhafen-ap, type: "urn:oasis:names:tc:ebcore:partyid-type:unregistered"}
  services: [{service: "urn:example:edi", action: SubmitInterchange}]
  unsigned: accept
  unencrypted: accept
`

// as4File is one request as it stands in testdata, and what is told.
type as4File struct {
	file  string
	told  string // receipt, error codes, fault with its SOAP code
	holds bool   // a transport key, with its interchange's: it was processed, or refused by what it says
	posts int    // documents
	ref   string // MessageId that errors refer to
}

// tries sends each file to a gateway of its own, twice.
func as4Tries(files ...as4File) (list []try) {
	for _, f := range files {
		list = append(list, try{name: f.file, settings: overAS4, files: []string{f.file}, run: func(t *testing.T, r *rig) {
			first := r.rawSOAP(f.file)
			r.holdsAS4(f, first)
			second := r.rawSOAP(f.file)
			r.holdsAS4(f, second)
			if f.told == "receipt" {
				if diff := gocmp.Diff(first, second); diff != "" {
					t.Errorf("the same bytes again are told otherwise:\n%s", diff)
				}
			}
		}})
	}
	return list
}

// rawSOAP sends a file byte for byte, as no HTTP client would, and reads the answer.
func (r *rig) rawSOAP(file string) rawAnswer {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		r.t.Fatal(err)
	}
	return r.rawSOAPBytes(b)
}

func (r *rig) rawSOAPBytes(b []byte) rawAnswer {
	r.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it was read to its end
	if _, err := c.Write(b); err != nil {
		r.t.Fatal(err)
	}
	w, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := io.ReadAll(w.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return rawAnswer{w.StatusCode, w.Header.Get("Content-Type"), string(body)}
}

type rawAnswer struct {
	Status      int
	ContentType string
	Body        string
}

var (
	as4Code = regexp.MustCompile(`errorCode="(EBMS:[0-9]{4})"`)
	as4Ref  = regexp.MustCompile(`refToMessageInError="([^"]*)"`)
)

func (r *rig) holdsAS4(f as4File, a rawAnswer) {
	r.t.Helper()
	if got := a.words(); got != f.told {
		r.t.Errorf("told %s, want %s\n%s", got, f.told, a.Body)
	}
	if !strings.HasPrefix(a.ContentType, "application/soap+xml") || a.Status >= 500 || !strings.Contains(a.Body, `S12:mustUnderstand="true"`) {
		r.t.Errorf("%d %s\n%s", a.Status, a.ContentType, a.Body)
	}
	ref := ""
	if m := as4Ref.FindStringSubmatch(a.Body); m != nil {
		ref = m[1]
	}
	if f.told != "receipt" && ref != f.ref {
		r.t.Errorf("the error refers to %q, want %q", ref, f.ref)
	}
	if keys := r.count(`select count(*) from inbox`); (keys > 0) != f.holds {
		r.t.Errorf("%d keys", keys)
	}
	if n := r.count(`select count(*) from document where state = 'live'`); n != f.posts {
		r.t.Errorf("%d documents, want %d", n, f.posts)
	}
}

// overTheWire are the situations of AS4.
var overTheWire = []situation{
	{number: 66, words: "UserMessage without MessageId", does: "EBMS:0009; no key is made up, and nothing is remembered",
		tries: as4Tries(as4File{file: "66-as4-no-messageid-a.http", told: "EBMS:0009"}, as4File{file: "66-as4-no-messageid-b.http", told: "EBMS:0009"})},
	{number: 68, words: "two UserMessages in one eb:Messaging", does: "EBMS:0003 for the whole; neither id is used up",
		tries: as4Tries(as4File{file: "68-as4-two-usermessages.http", told: "EBMS:0003"})},
	{number: 70, words: "compression and its property disagree",
		does: "a gzip file without the property is a payload that is no interchange: EBMS:0004; the property on what is not gzip, or on half of it: EBMS:0303, and the id is free; without the MimeType: EBMS:0003",
		tries: as4Tries(as4File{file: "70-as4-compression-mismatch-a.http", told: "EBMS:0004", holds: true, ref: "cmp-1@ap.talquist.example"},
			as4File{file: "70-as4-compression-mismatch-b.http", told: "EBMS:0303", ref: "cmp-2@ap.talquist.example"},
			as4File{file: "70-as4-compression-mismatch-c.http", told: "EBMS:0303", ref: "cmp-3@ap.talquist.example"},
			as4File{file: "70-as4-compression-mismatch-d.http", told: "receipt", holds: true, posts: 1},
			as4File{file: "70-as4-compression-mismatch-e.http", told: "EBMS:0003", ref: "cmp-5@ap.talquist.example"})},
	{number: 72, words: "spellings of Content-ID and href", does: "the href is percent-decoded, header names and brackets do not matter: a receipt; no such part: EBMS:0011",
		tries: as4Tries(as4File{file: "72-as4-cid-forms-a.http", told: "receipt", holds: true, posts: 1}, as4File{file: "72-as4-cid-forms-b.http", told: "receipt", holds: true, posts: 1},
			as4File{file: "72-as4-cid-forms-c.http", told: "receipt", holds: true, posts: 1}, as4File{file: "72-as4-cid-forms-d.http", told: "receipt", holds: true, posts: 1},
			as4File{file: "72-as4-cid-forms-e.http", told: "EBMS:0011", ref: "cid-5@ap.talquist.example"})},
	{number: 74, words: "no payload, or a part that nobody names", does: "EBMS:0010 without a payload; EBMS:0011 for a part that no PartInfo names, and nothing of the message is booked",
		tries: as4Tries(as4File{file: "74-as4-no-payload-a.http", told: "EBMS:0010", ref: "nop-1@ap.talquist.example"}, as4File{file: "74-as4-no-payload-b.http", told: "EBMS:0010", ref: "nop-2@ap.talquist.example"},
			as4File{file: "74-as4-no-payload-c.http", told: "EBMS:0010", ref: "nop-3@ap.talquist.example"}, as4File{file: "74-as4-no-payload-d.http", told: "EBMS:0011", ref: "nop-4@ap.talquist.example"})},
	{number: 76, words: "timestamps without zone, in the future, very old", does: "read as UTC without a zone; one in the future is taken, and the log warns; what is no time: EBMS:0009",
		tries: as4Tries(as4File{file: "76-as4-timestamps-a.http", told: "receipt", holds: true, posts: 1}, as4File{file: "76-as4-timestamps-b.http", told: "receipt", holds: true, posts: 1},
			as4File{file: "76-as4-timestamps-c.http", told: "receipt", holds: true, posts: 1}, as4File{file: "76-as4-timestamps-d.http", told: "EBMS:0009", ref: "ts-d@ap.talquist.example"})},
	{number: 78, words: "unknown action or service", does: "EBMS:0010 for an action that is not agreed, EBMS:0003 for a party that nobody knows; a SOAP Fault for what is no XML, or SOAP 1.1",
		tries: as4Tries(as4File{file: "78-as4-unknown-pmode-a.http", told: "EBMS:0010", ref: "pm-1@ap.talquist.example"}, as4File{file: "78-as4-unknown-pmode-b.http", told: "EBMS:0003", ref: "pm-2@ap.talquist.example"},
			as4File{file: "78-as4-unknown-pmode-c.http", told: "EBMS:0009, fault Sender"}, as4File{file: "78-as4-unknown-pmode-d.http", told: "EBMS:0009, fault VersionMismatch"})},
	{number: 80, words: "DOCTYPE in the envelope, a root part that is not first", does: "a SOAP Fault at the DOCTYPE; the parameter start is believed, and without it the first part is the root",
		tries: as4Tries(as4File{file: "80-as4-doctype-root-order-a.http", told: "EBMS:0009, fault Sender"}, as4File{file: "80-as4-doctype-root-order-b.http", told: "EBMS:0009, fault Sender"},
			as4File{file: "80-as4-doctype-root-order-c.http", told: "receipt", holds: true, posts: 1}, as4File{file: "80-as4-doctype-root-order-d.http", told: "receipt", holds: true, posts: 1})},
}
