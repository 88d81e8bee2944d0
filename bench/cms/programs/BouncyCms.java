// Makes and opens CMS by Bouncy Castle, which OpenAS2, phase2 and mendelson are built
// on, for ../bouncy.go.
//
//   make DIR   writes a message of every kind into DIR, and a line for each
//   open DIR   opens those that DIR/ours names, and tells "ok" or why not of each
//
// DIR holds content, and for each of rsa, p256, p384 and ed25519 a .key (PKCS #8) and
// a .crt, all in DER. Lines are fields with tabs between them.
import java.io.*;
import java.nio.file.*;
import java.security.*;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.*;
import java.util.*;
import org.bouncycastle.asn1.*;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.*;
import org.bouncycastle.asn1.x509.*;
import org.bouncycastle.cert.jcajce.*;
import org.bouncycastle.cms.*;
import org.bouncycastle.cms.jcajce.*;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.*;
import org.bouncycastle.operator.jcajce.*;
import org.bouncycastle.util.Store;

public class BouncyCms {
    static Path dir;
    static byte[] content;
    static Map<String, X509Certificate> certificates = new HashMap<>();
    static Map<String, PrivateKey> keys = new HashMap<>();

    public static void main(String[] args) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        dir = Paths.get(args[1]);
        content = Files.readAllBytes(dir.resolve("content"));
        for (String name : List.of("rsa", "p256", "p384", "ed25519")) {
            certificates.put(name, (X509Certificate) CertificateFactory.getInstance("X.509", "BC")
                .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(dir.resolve(name + ".crt")))));
            String kind = name.equals("rsa") ? "RSA" : name.startsWith("p") ? "EC" : "Ed25519";
            keys.put(name, KeyFactory.getInstance(kind, "BC").generatePrivate(new PKCS8EncodedKeySpec(Files.readAllBytes(dir.resolve(name + ".key")))));
        }
        if (args[0].equals("make")) {
            sign();
            encrypt();
            compress();
            return;
        }
        for (String line : Files.readAllLines(dir.resolve("ours"))) {
            String[] f = line.split("\t");
            String said;
            try {
                said = Arrays.equals(content, open(f[0], f[1], Files.readAllBytes(dir.resolve(f[2])))) ? "ok" : "other content";
            } catch (Exception e) {
                said = String.valueOf(e).replaceAll("[\t\r\n]", " ");
            }
            System.out.println(f[2] + "\t" + said);
        }
    }

    static int made;

    // made writes a message: its kind, whose it is, and what it is, for people.
    static void made(String kind, String who, String what, byte[] der) throws IOException {
        String file = "bc" + made++;
        Files.write(dir.resolve(file), der);
        System.out.println(String.join("\t", kind, who, file, what));
    }

    static void sign() throws Exception {
        Map<String, List<String>> algorithms = new TreeMap<>(Map.of(
            "rsa", List.of("MD5withRSA", "SHA1withRSA", "SHA224withRSA", "SHA256withRSA", "SHA384withRSA", "SHA512withRSA", "SHA512(256)withRSA", "SHA3-256withRSA",
                "SHA1withRSAandMGF1", "SHA256withRSAandMGF1", "SHA384withRSAandMGF1", "SHA512withRSAandMGF1", "SHA3-256withRSAandMGF1"),
            "p256", List.of("SHA1withECDSA", "SHA224withECDSA", "SHA256withECDSA", "SHA384withECDSA", "SHA512withECDSA", "SHA3-256withECDSA", "SHA3-512withECDSA"),
            "p384", List.of("SHA384withECDSA"),
            "ed25519", List.of("Ed25519")));
        for (String who : algorithms.keySet()) {
            for (String algorithm : algorithms.get(who)) {
                for (int i = 0; i < 8; i++) {
                    boolean direct = (i & 1) == 1, keyId = (i & 2) == 2, attached = (i & 4) == 4;
                    ContentSigner signer = new JcaContentSignerBuilder(algorithm).setProvider("BC").build(keys.get(who));
                    SignerInfoGeneratorBuilder b = new SignerInfoGeneratorBuilder(new JcaDigestCalculatorProviderBuilder().setProvider("BC").build()).setDirectSignature(direct);
                    JcaX509CertificateHolder holder = new JcaX509CertificateHolder(certificates.get(who));
                    SignerInfoGenerator g = keyId ? b.build(signer, holder.getExtension(Extension.subjectKeyIdentifier) == null ? new byte[0]
                        : ASN1OctetString.getInstance(holder.getExtension(Extension.subjectKeyIdentifier).getParsedValue()).getOctets()) : b.build(signer, holder);
                    String what = algorithm + (direct ? ", no attributes" : "") + (keyId ? ", key identifier" : "");
                    CMSSignedDataGenerator all = new CMSSignedDataGenerator();
                    all.addSignerInfoGenerator(g);
                    all.addCertificates(new JcaCertStore(List.of(certificates.get(who))));
                    made("signed-data", who, what + (attached ? ", attached" : ""), all.generate(new CMSProcessableByteArray(content), attached).getEncoded());
                    if (attached) {
                        CMSSignedDataStreamGenerator stream = new CMSSignedDataStreamGenerator();
                        stream.setBufferSize(16);
                        stream.addSignerInfoGenerator(g);
                        ByteArrayOutputStream out = new ByteArrayOutputStream();
                        try (OutputStream to = stream.open(out, true)) {
                            to.write(content);
                        }
                        made("signed-data", who, what + ", stream", out.toByteArray());
                    }
                }
            }
        }
    }

    interface To { RecipientInfoGenerator make() throws Exception; }

    static void encrypt() throws Exception {
        Map<String, ASN1ObjectIdentifier> ciphers = new LinkedHashMap<>();
        ciphers.put("3des", CMSAlgorithm.DES_EDE3_CBC);
        ciphers.put("aes128-cbc", CMSAlgorithm.AES128_CBC);
        ciphers.put("aes192-cbc", CMSAlgorithm.AES192_CBC);
        ciphers.put("aes256-cbc", CMSAlgorithm.AES256_CBC);
        ciphers.put("aes128-gcm", CMSAlgorithm.AES128_GCM);
        ciphers.put("aes192-gcm", CMSAlgorithm.AES192_GCM);
        ciphers.put("aes256-gcm", CMSAlgorithm.AES256_GCM);
        ciphers.put("aes128-ccm", CMSAlgorithm.AES128_CCM);
        ciphers.put("aes256-ccm", CMSAlgorithm.AES256_CCM);
        X509Certificate rsa = certificates.get("rsa");
        Map<String, To> ways = new LinkedHashMap<>();
        ways.put("rsa\tPKCS #1", () -> new JceKeyTransRecipientInfoGenerator(rsa).setProvider("BC"));
        ways.put("rsa\tPKCS #1, key identifier", () -> new JceKeyTransRecipientInfoGenerator(
            new JcaX509ExtensionUtils().createSubjectKeyIdentifier(rsa.getPublicKey()).getKeyIdentifier(), rsa.getPublicKey()).setProvider("BC"));
        for (String[] hash : new String[][] {{"SHA-1", "SHA-1"}, {"SHA-256", "SHA-256"}, {"SHA-256", "SHA-1"}, {"SHA-512", "SHA-384"}}) {
            ways.put("rsa\tOAEP " + hash[0] + ", mask by " + hash[1], () -> new JceKeyTransRecipientInfoGenerator(rsa,
                new JcaAlgorithmParametersConverter().getAlgorithmIdentifier(PKCSObjectIdentifiers.id_RSAES_OAEP,
                    new javax.crypto.spec.OAEPParameterSpec(hash[0], "MGF1", new MGF1ParameterSpec(hash[1]),
                        new javax.crypto.spec.PSource.PSpecified("label".getBytes())))).setProvider("BC"));
        }
        Object[][] agreements = {
            {"p256", CMSAlgorithm.ECDH_SHA1KDF, CMSAlgorithm.AES128_WRAP}, {"p256", CMSAlgorithm.ECDH_SHA256KDF, CMSAlgorithm.AES256_WRAP},
            {"p384", CMSAlgorithm.ECDH_SHA384KDF, CMSAlgorithm.AES192_WRAP}, {"p384", CMSAlgorithm.ECDH_SHA512KDF, CMSAlgorithm.DES_EDE3_WRAP},
            {"p256", CMSAlgorithm.ECCDH_SHA1KDF, CMSAlgorithm.AES128_WRAP}, {"p256", CMSAlgorithm.ECCDH_SHA256KDF, CMSAlgorithm.AES256_WRAP}};
        for (Object[] a : agreements) {
            for (boolean ukm : new boolean[] {false, true}) {
                ways.put(a[0] + "\tECDH " + a[1] + ", wrap " + a[2] + (ukm ? ", keying material" : ""), () -> {
                    // An ephemeral key, as a sender who has none of the recipient's curve makes it.
                    X509Certificate to = certificates.get(a[0]);
                    KeyPairGenerator pairs = KeyPairGenerator.getInstance("EC", "BC");
                    pairs.initialize(new ECGenParameterSpec(a[0].equals("p256") ? "secp256r1" : "secp384r1"));
                    KeyPair pair = pairs.generateKeyPair();
                    JceKeyAgreeRecipientInfoGenerator g = new JceKeyAgreeRecipientInfoGenerator((ASN1ObjectIdentifier) a[1], pair.getPrivate(), pair.getPublic(), (ASN1ObjectIdentifier) a[2]);
                    g.addRecipient(to);
                    if (ukm) {
                        g.setUserKeyingMaterial("keying material".getBytes());
                    }
                    return g.setProvider("BC");
                });
            }
        }
        for (String way : ways.keySet()) {
            String who = way.split("\t")[0], by = way.split("\t")[1];
            for (String cipher : ciphers.keySet()) {
                boolean authenticates = !cipher.endsWith("cbc") && !cipher.equals("3des");
                CMSEnvelopedDataGenerator enveloped = new CMSEnvelopedDataGenerator();
                enveloped.addRecipientInfoGenerator(ways.get(way).make());
                OutputEncryptor e = new JceCMSContentEncryptorBuilder(ciphers.get(cipher)).setProvider("BC").build();
                made("enveloped-data", who, cipher + " by " + by, enveloped.generate(new CMSProcessableByteArray(content), e).getEncoded());
                CMSEnvelopedDataStreamGenerator stream = new CMSEnvelopedDataStreamGenerator();
                stream.setBufferSize(16);
                stream.addRecipientInfoGenerator(ways.get(way).make());
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                try (OutputStream to = stream.open(out, new JceCMSContentEncryptorBuilder(ciphers.get(cipher)).setProvider("BC").build())) {
                    to.write(content);
                }
                made("enveloped-data", who, cipher + " by " + by + ", stream", out.toByteArray());
                if (authenticates) {
                    CMSAuthEnvelopedDataGenerator g = new CMSAuthEnvelopedDataGenerator();
                    g.addRecipientInfoGenerator(ways.get(way).make());
                    g.setAuthenticatedAttributeGenerator(new SimpleAttributeTableGenerator(new org.bouncycastle.asn1.cms.AttributeTable(
                        new org.bouncycastle.asn1.cms.Attribute(org.bouncycastle.asn1.cms.CMSAttributes.contentType, new DERSet(PKCSObjectIdentifiers.data)))));
                    made("auth-enveloped-data", who, cipher + " by " + by, g.generate(new CMSProcessableByteArray(content),
                        (OutputAEADEncryptor) new JceCMSContentEncryptorBuilder(ciphers.get(cipher)).setProvider("BC").build()).getEncoded());
                }
            }
        }
    }

    static void compress() throws Exception {
        made("compressed-data", "", "zlib", new CMSCompressedDataGenerator().generate(new CMSProcessableByteArray(content), new org.bouncycastle.cms.jcajce.ZlibCompressor()).getEncoded());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CMSCompressedDataStreamGenerator g = new CMSCompressedDataStreamGenerator();
        g.setBufferSize(16);
        try (OutputStream to = g.open(out, new org.bouncycastle.cms.jcajce.ZlibCompressor())) {
            to.write(content);
        }
        made("compressed-data", "", "zlib, stream", out.toByteArray());
    }

    static byte[] open(String kind, String who, byte[] der) throws Exception {
        Recipient recipient = who.equals("rsa") ? new JceKeyTransEnvelopedRecipient(keys.get(who)).setProvider("BC") : null;
        switch (kind) {
        case "signed-data":
            CMSSignedData s = new CMSSignedData(new CMSProcessableByteArray(content), der);
            if (new CMSSignedData(der).getSignedContent() != null) {
                s = new CMSSignedData(der);
            }
            for (SignerInformation one : s.getSignerInfos()) {
                if (!one.verify(new JcaSimpleSignerInfoVerifierBuilder().setProvider("BC").build(certificates.get(who)))) {
                    throw new IOException("the signature does not verify");
                }
            }
            return (byte[]) s.getSignedContent().getContent();
        case "enveloped-data":
            RecipientInformation r = new CMSEnvelopedData(der).getRecipientInfos().iterator().next();
            return r.getContent(who.equals("rsa") ? recipient : new JceKeyAgreeEnvelopedRecipient(keys.get(who)).setProvider("BC"));
        case "auth-enveloped-data":
            RecipientInformation a = new CMSAuthEnvelopedData(der).getRecipientInfos().iterator().next();
            return a.getContent(who.equals("rsa") ? new JceKeyTransAuthEnvelopedRecipient(keys.get(who)).setProvider("BC")
                : new JceKeyAgreeAuthEnvelopedRecipient(keys.get(who)).setProvider("BC"));
        case "compressed-data":
            return new CMSCompressedData(der).getContent(new ZlibExpanderProvider());
        }
        throw new IOException("nobody knows " + kind);
    }
}
