import com.helger.collection.commons.CommonsArrayList;
import com.helger.collection.commons.ICommonsList;
import com.helger.http.EHttpMethod;
import com.helger.http.header.HttpHeaderMap;
import com.helger.json.*;
import com.helger.phase4.attachment.WSS4JAttachment;
import com.helger.phase4.crypto.IAS4CryptoFactory;
import com.helger.phase4.ebms3header.Ebms3SignalMessage;
import com.helger.phase4.ebms3header.Ebms3UserMessage;
import com.helger.phase4.error.AS4ErrorList;
import com.helger.phase4.incoming.*;
import com.helger.phase4.incoming.crypto.AS4IncomingSecurityConfiguration;
import com.helger.phase4.incoming.spi.*;
import com.helger.phase4.model.pmode.IPMode;
import com.helger.phase4.servlet.*;
import com.helger.web.scope.IRequestWebScopeWithoutResponse;
import com.helger.web.scope.mgr.WebScopeManager;
import com.helger.xservlet.AbstractXServlet;
import com.helger.xservlet.requesttrack.RequestTrackerSettings;
import jakarta.servlet.*;
import java.io.*;
import java.nio.file.*;
import java.util.EnumMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.ee10.servlet.*;
import org.eclipse.jetty.server.ServerConnector;
import org.w3c.dom.Node;

/**
 * Receives AS4 messages with phase4's servlet in an embedded Jetty: {@code Server keys party other
 * folder}. The path names the suite. It prints the line {@code listening PORT}; what it received
 * stands in the folder under the number of its arrival: NUMBER.json tells of the message as it was
 * understood, NUMBER.0, NUMBER.1, … are the payloads. It ends when its input does.
 */
public final class Server {
  private static final AtomicInteger arrivals = new AtomicInteger();

  public static void main(String[] args) throws Exception {
    Path keys = Path.of(args[0]), folder = Path.of(args[3]);
    String party = args[1], other = args[2];
    RequestTrackerSettings.setLongRunningRequestsCheckEnabled(false);
    RequestTrackerSettings.setParallelRunningRequestsCheckEnabled(false);
    var context = new ServletContextHandler("/");
    context.addEventListener(new ServletContextListener() {
      public void contextInitialized(ServletContextEvent event) {
        WebScopeManager.onGlobalBegin(event.getServletContext());
        AS4ServerInitializer.initAS4Server();
        event.getServletContext().addServlet("as4", new Door(keys, party, other, folder)).addMapping("/*");
      }
    });
    var server = new org.eclipse.jetty.server.Server();
    var connector = new ServerConnector(server, 1, 1);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(context);
    server.start();
    System.out.println("listening " + connector.getLocalPort());
    System.out.flush();
    while (System.in.read() >= 0);
    System.exit(0);
  }

  static final class Door extends AbstractXServlet {
    private static final long serialVersionUID = 1;

    Door(Path keys, String party, String other, Path folder) {
      var sign = new EnumMap<Suite, IAS4CryptoFactory>(Suite.class);
      var crypt = new EnumMap<Suite, IAS4CryptoFactory>(Suite.class);
      for (var suite : Suite.values()) {
        sign.put(suite, suite.factory(keys, party, "sign", other));
        crypt.put(suite, suite.factory(keys, party, "encrypt", other));
      }
      var store = new CommonsArrayList<IAS4IncomingMessageProcessorSPI>(new Store(folder));
      settings().setMultipartEnabled(false);
      handlerRegistry().registerHandler(EHttpMethod.POST, new AS4XServletHandler().setRequestHandlerCustomizer(new IAS4ServletRequestHandlerCustomizer() {
        public void customizeBeforeHandling(IRequestWebScopeWithoutResponse scope, AS4UnifiedResponse response, AS4RequestHandler handler) {
          var suite = Suite.of(scope.getRequest().getRequestURI().substring(1));
          handler.setCryptoFactorySign(sign.get(suite)).setCryptoFactoryCrypt(crypt.get(suite)).setProcessorSupplier(() -> store);
          handler.setIncomingProfileSelector(new AS4IncomingProfileSelectorConstant(null, false));
          handler.setPModeResolver((id, service, action, initiator, responder, agreement, address) -> suite.pmode(initiator, responder, agreement, service, action));
          handler.setIncomingSecurityConfiguration(new AS4IncomingSecurityConfiguration().setSigningParams(suite.signing("bst")));
        }

        public void customizeAfterHandling(IRequestWebScopeWithoutResponse scope, AS4UnifiedResponse response, AS4RequestHandler handler) {}
      }));
    }
  }

  /** Keeps what arrived. */
  record Store(Path folder) implements IAS4IncomingMessageProcessorSPI {
    public AS4MessageProcessorResult processAS4UserMessage(IAS4IncomingMessageMetadata metadata, HttpHeaderMap headers, Ebms3UserMessage m, IPMode pmode,
        Node body, ICommonsList<WSS4JAttachment> parts, IAS4IncomingMessageState state, AS4ErrorList errors) {
      int number = arrivals.getAndIncrement(), i = 0;
      var types = new JsonArray();
      try {
        for (var part : parts) {
          types.add(part.getUncompressedMimeType());
          Path to = folder.resolve(number + "." + i++);
          try (var in = part.getSourceStream(); var out = Files.newOutputStream(to)) {
            in.transferTo(out);
          }
        }
        var told = new JsonObject().add("messageId", m.getMessageInfo().getMessageId()).add("from", m.getPartyInfo().getFrom().getPartyIdAtIndex(0).getValue())
            .add("service", m.getCollaborationInfo().getServiceValue()).add("action", m.getCollaborationInfo().getAction())
            .add("conversation", m.getCollaborationInfo().getConversationId()).add("signed", state.isSoapSignatureChecked())
            .add("encrypted", state.isSoapDecrypted()).add("types", types);
        Files.writeString(folder.resolve(number + ".json"), told.getAsJsonString());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return AS4MessageProcessorResult.createSuccess();
    }

    public AS4SignalMessageProcessorResult processAS4SignalMessage(IAS4IncomingMessageMetadata metadata, HttpHeaderMap headers, Ebms3SignalMessage m,
        IPMode pmode, IAS4IncomingMessageState state, AS4ErrorList errors) {
      return AS4SignalMessageProcessorResult.createSuccess();
    }

    public void processAS4ResponseMessage(IAS4IncomingMessageMetadata metadata, IAS4IncomingMessageState state, String id, byte[] bytes, boolean available,
        AS4ErrorList errors) {}
  }
}
