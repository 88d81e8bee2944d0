package main

// few are the combinations of -short, by their names: each profile, each way to name a
// certificate, compression, several payloads, the test service and the same message again
// once at least, in both directions. The others vary them.
const few = `
phase4 to edigw: rsa: signed
phase4 to edigw: rsa: encrypted; compressed; again
phase4 to edigw: rsa: encrypted; compressed; signer by pkipath
phase4 to edigw: rsa: encrypted; compressed; signer by issuer-serial; key by issuer-serial
phase4 to edigw: rsa: encrypted; compressed; signer by ski; key by ski
phase4 to edigw: rsa384: encrypted; compressed
phase4 to edigw: rsa: encrypted; compressed; 10 payloads
phase4 to edigw: rsa: encrypted; a payload as text/plain, lines
phase4 to edigw: rsa: encrypted; compressed; a payload as application/xml
phase4 to edigw: rsa: no payload
phase4 to edigw: rsa: the test service; encrypted; compressed
phase4 to edigw: rsa: by Peppol's agreement and types; encrypted; compressed
phase4 to edigw: ed25519: encrypted; compressed; key by ski; signer by ski; again
phase4 to edigw: p256: encrypted; compressed; key by issuer-serial; signer by issuer-serial
edigw to phase4: rsa: signed
edigw to phase4: rsa: encrypted; compressed; 2 payloads
edigw to phase4: rsa: encrypted; compressed; signer by pkipath
edigw to phase4: rsa: by Peppol's agreement and types; encrypted; compressed
edigw to phase4: rsa: the test service; no payload
edigw to phase4: ed25519: encrypted; compressed; signer by ski
edigw to phase4: p256: encrypted; compressed
`
