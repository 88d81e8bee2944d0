package main

import (
	"slices"
	"strings"

	"github.com/edigw/edigw/as4"
	"github.com/edigw/edigw/partners"
	"github.com/edigw/edigw/partners/keys"
	"github.com/edigw/edigw/web"
)

// ours says where our certificate for a purpose is on the sheet, or that there is none.
func (s *sheetTold) ours(purpose string) string {
	for _, k := range s.Ours {
		if slices.Contains(k.Purposes, purpose) {
			return "our certificate \"" + k.Label + "\" below"
		}
	}
	return "our certificate for " + purpose + ", which is not made yet: ask us"
}

// quotedNames shows AS2 names, which may hold blanks and what parts the cells of a table.
func quotedNames(list []string) string {
	return "`" + strings.ReplaceAll(strings.Join(list, "`, `"), "|", `\|`) + "`"
}

// as2 tells what is agreed for AS2: what docs/reference/cms.md has, in the words of
// products.
func (s *sheetTold) as2(line func(format string, args ...any)) {
	v := s.AS2
	still := func(algorithms ...string) string {
		var taken []string
		for _, a := range algorithms {
			if slices.Contains(v.OldAlgorithms, a) {
				taken = append(taken, strings.ToUpper(a))
			}
		}
		if taken == nil {
			return ""
		}
		return "; still taken: " + strings.Join(taken, ", ")
	}
	ended := ". The certificate has to be within its time: send us the next one before"
	if v.Expired {
		ended = ". A certificate that has ended is still taken"
	}
	line("\n## Over AS2\n\n| | |\n|---|---|")
	line("| Send to | `POST %s` |", v.URL)
	line("| Your names (AS2-From) | %s |", quotedNames(v.From))
	line("| Our names (AS2-To) | %s |", quotedNames(v.To))
	line("| Signature | %s, by one of your certificates for as2_sign below. SHA-256, SHA-384, SHA-512%s. RSA (PKCS #1 v1.5 or PSS) with a key of %d bits or more, or ECDSA%s |", v.Signature, still("sha1", "sha224", "md5"), v.RSABits, ended)
	needed, modes := v.Encryption, "CBC or GCM"+still("3des")
	if v.Encryption == "authenticated" {
		needed, modes = "required", "GCM, and not CBC"
	}
	line("| Encryption | %s, to %s. AES-128, AES-192, AES-256 in %s. The key by RSA PKCS #1 v1.5 or RSA-OAEP |", needed, s.ours(keys.AS2Decrypt), modes)
	line("| Compression | as you like: zlib, before or after signing |")
	line("| Content | `application/EDIFACT`, `application/EDI-X12` or any other type; no Content-Transfer-Encoding means binary; the file name goes with it in Content-Disposition |")
	digest := "the first algorithm of yours that we know, SHA-256 if you name none"
	if v.MDNDigest != partners.AS2Requested {
		digest = strings.ToUpper(v.MDNDigest)
	}
	if v.PSS {
		digest += ", by RSASSA-PSS where the key is RSA"
	}
	line("| MDN | ask for one, signed: it is signed by %s with %s |", s.ours(keys.AS2Sign), digest)
	check := "by the algorithm of your signature"
	if v.MIC != "signature" {
		check = "by the first algorithm of signed-receipt-micalg that we know"
	}
	line("| Received-content-MIC | of signed messages %s; of compressed ones that are not signed over %s |", check, compressedMICs[v.CompressedMIC])
	if len(v.MDNHosts) > 0 {
		line("| Asynchronous MDN | may go to %s |", strings.Join(v.MDNHosts, ", "))
	} else {
		line("| Asynchronous MDN | not agreed: tell us the host it goes to. Until then the MDN is in the response |")
	}
	if w := v.Sends; w != nil {
		line("| We send to you | `POST %s` as AS2-From `%s` to AS2-To `%s`: %s |", w.URL, w.From, w.To, securedAS2(w, v.PSS))
	}
	line("\nWait for two minutes at least for the response. Where the connection breaks, nothing comes, or the status is 408 or 500 and more, send the same content again under the same Message-ID: after 5, 10, 20, 40 minutes and so on, for up to %d days. It is processed once, and answered as the first time. An MDN is final: after `processed/error` send what was changed under a new Message-ID.", s.Limits.RetryDays)
}

// compressedMICs say over what the check of a message is that is compressed and not signed.
var compressedMICs = map[string]string{
	partners.AS2MICOfEntity:     "what you compressed, with its MIME header (RFC 5402 §4.2)",
	partners.AS2MICOfBody:       "what you compressed, without its MIME header",
	partners.AS2MICOfCompressed: "the compressed part",
}

