package as2

import (
	"crypto"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Wanted is the MDN that a sender asks for: RFC 4130 §7.3.
type Wanted struct {
	MDN    bool   // Disposition-Notification-To stands there; its value says nothing
	Async  string // Receipt-Delivery-Option: where to; "" is in the answer
	Signed bool   // signed-receipt-protocol names pkcs7-signature

	// MICs are the algorithms of signed-receipt-micalg that are known, in the
	// sender's order and spelling.
	MICs []string

	// SignedRequired: pkcs7-signature is required, not only asked for.
	SignedRequired bool

	// What was required and is not known here: RFC 4130 §7.5.3. "" for nothing.
	UnknownProtocol, UnknownMICs string
}

// wantedOf reads the three fields.
//
// QUIRK: the options without Disposition-Notification-To ask for nothing: RFC 4130
// §7.3, which others answered all the same.
func wantedOf(h http.Header) Wanted {
	w := Wanted{MDN: h.Values("Disposition-Notification-To") != nil}
	if !w.MDN {
		return w
	}
	w.Async = strings.TrimSpace(h.Get("Receipt-Delivery-Option"))
	w.options(strings.Join(h.Values("Disposition-Notification-Options"), ";"))
	return w
}

// options reads Disposition-Notification-Options: parameters with a semicolon
// between, each an importance and its values with commas between.
//
// QUIRK: parameters come in any order and case, without an importance, with one
// for each value, with an empty one at the end.
func (w *Wanted) options(text string) {
	for parameter := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		required := false
		var values []string
		for v := range strings.SplitSeq(value, ",") {
			switch v = strings.Trim(v, " \t\r\n\""); strings.ToLower(v) {
			case "required":
				required = true
			case "", "optional":
			default:
				values = append(values, v)
			}
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "signed-receipt-protocol":
			w.protocol(values, required)
		case "signed-receipt-micalg":
			w.micalg(values, required)
		}
	}
}

func (w *Wanted) protocol(values []string, required bool) {
	for _, v := range values {
		switch strings.ToLower(v) {
		case "pkcs7-signature", "application/pkcs7-signature", "x-pkcs7-signature":
			w.Signed, w.SignedRequired = true, required
			return
		}
	}
	if required && len(values) > 0 {
		w.UnknownProtocol = strings.Join(values, ", ")
	}
}

func (w *Wanted) micalg(values []string, required bool) {
	for _, v := range values {
		if digestNamed(v) != 0 {
			w.MICs = append(w.MICs, v)
		}
	}
	if required && len(values) > 0 && len(w.MICs) == 0 {
		w.UnknownMICs = strings.Join(values, ", ")
	}
}

// mic gives the first algorithm asked for, RFC 4130 §7.3; SHA-1 if none was.
func (w Wanted) mic() (crypto.Hash, string) {
	if len(w.MICs) > 0 {
		return digestNamed(w.MICs[0]), w.MICs[0]
	}
	return crypto.SHA1, "sha1"
}

// spelling gives the sender's own name of an algorithm: as it asked for it, else as
// its Content-Type has it, else ours.
func (w Wanted) spelling(h crypto.Hash, micalg string) string {
	is := func(name string) bool { return digestNamed(name) == h }
	if i := slices.IndexFunc(w.MICs, is); i >= 0 {
		return w.MICs[i]
	}
	if is(micalg) {
		return micalg
	}
	return digestName(h)
}

// usualPort is that of a scheme, which need not be told: RFC 9110 §4.2.
var usualPort = map[string]string{"http": ":80", "https": ":443"}

// asyncURL says whether the address may be used: HTTP, of one of the hosts, without a
// name or password in it. The sender chose it, and the partner's settings decide.
func (w Wanted) asyncURL(hosts []string) (*url.URL, string) {
	u, err := url.Parse(w.Async)
	switch {
	case err != nil || !utf8.ValidString(w.Async):
		return nil, "is no address"
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "is neither http nor https"
	case u.User != nil:
		return nil, "holds a name or password"
	case !slices.ContainsFunc(hosts, func(h string) bool {
		return strings.EqualFold(h, u.Host) || strings.EqualFold(h+usualPort[u.Scheme], u.Host)
	}):
		return nil, "names a host that is not among the partner's mdn_hosts"
	}
	return u, ""
}
