import com.berryworks.edireader.*;
import java.io.*;
import org.xml.sax.*;
import org.xml.sax.helpers.DefaultHandler;

/** Reads each file with EDIReader, all interchanges of it: its name, "read" and the number of segments, those
 *  of the envelope that it turns into nests among them, or "refused" and why. */
public class EdiReader {
    public static void main(String[] files) throws IOException {
        for (String file : files) {
            String answer;
            long[] segments = {0};
            try (Reader in = new InputStreamReader(new FileInputStream(file), "ISO-8859-1")) {
                DefaultHandler count = new DefaultHandler() {
                    @Override public void startElement(String uri, String local, String name, Attributes a) {
                        switch (local) {
                        case "segment": case "acknowledgement": case "package": // BIN is a package
                            segments[0]++;
                            break;
                        case "interchange": case "transaction":
                            segments[0] += 2;
                            break;
                        case "group": // one without attributes stands for none
                            if (a.getLength() > 0) segments[0] += 2;
                            break;
                        default:
                        }
                    }
                };
                char[] left = null;
                InputSource source = new InputSource(in);
                EDIReader r;
                while ((r = EDIReaderFactory.createEDIReader(source, left)) != null) {
                    r.setContentHandler(count);
                    r.parse(source);
                    left = r.getTokenizer().getBuffered();
                }
                answer = "read\t" + segments[0];
            } catch (Exception e) {
                answer = "refused\t" + e;
            }
            System.out.println(file + "\t" + answer.replaceAll("\\s*[\\r\\n]+\\s*", " "));
        }
    }
}
