"""Signs or verifies a SOAP message with signxml, for the interoperability test.

with_signxml.py verify CERT        reads a message, prints how many references fit
with_signxml.py sign KEY CERT METHOD   reads a message, puts a signature over #messaging and
                                  #body into its wsse:Security, writes it
"""
import sys

from lxml import etree
from signxml import (
    CanonicalizationMethod,
    DigestAlgorithm,
    SignatureConfiguration,
    SignatureMethod,
    XMLSigner,
    XMLVerifier,
    methods,
)

WSSE = "{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd}"
message = sys.stdin.buffer.read()

if sys.argv[1] == "verify":
    with open(sys.argv[2]) as f:
        certificate = f.read()
    results = XMLVerifier().verify(
        message,
        x509_cert=certificate,
        id_attribute="Id",
        expect_config=SignatureConfiguration(expect_references=2, require_x509=True),
    )
    print(len(results))
else:
    with open(sys.argv[2], "rb") as f:
        key = f.read()
    with open(sys.argv[3], "rb") as f:
        certificate = f.read()
    root = etree.fromstring(message)
    signature = XMLSigner(
        method=methods.detached,
        signature_algorithm=SignatureMethod[sys.argv[4]],
        digest_algorithm=DigestAlgorithm.SHA256,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    ).sign(root, key=key, cert=certificate, reference_uri=["#messaging", "#body"], id_attribute="Id")
    root.find(".//" + WSSE + "Security").append(signature)
    sys.stdout.buffer.write(etree.tostring(root))
