import org.openas2.app.OpenAS2Server;

/** Runs OpenAS2 with a configuration: {@code Run config.xml}. It ends when its input does. */
public final class Run {
  public static void main(String[] args) throws Exception {
    var told = System.out;
    System.setOut(System.err);
    System.setProperty("org.apache.commons.logging.Log", "org.openas2.logging.Log");
    OpenAS2Server.main(args);
    told.println("started");
    told.flush();
    while (System.in.read() >= 0);
    Runtime.getRuntime().halt(0);
  }
}
