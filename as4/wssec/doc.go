// Package wssec is the message security of AS4: WS-Security 1.1 with the X.509
// token profile and the SOAP with attachments profile (SwA), as the eDelivery
// Common Profile 1.15 and 2.0 and Peppol narrow them. XML signatures cover
// eb:Messaging, the SOAP Body and every part; encryption is of parts alone.
//
// Receiving goes Read, then Envelope.Decrypt, then Envelope.Verify; what Verify
// gives back is what may be used. Sending is Outgoing.Secure. Parts are streamed:
// neither direction holds one in memory, and a decrypted part is no second copy
// but a reader over the first.
//
// Algorithms, transforms and token references are closed lists, and what is
// outside them is refused by its name. SHA-1, CBC and RSAES-PKCS1-v1_5 are not
// among them; a partner's settings may add the first two. It does not do
// UsernameToken, Kerberos or SAML tokens, XPath, XSLT or any other transform, and
// does not decide whom to trust: that is Verification.Signer.
package wssec
