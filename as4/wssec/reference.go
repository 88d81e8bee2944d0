package wssec

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/beevik/etree"

	"github.com/edigw/edigw/as4/infoset"
)

// attachmentContent signs a part's content without its header: SwA profile 1.1 §5.4.
const attachmentContent = "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform"

// maxTransforms bounds what one reference may ask for.
const maxTransforms = 4

// Reference is one ds:Reference of a signature, or of a receipt's
// NonRepudiationInformation.
type Reference struct {
	URI          string // as it stands: "#…" or "cid:…"
	Transforms   []Transform
	DigestMethod string // algorithm URI
	DigestValue  []byte
}

// Transform is one ds:Transform of a reference.
type Transform struct {
	Algorithm  string
	PrefixList string // of ec:InclusiveNamespaces; "" if there is none
}

// ParseReference reads a ds:Reference (XML Signature §4.4.3), such as that in a
// receipt's ebbp:MessagePartNRInformation. It does not judge the algorithms.
func ParseReference(e *etree.Element) (Reference, error) {
	var r Reference
	if !infoset.Is(e, ds("Reference")) {
		return r, fmt.Errorf("%s stands where ds:Reference is expected", e.FullTag())
	}
	if err := holds(e, ds("Transforms"), ds("DigestMethod"), ds("DigestValue")); err != nil {
		return r, err
	}
	var ok bool
	if r.URI, ok = infoset.Attr(e, plain("URI")); !ok {
		return r, errors.New("ds:Reference has no URI")
	}
	transforms, err := infoset.Child(e, ds("Transforms"))
	if err != nil {
		return r, err
	}
	if transforms != nil {
		if err := holds(transforms, ds("Transform")); err != nil {
			return r, err
		}
		for _, t := range transforms.ChildElements() {
			if len(r.Transforms) == maxTransforms {
				return r, fmt.Errorf("the reference %q has more than %d transforms", r.URI, maxTransforms)
			}
			transform, err := parseTransform(t)
			if err != nil {
				return r, err
			}
			r.Transforms = append(r.Transforms, transform)
		}
	}
	if r.DigestMethod, err = algorithm(e, ds("DigestMethod")); err != nil {
		return r, err
	}
	value, err := infoset.Only(e, ds("DigestValue"))
	if err != nil {
		return r, err
	}
	r.DigestValue, err = decoded(value)
	return r, err
}

// parseTransform reads a ds:Transform or a ds:CanonicalizationMethod, whose one
// parameter is ec:InclusiveNamespaces.
func parseTransform(e *etree.Element) (Transform, error) {
	var t Transform
	var ok bool
	if t.Algorithm, ok = infoset.Attr(e, plain("Algorithm")); !ok {
		return t, fmt.Errorf("%s has no Algorithm", e.FullTag())
	}
	inclusive := infoset.Name{Space: EXCC14N, Local: "InclusiveNamespaces"}
	if err := holds(e, inclusive); err != nil {
		return t, err
	}
	namespaces, err := infoset.Child(e, inclusive)
	if err != nil || namespaces == nil {
		return t, err
	}
	t.PrefixList, _ = infoset.Attr(namespaces, plain("PrefixList"))
	return t, nil
}

// holds is an error if e holds an element that is none of the names, or text.
func holds(e *etree.Element, names ...infoset.Name) error {
	for _, t := range e.Child {
		switch t := t.(type) {
		case *etree.Element:
			if name := infoset.NameOf(t); !slices.Contains(names, name) {
				return fmt.Errorf("%s holds %s, which is not allowed there", e.FullTag(), name)
			}
		case *etree.CharData:
			if strings.Trim(t.Data, " \t\r\n") != "" {
				return fmt.Errorf("%s holds text, which is not allowed there", e.FullTag())
			}
		}
	}
	return nil
}