// securedAS2 says how what we send is protected, and acknowledged.
func securedAS2(w *web.SheetAS2Send, pss bool) string {
	words := []string{"not signed", "not encrypted", "no MDN"}
	if w.Signature != "none" {
		words[0] = "signed with " + w.Signature
		if pss {
			words[0] += ", an RSA key by RSASSA-PSS"
		}
	}
	if w.Encryption != "none" {
		words[1] = "encrypted with " + w.Encryption + ", the key by " + w.KeyEncryption
	}
	if w.MDN != "none" {
		words[2] = w.MDN + " MDN"
		if w.MDNTo != "" {
			words[2] += ", which we want at " + w.MDNTo
		}
	}
	if w.Compression {
		words = append([]string{"compressed"}, words...)
	}
	return strings.Join(words, "; ")
}

// as4Tokens say how a signature of ours names its certificate: WSS X.509 token profile
// §3.2, by partners.AS4Tokens.
var as4Tokens = map[string]string{
	"bst": "a BinarySecurityToken (X509v3)", "pkipath": "a BinarySecurityToken (X509PKIPathv1)",
	"ski": "its SubjectKeyIdentifier", "issuer-serial": "its issuer and serial number",
}

// as4 tells what is agreed for AS4: what docs/reference/as4-security.md has, of the
// profile.
func (s *sheetTold) as4(line func(format string, args ...any)) {
	v := s.AS4
	typed := func(value, kind string) string {
		if kind == "" {
			return "`" + value + "`, without a type"
		}
		return "`" + value + "`, type `" + kind + "`"
	}
	party := func(p partners.AS4Party) string {
		text := typed(p.ID, p.Type)
		if p.Role != "" {
			text += ", role `" + p.Role + "`"
		}
		return text
	}
	serviced := func(v partners.AS4Service) string {
		text := typed(v.Service, v.Type)
		if v.Action == "" {
			return text + ", any action"
		}
		return text + ", action `" + v.Action + "`"
	}
	line("\n## AS4 (%s)\n", v.Profile)
	line("| | |\n|---|---|")
	line("| Push to | `POST %s` |", v.URL)
	line("| eb:From | %s |", party(v.From))
	line("| eb:To | %s |", party(v.To))
	if v.Agreement != "" {
		line("| eb:AgreementRef | %s |", typed(v.Agreement, v.AgreementType))
	} else {
		line("| eb:AgreementRef | none |")
	}
	for _, each := range v.Services {
		line("| eb:Service | %s |", serviced(each))
	}
	if len(v.Services) == 0 {
		line("| eb:Service | any |")
	}
	if v.MPC != "" { // else the default one
		line("| MPC | `%s` |", v.MPC)
	}
	line("| Payloads | one or more, each a MIME part of its own with its property MimeType; gzip (`application/gzip` and CompressionType) as you like |")
	old := ""
	if v.SHA1 {
		old = "; SHA-1 is still taken"
	}
	line("| Signed | by one of your certificates for as4_sign below, over eb:Messaging, Body and every part: %s. RSA keys of %d bits or more, EC keys of 256%s |", strings.Join(v.Signatures, ", "), v.RSABits, old)
	encrypted, by := "as you like", "RSA-OAEP (SHA-256, MGF1 with SHA-256) to an RSA certificate, X25519 or ECDH-ES with HKDF and AES key wrap to another"
	if v.Encrypted {
		encrypted = "always"
	}
	if v.CBC {
		by += "; CBC is still taken"
	}
	line("| Encrypted | %s, to %s: AES-128-GCM or longer, its key by %s |", encrypted, s.ours(keys.AS4Decrypt), by)
	line("| Receipt | in the response, with non-repudiation information, signed by %s, which it names by %s |", s.ours(keys.AS4Sign), as4Tokens[v.Token])
	if v.Errors == partners.AS4AsFault {
		line("| Errors | an eb:Error with a SOAP Fault, status 400 |")
	} else {
		line("| Errors | an eb:Error, status 200 |")
	}
	line("| To try | service `%s`, action `%s`: answered with a receipt, and never delivered |", as4.TestService, as4.TestAction)
	if w := v.Sends; w != nil {
		how := "uncompressed"
		if w.Compression {
			how = "with gzip"
		}
		line("| We push to you | `POST %s`, eb:From and eb:To the other way round, as %s, signed and encrypted, %s |", w.URL, serviced(w.Reply), how)
	}
	line("\nWait for two minutes at least for the response. Where the connection breaks, nothing comes, or the status is 503 (with EBMS:0202) or another of 500 and more, send the message again under the same eb:MessageId, for up to %d days: it is processed once, and has its receipt each time. Any other eb:Error is final: what was changed goes under a new eb:MessageId.", s.Limits.RetryDays)
}
