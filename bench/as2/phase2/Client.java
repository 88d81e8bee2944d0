import com.helger.as2lib.client.AS2Client;
import com.helger.as2lib.client.AS2ClientRequest;
import com.helger.as2lib.client.AS2ClientSettings;
import com.helger.as2lib.crypto.ECompressionType;
import com.helger.as2lib.crypto.ECryptoAlgorithmCrypt;
import com.helger.as2lib.crypto.ECryptoAlgorithmSign;
import com.helger.as2lib.crypto.IMICMatchingHandler;
import com.helger.as2lib.disposition.DispositionOptions;
import com.helger.as2lib.message.AS2Message;
import com.helger.as2lib.message.IMessage;
import com.helger.as2lib.session.AS2Session;
import com.helger.commons.collection.attr.StringMap;
import com.helger.mail.cte.EContentTransferEncoding;
import com.helger.security.keystore.EKeyStoreType;
import jakarta.activation.DataHandler;
import jakarta.mail.util.ByteArrayDataSource;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Sends AS2 messages with phase2's library: {@code Client keys own other}. It reads a message from
 * each line of its input, fields NAME=VALUE between tabs, and answers each with a line of such
 * fields that says what came back and what phase2 makes of it. They are those of
 * bench/as2/message.go.
 */
public final class Client {
  public static void main(String[] args) throws Exception {
    var keys = Path.of(args[0]);
    var answers = System.out;
    System.setOut(System.err);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null;) {
      var m = new StringMap();
      for (String field : line.split("\t"))
        m.putIn(field.substring(0, field.indexOf('=')), field.substring(field.indexOf('=') + 1));
      Map<String, String> answer = new LinkedHashMap<>();
      try {
        send(keys, args[1], args[2], m, answer);
      } catch (Exception e) {
        answer.put("failure", e.toString());
      }
      answers.println(answer.entrySet().stream().map(e -> e.getKey() + "=" + String.valueOf(e.getValue()).replaceAll("[\t\r\n]+", " ")).collect(Collectors.joining("\t")));
      answers.flush();
    }
  }

  static void send(Path dir, String own, String other, StringMap m, Map<String, String> answer) throws Exception {
    String from = m.getAsString("from"), to = m.getAsString("to"), mdn = m.getAsString("mdn"), digest = m.getAsString("mdnDigest");
    var s = new AS2ClientSettings();
    s.setKeyStore(EKeyStoreType.PKCS12, Keys.store(dir, own, other), new String(Keys.PASSWORD));
    s.setSenderData(from, own + "@example.org", "own").setReceiverData(to, "other", m.getAsString("url")).setReceiverCertificate(Keys.certificate(dir, other));
    s.setPartnershipName(from + "-" + to).setMessageIDFormat(m.getAsString("messageId") + "@" + own).setRetryCount(0);
    ECryptoAlgorithmSign sign = null;
    if (!m.getAsString("digest").isEmpty())
      sign = ECryptoAlgorithmSign.getFromIDOrThrow(m.getAsBoolean("pss") ? "rsassa-pss-" + m.getAsString("digest").replace("sha", "sha-") : m.getAsString("digest"));
    s.setEncryptAndSign(ECryptoAlgorithmCrypt.getFromIDOrNull(m.getAsString("encryption")), sign);
    if (m.getAsBoolean("compressed"))
      s.setCompress(ECompressionType.ZLIB, !m.getAsBoolean("compressedLast"));
    s.setMDNRequested(!mdn.equals("none"));
    s.setMDNOptions(digest.isEmpty() ? new DispositionOptions()
        : new DispositionOptions().setProtocol("pkcs7-signature").setProtocolImportance("required").setMICAlg(ECryptoAlgorithmSign.getFromIDOrThrow(digest))
            .setMICAlgImportance("required"));
    s.setMICMatchingHandler(new IMICMatchingHandler() {
      public void onMICMatch(IMessage message, String mic) {
        answer.put("mic", "equal");
      }

      // phase2 has its own names for algorithms, which no receiver can know: rsassa-pss-sha-256.
      public void onMICMismatch(IMessage message, String own, String received) {
        boolean equal = own != null && received != null && own.split(",")[0].equals(received.split(",")[0]);
        answer.put("mic", equal ? "equal" : received + ", not " + own);
      }
    });
    var request = new AS2ClientRequest("interop").setContentType(m.getAsString("type"));
    request.setData(new DataHandler(new ByteArrayDataSource(Files.readAllBytes(Path.of(m.getAsString("file"))), m.getAsString("type"))));
    request.setFilename(m.getAsString("filename")).setContentTransferEncoding(EContentTransferEncoding.BINARY);
    var client = new AS2Client() {
      @Override
      protected AS2Session createSession() {
        // Else it would believe any certificate that comes along.
        var session = super.createSession();
        session.setCryptoVerifyUseCertificateInBodyPart(false);
        return session;
      }
    };
    var response = client.sendSynchronous(s, request);
    answer.put("messageId", m.getAsString("messageId") + "@" + own);
    if (response.hasException())
      answer.put("failure", response.getException().toString());
    else
      answer.put("status", "200");
    if (response.hasMDN()) {
      String disposition = response.getMDNDisposition();
      answer.put("disposition", disposition.substring(disposition.indexOf(';') + 1).trim());
      answer.put("signedWith", response.getMDN().attrs().getAsBoolean(AS2Message.ATTRIBUTE_RECEIVED_SIGNED) ? digest : "");
      answer.putIfAbsent("mic", "none");
    }
  }
}
