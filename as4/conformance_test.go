package as4_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/gateway"
)

// The test assertions of the eDelivery conformance tests for the Common Profile
// (AS4_CP_TAnn) that concern a receiver, and those of a sender that our own sends by.
// TA02, TA14 and TA19 are of the two-way exchange push-and-push, of which we are one
// half: a reply of ours names the message that it answers. TA15, TA21 to TA25 are of
// the sender and its producer.
func TestConformance(t *testing.T) {
	text := interchange("REF1", "R-1", "100.00")
	for _, c := range []struct {
		id, says string
		settings string
		run      func(*testing.T, *rig)
	}{
		{"TA01", "a receipt with non-repudiation in the HTTP response, of status 2xx", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			if a := r.received(c); a.Status/100 != 2 || len(a.Signal.Receipt.References) != len(c.References) {
				t.Errorf("%d, %d references", a.Status, len(a.Signal.Receipt.References))
			}
		}},
		{"TA03", "one party in From and in To; of two the message is refused", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			wire := r.wireOf(c)
			if n := bytes.Count(wire, []byte("<eb:PartyId")); n != 2 {
				t.Errorf("%d parties in what we send", n)
			}
			two := bytes.Replace(wire, []byte("<eb:Role"), []byte("<eb:PartyId>other</eb:PartyId><eb:Role"), 1)
			if got := r.post(c.ContentType, two); got.told() != as4.ValueInconsistent || r.keys() != 0 {
				t.Errorf("%s, %d keys", got.told(), r.keys())
			}
		}},
		{"TA04", "payloads that are not compressed are taken, XML among them", "", func(t *testing.T, r *rig) {
			r.received(r.compose(message("m1"), as4.Bytes([]byte(text), "application/edifact")))
			if r.posted() != 1 {
				t.Errorf("%d documents", r.posted())
			}
			// XML is signed in its canonical form, and is no interchange.
			r.refused(r.compose(message("m2"), as4.Bytes([]byte("<?xml version='1.0'?>\r\n<a  b='1'/>"), "application/xml")), as4.OtherError)
		}},
		{"TA05", "the SOAP Body is empty, the payload is compressed in a part; a payload in the Body is refused", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			wire := r.wireOf(c)
			if !bytes.Contains(wire, []byte(`></S12:Body>`)) || bytes.Contains(wire, []byte("UNB+")) {
				t.Errorf("sent %s", wire)
			}
			full := bytes.Replace(wire, []byte("></S12:Body>"), []byte("><x/></S12:Body>"), 1)
			if got := r.post(c.ContentType, full); got.told() != as4.ValueInconsistent {
				t.Error(got.told())
			}
		}},
		{"TA06", "several payloads: each in a part of its own, in the order of PartInfo", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text), gzipped(interchange("REF2", "R-2", "2.00")), as4.Bytes([]byte(interchange("REF3", "R-3", "3.00")), "application/edifact"))
			r.received(c)
			if r.posted() != 3 || bytes.Count(r.wireOf(c), []byte("Content-ID:")) != 4 {
				t.Errorf("%d documents", r.posted())
			}
		}},
		{"TA08", "a hyperlink as payload: a synchronous error", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			link := bytes.Replace(r.wireOf(c), []byte(`href="cid:`), []byte(`href="https://talquist.example/`), 1)
			if got := r.post(c.ContentType, link); got.status != 200 || got.told() != as4.ExternalPayloadError || r.keys() != 0 {
				t.Errorf("%d %s", got.status, got.told())
			}
		}},
		{"TA09, TA10", "a receipt that was lost: the retry gets one, and one message is delivered", "", func(t *testing.T, r *rig) {
			for range 3 {
				r.received(r.compose(message("m1"), gzipped(text)))
			}
			if r.posted() != 1 {
				t.Errorf("%d documents", r.posted())
			}
		}},
		{"TA12", "signed by rsa-sha256 over sha256, of our certificate: Messaging by its id, the empty Body, every part", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text), gzipped(text))
			var got []string
			for _, ref := range c.References {
				kind, _, _ := strings.Cut(ref.URI, ":")
				got = append(got, kind)
				if ref.DigestMethod != "http://www.w3.org/2001/04/xmlenc#sha256" {
					t.Error(ref.DigestMethod)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff([]string{"#body", "#messaging", "cid", "cid"}, got); diff != "" {
				t.Error(diff)
			}
			if !bytes.Contains(r.wireOf(c), []byte(`"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"`)) {
				t.Error("another signature algorithm")
			}
		}},
		{"TA12", "a part that the signature does not cover is refused, named by a PartInfo that it covers or not", "unencrypted: accept", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			wire := r.wireOf(c)
			boundary := wire[:bytes.Index(wire, []byte("\r\n"))]
			more := slices.Concat(boundary, []byte("\r\nContent-ID: <more@x>\r\n\r\nUNB\r\n"), wire)
			if got := r.post(c.ContentType, more); got.told() != as4.ExternalPayloadError {
				t.Errorf("not named: %s", got.told())
			}
			signed, unsigned := as4.Bytes([]byte(text), "application/edifact"), as4.Bytes([]byte(interchange("REF2", "R-2", "2.00")), "application/edifact")
			signed.ContentID, unsigned.ContentID = "signed@x", "more@x"
			named := frame(signedOver(t, "m2", signed, unsigned), "Content-ID: <signed@x>\r\n\r\n"+text, "Content-ID: <more@x>\r\n\r\n"+interchange("REF2", "R-2", "2.00"))
			if got := r.post(framed, named); got.told() != as4.PolicyNoncompliance || !strings.Contains(got.body, `the part &quot;more@x&quot; is not covered by the signature`) && !strings.Contains(got.body, `the part "more@x" is not covered by the signature`) || r.keys() != 0 {
				t.Errorf("named: %s, %d keys\n%s", got.told(), r.keys(), got.body)
			}
			if got := r.post(framed, frame(signedOver(t, "m3", signed), "Content-ID: <signed@x>\r\n\r\n"+text)); got.told() != "receipt" {
				t.Errorf("without it: %s\n%s", got.told(), got.body)
			}
		}},
		{"TA13", "encrypted by aes128-gcm to the receiver's certificate", "", func(t *testing.T, r *rig) {
			wire := r.wireOf(r.compose(message("m1"), gzipped(text)))
			for _, uri := range []string{"http://www.w3.org/2009/xmlenc11#aes128-gcm", "http://www.w3.org/2009/xmlenc11#rsa-oaep", "http://www.w3.org/2009/xmlenc11#mgf1sha256"} {
				if !bytes.Contains(wire, []byte(`"`+uri+`"`)) {
					t.Errorf("%s is not used", uri)
				}
			}
		}},
		{"TA16, TA17", "a ping has a receipt with non-repudiation, and is never delivered", "", func(t *testing.T, r *rig) {
			for _, c := range []*as4.Composed{r.compose(message("p1", ping)), r.compose(message("p2", ping), gzipped(text))} { // BDEW pings with a payload
				if a := r.received(c); len(a.Signal.Receipt.References) != len(c.References) {
					t.Errorf("%d references", len(a.Signal.Receipt.References))
				}
			}
			if r.posted()+r.keys()+r.journal() != 0 {
				t.Errorf("%d documents, %d keys, %d journal rows", r.posted(), r.keys(), r.journal())
			}
			unsigned, err := as4.Compose(message("p3", ping), nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.refused(unsigned, as4.PolicyNoncompliance)
			forged, err := as4.Compose(message("p4", ping), nil, signedBy(mallory()), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.refused(forged, as4.FailedAuthentication)
		}},
		{"TA19", "any conversation is taken, the empty one too, and a reply names the message it answers", "", func(t *testing.T, r *rig) {
			for i, conversation := range []string{"", "c1", "a long conversation, with blanks"} {
				ref := fmt.Sprint("REF", i)
				r.received(r.compose(message("m"+ref, func(u *as4.UserMessage) {
					u.Collaboration.ConversationID, u.MessageInfo.RefToMessageID = conversation, "earlier@nordhafen"
				}), gzipped(interchange(ref, "R-"+ref, "1.00"))))
			}
			if r.posted() != 3 {
				t.Errorf("%d documents", r.posted())
			}
		}},
		{"TA26", "compressed without the property MimeType: a synchronous error", "", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			without := bytes.Replace(r.wireOf(c), []byte(`<eb:Property name="MimeType">application/edifact</eb:Property>`), nil, 1)
			if got := r.post(c.ContentType, without); got.told() != as4.ValueInconsistent || r.keys() != 0 {
				t.Errorf("%s, %d keys", got.told(), r.keys())
			}
		}},
		{"TA27, TA28", "the property CharacterSet is sent and taken", "", func(t *testing.T, r *rig) {
			for i, set := range []string{"UTF-16", "UTF-8"} {
				p := gzipped(interchange(fmt.Sprint("REF", i), fmt.Sprint("R-", i), "1.00"))
				p.CharacterSet = set
				c := r.compose(message(set), p)
				r.received(c)
				if !bytes.Contains(r.wireOf(c), []byte(`<eb:Property name="CharacterSet">`+set+`</eb:Property>`)) {
					t.Errorf("%s is not sent", set)
				}
			}
		}},
		{"TA29", "a CharacterSet that is none: a synchronous error", "", func(t *testing.T, r *rig) {
			p := gzipped(text)
			p.CharacterSet = "!utf*"
			r.refused(r.compose(message("m1"), p), as4.ValueInconsistent)
		}},
		{"TA30, TA31", "damaged compression: EBMS:0303 DecompressionFailure, failure, Communication, and the consumer can find it in the journal", "", func(t *testing.T, r *rig) {
			for _, b := range [][]byte{[]byte(text), zip(text)[:60], append(zip(text), "more"...), nil} {
				before := r.journal()
				a := r.refused(r.compose(message("m1"), saidToBeGzip(b)), as4.DecompressionFailure)
				if e := a.Signal.Errors[0]; e.Short != "DecompressionFailure" || e.Severity != "failure" || e.Category != "Communication" || r.journal() != before+1 {
					t.Errorf("%+v, %d journal rows", e, r.journal())
				}
			}
			if r.keys() != 0 {
				t.Errorf("%d keys", r.keys())
			}
		}},
		{"TA32, TA33", "one and several compressed payloads are delivered decompressed, in order", "", func(t *testing.T, r *rig) {
			var got string
			var parts []int64
			receive := r.handler.Receive
			r.handler.Receive = func(ctx context.Context, d *gateway.Delivery) (*gateway.Receipt, error) {
				b, err := d.Payload.Slice(0, d.Payload.Size())
				if err != nil {
					return nil, err
				}
				got, parts = string(b), d.Parts
				return receive(ctx, d)
			}
			second := interchange("REF2", "R-2", "2.00")
			r.received(r.compose(message("m1"), gzipped(text), gzipped(second)))
			if diff := cmp.Diff(text+second, got); diff != "" || len(parts) != 1 || parts[0] != int64(len(text)) || r.posted() != 2 {
				t.Errorf("parts %v, %d documents\n%s", parts, r.posted(), diff)
			}
		}},
		{"TA34", "compressed, then signed: a receipt", "unencrypted: accept", func(t *testing.T, r *rig) {
			c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, signedBy(talquist()), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.received(c)
		}},
		{"TA35", "signed, then compressed: a WS-Security fault", "unencrypted: accept\nerrors: fault", func(t *testing.T, r *rig) {
			c, err := as4.Compose(message("m1"), []as4.Payload{saidToBeGzip([]byte(text))}, signedBy(talquist()), nil)
			if err != nil {
				t.Fatal(err)
			}
			late := bytes.Replace(r.wireOf(c), []byte(text), zip(text), 1)
			if got := r.post(c.ContentType, late); got.told() != as4.FailedAuthentication+", fault Sender" || r.keys() != 0 {
				t.Error(got.told())
			}
		}},
		{"TA36", "compressed, then encrypted: a receipt", "unsigned: accept", func(t *testing.T, r *rig) {
			c, err := as4.Compose(message("m1"), []as4.Payload{gzipped(text)}, nil, encryptedTo(nordhafen()))
			if err != nil {
				t.Fatal(err)
			}
			r.received(c)
		}},
		{"TA37", "encrypted, then compressed: a WS-Security fault", "errors: fault", func(t *testing.T, r *rig) {
			c := r.compose(message("m1"), gzipped(text))
			wire := r.wireOf(c)
			from := bytes.LastIndex(wire, []byte("\r\n\r\n")) + 4
			to := bytes.LastIndex(wire, []byte("\r\n--"))
			late := slices.Concat(wire[:from], zip(string(wire[from:to])), wire[to:])
			if got := r.post(c.ContentType, late); got.told() != as4.FailedDecryption+", fault Sender" || r.keys() != 0 {
				t.Error(got.told())
			}
		}},
		{"TA38", "compressed, then encrypted and signed: a receipt", "", func(t *testing.T, r *rig) {
			r.received(r.compose(message("m1"), gzipped(text)))
		}},
		{"TA45", "three payloads stand in PartInfo in the order in which they were submitted", "", func(t *testing.T, r *rig) {
			var payloads []as4.Payload
			for _, id := range []string{"first@x", "second@x", "third@x"} {
				p := gzipped(interchange(id[:5], id, "1.00"))
				p.ContentID = id
				payloads = append(payloads, p)
			}
			c := r.compose(message("m1"), payloads...)
			var got []string
			for _, after := range strings.Split(string(r.wireOf(c)), `href="cid:`)[1:] {
				id, _, _ := strings.Cut(after, `"`)
				got = append(got, id)
			}
			if diff := cmp.Diff([]string{"first@x", "second@x", "third@x"}, got); diff != "" {
				t.Error(diff)
			}
			r.received(c)
		}},
	} {
		t.Run("AS4_CP_"+c.id+": "+c.says, func(t *testing.T) { c.run(t, newRig(t, c.settings)) })
	}
}
