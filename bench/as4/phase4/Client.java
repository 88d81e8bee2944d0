
import com.helger.json.IJsonObject;
import com.helger.json.JsonArray;
import com.helger.json.JsonObject;
import com.helger.json.serialize.JsonReader;
import com.helger.mime.parse.MimeTypeParser;
import com.helger.phase4.CAS4;
import com.helger.phase4.attachment.*;
import com.helger.phase4.dump.AS4OutgoingDumperFileBased;
import com.helger.phase4.incoming.*;
import com.helger.phase4.sender.*;
import com.helger.servlet.mock.MockServletContext;
import com.helger.web.scope.mgr.*;
import java.io.*;
import java.nio.charset.*;
import java.nio.file.Path;

/**
 * Sends AS4 messages with phase4: reads a message, a JSON object, from each line of its input and
 * answers each with a line of JSON on its output that says what came back and what phase4 makes of
 * it. The fields of both are those of bench/as4/message.go. {@code Client keys own other}.
 */
public final class Client {
  public static void main(String[] args) throws Exception {
    WebScopeManager.onGlobalBegin(MockServletContext.create());
    var keys = new Keys(Path.of(args[0]), args[1], args[2]);
    var answers = System.out;
    System.setOut(System.err);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null;) {
      var answer = new JsonObject();
      try (var scope = new WebScoped()) {
        send(keys, JsonReader.builder().source(line).readAsObject(), answer);
      } catch (Exception e) {
        answer.add("failure", String.valueOf(e));
      }
      answers.println(answer.getAsJsonString());
      answers.flush();
    }
  }

  /** Whose keys are used: those of own, and the certificates of other. */
  record Keys(Path dir, String own, String other) {}

  static void send(Keys keys, IJsonObject m, IJsonObject answer) throws Exception {
    var suite = Suite.of(m.getAsString("suite"));
    String from = m.getAsString("from"), to = m.getAsString("to"), token = m.getAsString("token");
    boolean encrypted = m.getAsBoolean("encrypted", false);
    var errors = new JsonArray();
    var b = AS4Sender.builderUserMessage();
    b.cryptoFactorySign(suite.factory(keys.dir, keys.own, "sign", keys.other));
    b.cryptoFactoryCrypt(suite.factory(keys.dir, keys.own, "encrypt", keys.other));
    b.as4ProfileID("interop");
    b.pmode(suite.pmode(from, to, m.getAsString("agreement"), m.getAsString("service"), m.getAsString("action")));
    b.pmodeResolver((id, service, action, initiator, responder, agreement, address) -> b.pmode());
    b.incomingProfileSelector(new AS4IncomingProfileSelectorConstant(null, false));
    suite.signing(token).cloneTo(b.signingParams());
    if (m.getAsBoolean("unsigned", false))
      b.signingParams().setAlgorithmSign(null);
    if (encrypted) {
      suite.encryption(b.cryptParams(), m.getAsString("keyReference"));
      b.receiverCertificate(suite.certificate(keys.dir, keys.other, "encrypt"));
    } else
      b.cryptParams().setAlgorithmCrypt(null);
    b.agreementRef(m.getAsString("agreement")).service(m.getAsString("serviceType"), m.getAsString("service")).action(m.getAsString("action"));
    b.fromPartyIDType(m.getAsString("partyType")).fromPartyID(from).fromRole(CAS4.DEFAULT_INITIATOR_URL);
    b.toPartyIDType(m.getAsString("partyType")).toPartyID(to).toRole(CAS4.DEFAULT_RESPONDER_URL);
    b.conversationID(m.getAsString("conversation")).messageID(m.getAsString("messageId")).endpointURL(m.getAsString("url"));
    for (var each : m.getAsArray("payloads")) {
      var p = each.getAsObject();
      var part = AS4OutgoingAttachment.builder().data(new File(p.getAsString("file"))).mimeType(MimeTypeParser.parseMimeType(p.getAsString("type")));
      if (p.getAsString("charset") != null)
        part.charset(Charset.forName(p.getAsString("charset")));
      if (p.getAsString("contentId") != null)
        part.contentID(p.getAsString("contentId"));
      if (m.getAsBoolean("compressed", false))
        part.compressionGZIP();
      b.addAttachment(part);
    }
    if (m.getAsString("dump") != null)
      b.outgoingDumper(new AS4OutgoingDumperFileBased((mode, id, attempt) -> new File(m.getAsString("dump"))));
    b.rawResponseConsumer(sent -> answer.add("status", sent.getResponseStatusLine().getStatusCode()));
    b.signalMsgConsumer((signal, metadata, state) -> {
      answer.add("signed", state.isSoapSignatureChecked()).add("ref", signal.getMessageInfo().getRefToMessageId());
      answer.add("signalId", signal.getMessageInfo().getMessageId()).add("receipt", signal.getReceipt() != null);
      for (var e : signal.getError())
        errors.add(new JsonObject().add("code", e.getErrorCode()).add("severity", e.getSeverity()).add("detail", e.getErrorDetail()));
    });
    b.signalMsgValidationResultHdl(new IAS4SignalMessageValidationResultHandler() {
      public void onSuccess() {
        answer.add("references", "equal");
      }

      public void onError(String text) {
        answer.add("references", text);
      }

      public void onNotApplicable() {
        answer.add("references", "none");
      }
    });
    var result = b.sendMessageAndCheckForReceipt(e -> answer.add("failure", String.valueOf(e.getCause() == null ? e : e.getCause())));
    answer.add("result", result.name()).add("errors", errors);
  }
}
