import io.xlate.edi.stream.*;
import java.io.*;

/** Reads each file with StAEDI: its name, "read" and the number of segments, or "refused" and why. */
public class Staedi {
    public static void main(String[] files) throws IOException {
        for (String file : files) {
            String answer;
            try (InputStream in = new BufferedInputStream(new FileInputStream(file));
                    EDIStreamReader r = EDIInputFactory.newFactory().createEDIStreamReader(in, "ISO-8859-1")) {
                long segments = 0;
                String fault = null;
                while (r.hasNext()) {
                    switch (r.next()) {
                    case START_SEGMENT:
                        if (!"UNA".equals(r.getText())) segments++;
                        break;
                    case SEGMENT_ERROR: case ELEMENT_OCCURRENCE_ERROR: case ELEMENT_DATA_ERROR:
                        if (fault == null) fault = r.getErrorType() + " at " + r.getLocation();
                        break;
                    default:
                    }
                }
                answer = fault == null ? "read\t" + segments : "refused\t" + fault;
            } catch (Exception e) {
                answer = "refused\t" + e;
            }
            System.out.println(file + "\t" + answer.replaceAll("\\s*[\\r\\n]+\\s*", " "));
        }
    }
}