// algorithm gives the Algorithm of the one child with a name.
func algorithm(e *etree.Element, name infoset.Name) (string, error) {
	c, err := infoset.Only(e, name)
	if err != nil {
		return "", err
	}
	uri, ok := infoset.Attr(c, plain("Algorithm"))
	if !ok {
		return "", fmt.Errorf("%s has no Algorithm", c.FullTag())
	}
	return uri, nil
}

// decoded gives the bytes of base64 text: XML Schema base64Binary, which may hold
// white space.
func decoded(e *etree.Element) ([]byte, error) {
	text, err := infoset.Text(e)
	if err != nil {
		return nil, err
	}
	return fromBase64(e.FullTag(), text)
}

func fromBase64(name, text string) ([]byte, error) {
	if strings.ContainsAny(text, " \t\r\n") {
		text = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(text)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not base64: %w", name, err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	return b, nil
}

// Element gives the reference as a ds:Reference that declares its namespaces
// itself, for a receipt.
func (r Reference) Element() *etree.Element {
	e := r.element()
	e.Attr = append([]etree.Attr{{Space: "xmlns", Key: "ds", Value: DSIG}}, e.Attr...)
	return e
}

// element gives the reference where the prefix ds is declared.
func (r Reference) element() *etree.Element {
	e := etree.NewElement("ds:Reference")
	e.CreateAttr("URI", r.URI)
	if len(r.Transforms) > 0 {
		transforms := e.CreateElement("ds:Transforms")
		for _, t := range r.Transforms {
			transforms.AddChild(t.element("ds:Transform"))
		}
	}
	e.CreateElement("ds:DigestMethod").CreateAttr("Algorithm", r.DigestMethod)
	e.CreateElement("ds:DigestValue").SetText(base64.StdEncoding.EncodeToString(r.DigestValue))
	return e
}

func (t Transform) element(tag string) *etree.Element {
	e := etree.NewElement(tag)
	e.CreateAttr("Algorithm", t.Algorithm)
	if t.PrefixList != "" {
		namespaces := e.CreateElement("ec:InclusiveNamespaces")
		namespaces.CreateAttr("xmlns:ec", EXCC14N)
		namespaces.CreateAttr("PrefixList", t.PrefixList)
	}
	return e
}

// canonical gives the reference as bytes that are equal for equal references, and
// for no others. They are stored as digests: a change lets stored receipts be made
// afresh.
func (r Reference) canonical() []byte {
	b := fmt.Appendf(nil, "%q %q %x", r.URI, r.DigestMethod, r.DigestValue)
	for _, t := range r.Transforms {
		b = fmt.Appendf(b, " %q %q", t.Algorithm, t.PrefixList)
	}
	return b
}

// Binding gives a digest over a set of references, whatever their order: the same
// for two signatures that the same receipt answers.
func Binding(references []Reference) [sha256.Size]byte {
	all := make([][]byte, len(references))
	for i, r := range references {
		sum := sha256.Sum256(r.canonical())
		all[i] = sum[:]
	}
	slices.SortFunc(all, bytes.Compare)
	return sha256.Sum256(bytes.Join(all, nil))
}

// Compare says what a receipt's references lack, or name otherwise, of those that
// were sent; nil if they are the same: each with its URI, digest method and digest.
// Transforms are not compared, which some receivers leave out of a receipt.
func Compare(sent, received []Reference) error {
	named := map[string]Reference{}
	for _, r := range received {
		if _, twice := named[r.URI]; twice {
			return fmt.Errorf("the receipt names %q twice", r.URI)
		}
		named[r.URI] = r
	}
	for _, s := range sent {
		r, ok := named[s.URI]
		switch {
		case !ok:
			return fmt.Errorf("the receipt does not name %q", s.URI)
		case r.DigestMethod != s.DigestMethod || !bytes.Equal(r.DigestValue, s.DigestValue):
			return fmt.Errorf("the receipt names %q with another digest than was sent", s.URI)
		}
		delete(named, s.URI)
	}
	for uri := range named {
		return fmt.Errorf("the receipt names %q, which was not sent", uri)
	}
	return nil
}
