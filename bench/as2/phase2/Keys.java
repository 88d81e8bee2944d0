import com.helger.as2lib.cert.AbstractCertificateFactory;
import com.helger.as2lib.cert.CertificateFactory;
import com.helger.as2lib.session.AS2Session;
import com.helger.commons.collection.attr.StringMap;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** The two parties' keys, of the PEM files {own,other}.{key,cert}.pem, as the entries own and other. */
final class Keys {
  static final char[] PASSWORD = "peer".toCharArray();

  private Keys() {}

  static X509Certificate certificate(Path dir, String party) throws IOException, GeneralSecurityException {
    try (var in = Files.newInputStream(dir.resolve(party + ".cert.pem"))) {
      return (X509Certificate) java.security.cert.CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  /** A PKCS#12 store with own's key and other's certificate. */
  static byte[] store(Path dir, String own, String other) throws IOException, GeneralSecurityException {
    String pem = Files.readString(dir.resolve(own + ".key.pem"));
    byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("own", KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der)), PASSWORD,
        new Certificate[] { certificate(dir, own) });
    store.setCertificateEntry("other", certificate(dir, other));
    var out = new ByteArrayOutputStream();
    store.store(out, PASSWORD);
    return out.toByteArray();
  }

  static CertificateFactory factory(AS2Session session, byte[] store) throws Exception {
    var factory = new CertificateFactory();
    var options = new StringMap();
    options.putIn(AbstractCertificateFactory.ATTR_TYPE, "PKCS12");
    factory.initDynamicComponent(session, options);
    factory.setPassword(new String(PASSWORD));
    factory.setSaveChangesToFile(false);
    factory.load(new ByteArrayInputStream(store), PASSWORD);
    return factory;
  }
}
