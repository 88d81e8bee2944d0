import com.helger.as2lib.exception.AS2Exception;
import com.helger.as2lib.message.AS2Message;
import com.helger.as2lib.message.IMessage;
import com.helger.as2lib.partner.Partnership;
import com.helger.as2lib.partner.SelfFillingPartnershipFactory;
import com.helger.as2lib.processor.DefaultMessageProcessor;
import com.helger.as2lib.processor.module.AbstractProcessorModule;
import com.helger.as2lib.processor.receiver.AS2ReceiverModule;
import com.helger.as2lib.processor.sender.AsynchMDNSenderModule;
import com.helger.as2lib.processor.storage.IProcessorStorageModule;
import com.helger.as2lib.session.AS2Session;
import com.helger.commons.collection.attr.StringMap;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Receives AS2 messages with phase2's library: {@code Server keys own ownName other folder}. It prints the line {@code listening PORT}; what it received stands in the folder under
 * the number of its arrival: NUMBER.json tells of the message, NUMBER.0 is the payload. It ends when
 * its input does.
 */
public final class Server {
  public static void main(String[] args) throws Exception {
    var session = new AS2Session();
    session.setCryptoVerifyUseCertificateInBodyPart(false);
    session.setCertificateFactory(Keys.factory(session, Keys.store(Path.of(args[0]), args[1], args[3])));
    var partnerships = new SelfFillingPartnershipFactory() {
      @Override
      protected void onBeforeAddPartnership(Partnership p) throws AS2Exception {
        // Made for the messages of other and for our MDNs to them. Names are kept as they are
        // quoted.
        p.setSenderX509Alias(p.getSenderAS2ID().contains(args[2]) ? "own" : "other");
        p.setReceiverX509Alias(p.getReceiverAS2ID().contains(args[2]) ? "own" : "other");
        super.onBeforeAddPartnership(p);
      }
    };
    partnerships.initDynamicComponent(session, null);
    session.setPartnershipFactory(partnerships);
    var processor = new DefaultMessageProcessor();
    processor.initDynamicComponent(session, null);
    session.setMessageProcessor(processor);
    var mdns = new AsynchMDNSenderModule();
    mdns.initDynamicComponent(session, null);
    processor.addModule(mdns);
    processor.addModule(new Store(Path.of(args[4])));
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    var receiver = new AS2ReceiverModule();
    var options = new StringMap();
    options.putIn(AS2ReceiverModule.ATTR_ADDRESS, "127.0.0.1");
    options.putIn(AS2ReceiverModule.ATTR_PORT, port);
    receiver.initDynamicComponent(session, options);
    processor.addModule(receiver);
    processor.startActiveModules();
    System.out.println("listening " + port);
    System.out.flush();
    while (System.in.read() >= 0);
    System.exit(0);
  }

  /** Keeps what arrived. */
  static final class Store extends AbstractProcessorModule {
    private final AtomicInteger arrivals = new AtomicInteger();
    private final Path folder;

    Store(Path folder) {
      this.folder = folder;
    }

    public boolean canHandle(String action, IMessage m, Map<String, Object> options) {
      return action.equals(IProcessorStorageModule.DO_STORE);
    }

    public void handle(String action, IMessage m, Map<String, Object> options) {
      int number = arrivals.getAndIncrement();
      try (var in = m.getData().getInputStream()) {
        Files.copy(in, folder.resolve(number + ".0"));
        String name = m.getData().getFileName();
        String told = "{\"messageId\":\"" + m.getMessageID().replaceAll("[<>]", "") + "\",\"from\":\"" + m.getAS2From() + "\",\"filename\":\""
            + (name == null ? "" : name) + "\",\"signed\":" + m.attrs().getAsBoolean(AS2Message.ATTRIBUTE_RECEIVED_SIGNED) + ",\"encrypted\":"
            + m.attrs().getAsBoolean(AS2Message.ATTRIBUTE_RECEIVED_ENCRYPTED) + ",\"compressed\":"
            + m.attrs().getAsBoolean(AS2Message.ATTRIBUTE_RECEIVED_COMPRESSED) + "}";
        Path whole = Files.writeString(folder.resolve(number + ".part"), told);
        Files.move(whole, folder.resolve(number + ".json"));
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
