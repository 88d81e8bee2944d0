import com.helger.base.state.ETriState;
import com.helger.phase4.CAS4;
import com.helger.phase4.crypto.*;
import com.helger.phase4.model.*;
import com.helger.phase4.model.pmode.*;
import com.helger.phase4.model.pmode.leg.*;
import com.helger.phase4.wss.EWSSVersion;
import java.io.IOException;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.*;

/**
 * What two parties agree on to sign and encrypt: eDelivery AS4 1.15 (rsa) or 2.0 (ed25519, and
 * p256 of its elliptic curve profile), with keys from PEM files of the folder
 * party-suite-{sign,encrypt}.{key,cert}.pem and the issuer's in ca.cert.pem.
 */
enum Suite {
  RSA(ECryptoAlgorithmSign.RSA_SHA_256, "rsa", "RSA", "RSA"),
  RSA384(ECryptoAlgorithmSign.RSA_SHA_384, "rsa", "RSA", "RSA"),
  RSA512(ECryptoAlgorithmSign.RSA_SHA_512, "rsa", "RSA", "RSA"),
  ED25519(ECryptoAlgorithmSign.EDDSA_ED25519, "ed25519", "Ed25519", "X25519"),
  P256(ECryptoAlgorithmSign.ECDSA_SHA_256, "p256", "EC", "EC");

  final ECryptoAlgorithmSign sign;
  private final String keys, signKind, encryptKind;

  Suite(ECryptoAlgorithmSign sign, String keys, String signKind, String encryptKind) {
    this.sign = sign;
    this.keys = keys;
    this.signKind = signKind;
    this.encryptKind = encryptKind;
  }

  static Suite of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  X509Certificate certificate(Path dir, String party, String purpose) throws IOException, GeneralSecurityException {
    return read(dir.resolve(party + "-" + keys + "-" + purpose + ".cert.pem"));
  }

  AS4SigningParams signing(String token) {
    return new AS4SigningParams().setAlgorithmSign(sign)
        .setAlgorithmSignDigest(ECryptoAlgorithmSignDigest.DIGEST_SHA_256)
        .setKeyIdentifierType(identifier(token)).setUseSingleCertificate(!token.equals("pkipath"));
  }

  /** What encrypts, with the default of phase4, AES-128-GCM and RSA-OAEP, or what 2.0 asks for. */
  AS4CryptParams encryption(AS4CryptParams p, String token) {
    p.setAlgorithmCrypt(ECryptoAlgorithmCrypt.AES_128_GCM).setKeyIdentifierType(identifier(token));
    if (this == ED25519)
      p.setEDelivery2KeyAgreementX25519();
    if (this == P256)
      p.setEDelivery2KeyAgreementECDHES();
    return p;
  }

  static ECryptoKeyIdentifierType identifier(String token) {
    return switch (token) {
      case "bst", "pkipath" -> ECryptoKeyIdentifierType.BST_DIRECT_REFERENCE;
      case "issuer-serial" -> ECryptoKeyIdentifierType.ISSUER_SERIAL;
      case "ski" -> ECryptoKeyIdentifierType.SKI_KEY_IDENTIFIER;
      default -> throw new IllegalArgumentException("token " + token);
    };
  }

  /** The keys of one party for one purpose, which trusts the issuer and the other party. */
  IAS4CryptoFactory factory(Path dir, String party, String purpose, String other) {
    try {
      return load(dir, party, purpose, other);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(party + "'s keys of " + keys + " to " + purpose, e);
    }
  }

  private IAS4CryptoFactory load(Path dir, String party, String purpose, String other) throws IOException, GeneralSecurityException {
    String kind = purpose.equals("sign") ? signKind : encryptKind;
    String pem = Files.readString(dir.resolve(party + "-" + keys + "-" + purpose + ".key.pem"));
    byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
    PrivateKey key = KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(der));
    X509Certificate ca = read(dir.resolve("ca.cert.pem"));
    KeyStore own = empty(), trusted = empty();
    own.setKeyEntry(party, key, "peer".toCharArray(), new java.security.cert.Certificate[] { certificate(dir, party, purpose), ca });
    trusted.setCertificateEntry("ca", ca);
    trusted.setCertificateEntry(other, certificate(dir, other, "sign"));
    return new AS4CryptoFactoryInMemoryKeyStore(own, party, "peer".toCharArray(), trusted);
  }

  /**
   * One-way push with signed receipts for non-repudiation in the answer, as eDelivery has it. By its
   * service and action phase4 knows the test service.
   */
  IPMode pmode(String initiator, String responder, String agreement, String service, String action) {
    PModeLegSecurity s = new PModeLegSecurity();
    s.setWSSVersion(EWSSVersion.WSS_111);
    s.setX509SignatureAlgorithm(sign);
    s.setX509SignatureHashFunction(ECryptoAlgorithmSignDigest.DIGEST_SHA_256);
    s.setX509EncryptionAlgorithm(ECryptoAlgorithmCrypt.AES_128_GCM);
    s.setPModeAuthorize(false);
    s.setSendReceipt(true);
    s.setSendReceiptNonRepudiation(true);
    s.setSendReceiptReplyPattern(EPModeSendReceiptReplyPattern.RESPONSE);
    PModeLeg leg = new PModeLeg(PModeLegProtocol.createForDefaultSoapVersion(null),
        PModeLegBusinessInformation.create(service, action, null, CAS4.DEFAULT_MPC_ID),
        new PModeLegErrorHandling(null, null, ETriState.TRUE, ETriState.TRUE, ETriState.TRUE, ETriState.TRUE), null, s);
    return new PMode("interop", PModeParty.createSimple(initiator, CAS4.DEFAULT_INITIATOR_URL),
        PModeParty.createSimple(responder, CAS4.DEFAULT_RESPONDER_URL), agreement, EMEP.ONE_WAY, EMEPBinding.PUSH, leg, null, null,
        PModeReceptionAwareness.createDefault());
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static X509Certificate read(Path pem) throws IOException, GeneralSecurityException {
    try (var in = Files.newInputStream(pem)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }
}
