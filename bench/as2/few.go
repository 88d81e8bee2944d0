package main

// few are the combinations of -short, by their names: each sender, each step, each way of
// an MDN and each digest of signatures once at least, in both directions. The others vary
// them.
const few = `
pyas2: plain, sync MDN unsigned
pyas2: signed sha1, sync MDN sha1
pyas2: signed md5, sync MDN md5
pyas2: signed sha224, sync MDN sha224
pyas2: signed sha256, sync MDN sha256
pyas2: signed sha256, async MDN unsigned
pyas2: signed sha384, async MDN sha384
pyas2: compressed, signed sha512, encrypted aes128-cbc, sync MDN sha512
pyas2: compressed, signed sha256, encrypted aes128-cbc, async MDN sha256
pyas2: signed sha256, encrypted 3des, sync MDN sha256
pyas2: signed sha256, encrypted aes256-cbc, OAEP, sync MDN sha256
pyas2: signed sha256, encrypted aes128-cbc, no MDN
phase2: compressed, sync MDN sha256
phase2: signed sha256, PSS, sync MDN sha256
phase2: compressed, signed sha256, encrypted aes128-cbc, sync MDN sha256
phase2: encrypted aes128-cbc, sync MDN sha256
phase2: signed sha256, compressed last, encrypted aes256-gcm, sync MDN sha256
phase2: signed sha256, compressed last, encrypted aes256-gcm, sync MDN sha256, again
openssl: signed, detached
openssl: signed, without attributes
openssl: signed, encrypted AES-256-CBC in BER of indefinite length
openssl: signed, encrypted AES-256-GCM, OAEP with SHA-256
openssl: encrypted AES-256-GCM
edigw to phase2: signed sha384, encrypted none, MDN signed
edigw to phase2: signed sha256, encrypted aes256-cbc, OAEP, MDN signed
edigw to phase2: signed none, encrypted aes128-cbc, MDN signed
edigw to pyas2: compressed, signed sha256, encrypted aes128-cbc, MDN signed
edigw to pyas2: signed sha256, encrypted none, MDN unsigned
edigw acknowledges to pyas2: signed sha256, encrypted none, MDN signed brought
edigw acknowledges to phase2: signed sha256, encrypted aes128-cbc, MDN signed brought
`

// fetched are the arguments of the script that fetches the peers.
func (r *run) fetched() []string {
	if r.short {
		return []string{r.dir, "pyas2", "phase2"}
	}
	return []string{r.dir}
}
