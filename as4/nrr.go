package as4

import (
	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
	"github.com/edigw/edigw/as4/wssec"
)

// ReceiptSignal is an eb:Receipt as a partner sent it.
type ReceiptSignal struct {
	// References are those of its NonRepudiationInformation; none where it has none.
	References []wssec.Reference
}

func ebbp(local string) infoset.Name { return infoset.Name{Space: nsEBBP, Local: local} }

// receipt reads what a receipt names of what was received: AS4 profile §5.1.8.
func (r *reader) receipt(e *etree.Element) *ReceiptSignal {
	s := &ReceiptSignal{}
	information, err := infoset.Child(e, ebbp("NonRepudiationInformation"))
	if err != nil {
		r.fail(InvalidHeader, "eb:Receipt: %v", err)
	}
	if information == nil || r.err != nil {
		return s // to an unsigned message it is a copy of the header, or anything
	}
	for _, part := range infoset.Children(information, ebbp("MessagePartNRInformation")) {
		ref, err := infoset.Only(part, infoset.Name{Space: nsDSIG, Local: "Reference"})
		if err != nil {
			r.fail(InvalidHeader, "ebbp:MessagePartNRInformation: %v", err)
			return s
		}
		reference, err := wssec.ParseReference(ref)
		if err != nil {
			r.fail(InvalidHeader, "a ds:Reference of the receipt cannot be read: %v", err)
			return s
		}
		s.References = append(s.References, reference)
	}
	return s
}

// nonRepudiation writes what was received: one entry for each reference of the
// request's signature. MessagePartIdentifier is not used (AS4 profile §5.1.8).
func nonRepudiation(of *etree.Element, references []wssec.Reference) {
	information := of.CreateElement("ebbp:NonRepudiationInformation")
	information.CreateAttr("xmlns:ebbp", nsEBBP)
	for _, ref := range references {
		part := information.CreateElement("ebbp:MessagePartNRInformation")
		part.AddChild(ref.Element())
	}
}
