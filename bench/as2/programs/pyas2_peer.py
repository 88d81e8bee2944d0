"""What the programs around pyas2lib share: the two parties with their keys."""
from pathlib import Path

from pyas2lib import Organization, Partner

CIPHERS = {
    "3des": "tripledes_192_cbc",
    "aes128-cbc": "aes_128_cbc",
    "aes192-cbc": "aes_192_cbc",
    "aes256-cbc": "aes_256_cbc",
}


def organisation(keys, party, name, mdn_url=None):
    pem = (Path(keys) / f"{party}.key.pem").read_bytes() + (Path(keys) / f"{party}.cert.pem").read_bytes()
    return Organization(as2_name=name, sign_key=pem, decrypt_key=pem, mdn_url=mdn_url, domain=party)


def partner(keys, party, name, **settings):
    pem = (Path(keys) / f"{party}.cert.pem").read_bytes()
    return Partner(as2_name=name, verify_cert=pem, encrypt_cert=pem, validate_certs=False, **settings)
