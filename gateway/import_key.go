package gateway

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/edigw/edigw/dedup"
	"github.com/edigw/edigw/edi"
	"github.com/edigw/edigw/partners"
)

// interchangeKey takes the key of an interchange as edigw writes it, if the
// partner's settings make such keys: under another one nothing would be found.
func (k *known) interchangeKey(id string, p *partners.Partner) error {
	s := shape(p.Policy)
	k.key = dedup.Ref{Partner: p.ID, ID: id}
	if digest, ok := strings.CutPrefix(id, "sha256:"); ok {
		b, err := hex.DecodeString(digest)
		switch {
		case err != nil || len(b) != 32 || digest != strings.ToLower(digest):
			return rowFault("message_id", "sha256: is followed by 64 hex digits, in small letters")
		case s.ControlReference != "unreliable": // of a key that is too long
			return nil
		case k.digest != nil && *k.digest != [32]byte(b):
			return rowFault("payload_sha256", "is another than the key's, which is the payload's digest with control_reference: unreliable")
		}
		k.digest = (*[32]byte)(b)
		return nil
	}
	if s.ControlReference == "unreliable" {
		return rowFault("message_id", "keys of %s are sha256: and the payload's digest, since its control_reference is unreliable", p.ID)
	}
	if len(id) > dedup.MaxKey {
		return rowFault("message_id", "has %d bytes; keys of more than %d are written as sha256: of themselves", len(id), dedup.MaxKey)
	}
	parts, ok := splitKey(id)
	if !ok {
		return rowFault("message_id", `ends in the middle of an escape: \ stands before : and \ within a value`)
	}
	want := 6
	if s.ControlReference == "unique_per_day" {
		want++
	}
	ic := edi.Interchange{Syntax: "edifact"}
	switch parts[0] {
	case "unb":
		if s.IncludeApplication {
			want++
		}
	case "isa":
		ic.Syntax = "x12"
	default:
		return rowFault("message_id", "the key of an interchange begins with unb:, isa: or sha256:, not %q", parts[0])
	}
	if len(parts) == want+1 && parts[1] == "test" {
		ic.Test, parts = true, slices.Delete(parts, 1, 2)
	}
	if len(parts) != want {
		return rowFault("message_id", "has %d parts where keys of %s have %d: %s", len(parts), p.ID, want, shapeInWords(parts[0], s))
	}
	ic.Sender, ic.Recipient = edi.Party{ID: parts[1], Qualifier: parts[2]}, edi.Party{ID: parts[3], Qualifier: parts[4]}
	if ic.Syntax == "x12" {
		ic.Sender, ic.Recipient = edi.Party{ID: parts[2], Qualifier: parts[1]}, edi.Party{ID: parts[4], Qualifier: parts[3]}
	}
	ic.ControlReference = parts[5]
	if s.IncludeApplication && ic.Syntax != "x12" {
		ic.ApplicationReference = parts[6]
	}
	if s.ControlReference == "unique_per_day" {
		ic.Date = parts[want-1]
		if day, err := dayOf(ic.Date); err != nil || day != ic.Date {
			return rowFault("message_id", "ends in %q where keys of %s have the interchange's date as CCYYMMDD", ic.Date, p.ID)
		}
	}
	if ic.Syntax == "x12" && (len(ic.ControlReference) != 9 || !digits(ic.ControlReference)) {
		return rowFault("message_id", "ISA13 has nine digits in a key, not %q", ic.ControlReference)
	}
	if err := speaks(p, ic.Sender, "message_id"); err != nil {
		return err
	}
	if again := dedup.InterchangeKey(&ic, s); again != id {
		return rowFault("message_id", "is not written as edigw writes it, which is %s", again)
	}
	return nil
}

func shapeInWords(syntax string, s dedup.Shape) string {
	words := "unb:[test:]sender:qualifier:recipient:qualifier:reference"
	if syntax == "isa" {
		words = "isa:[test:]qualifier:sender:qualifier:recipient:reference"
	} else if s.IncludeApplication {
		words += ":application reference"
	}
	if s.ControlReference == "unique_per_day" {
		words += ":date as CCYYMMDD"
	}
	return words
}

// transportKey takes the key of a transport id as edigw writes it.
func (k *known) transportKey(id string, p *partners.Partner) error {
	k.key = dedup.Ref{Partner: p.ID, ID: id}
	if digest, ok := strings.CutPrefix(id, "sha256:"); ok {
		if b, err := hex.DecodeString(digest); err != nil || len(b) != 32 || digest != strings.ToLower(digest) {
			return rowFault("message_id", "sha256: is followed by 64 hex digits, in small letters")
		}
		return nil
	}
	if len(id) > dedup.MaxKey {
		return rowFault("message_id", "has %d bytes; keys of more than %d are written as sha256: of themselves", len(id), dedup.MaxKey)
	}
	parts, ok := splitKey(id)
	if !ok || len(parts) != 3 || !slices.Contains(transportWords, parts[0]) || parts[1] == "" || parts[2] == "" {
		return rowFault("message_id", `the key of a transport id is as2:TO:ID, as4:TO:ID or http:ORGANISATION:ID, with \ before : and \ within a value`)
	}
	if again := dedup.TransportKey(parts[0], parts[1], parts[2]); again != id {
		return rowFault("message_id", "is not written as edigw writes it, which is %s", again)
	}
	return nil
}

// splitKey gives the parts of a key, their escapes resolved.
func splitKey(id string) (parts []string, ok bool) {
	var part strings.Builder
	for i := 0; i < len(id); i++ {
		switch c := id[i]; c {
		case ':':
			parts = append(parts, part.String())
			part.Reset()
		case '\\':
			if i++; i == len(id) {
				return nil, false
			}
			if id[i] == 'x' { // a control character
				if i+2 >= len(id) {
					return nil, false
				}
				b, err := hex.DecodeString(id[i+1 : i+3])
				if err != nil {
					return nil, false
				}
				part.Write(b)
				i += 2
				continue
			}
			part.WriteByte(id[i])
		default:
			part.WriteByte(c)
		}
	}
	return append(parts, part.String()), true
}
