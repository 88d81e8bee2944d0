import com.helger.diagnostics.error.IError;
import com.helger.phive.api.execute.ValidationExecutionManager;
import com.helger.phive.api.executorset.ValidationExecutorSetRegistry;
import com.helger.phive.api.result.ValidationResultList;
import com.helger.phive.api.validity.IValidityDeterminator;
import com.helger.phive.en16931.EN16931Validation;
import com.helger.phive.xml.source.IValidationSourceXML;
import com.helger.phive.xml.source.ValidationSourceXML;
import java.io.File;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;

/**
 * Holds UBL files against the XML Schema of UBL 2.1 and the rules of EN 16931; those behind --schema
 * against the schema alone. It prints a line for each fault, with tabs between: file, level, rule,
 * place, text; and `file, read` when it is through.
 */
class Validate {
  public static void main(String[] args) throws Exception {
    var registry = new ValidationExecutorSetRegistry<IValidationSourceXML>();
    EN16931Validation.initEN16931(registry);
    var factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    boolean schemaAlone = false;
    for (String file : args) {
      if (file.equals("--schema")) {
        schemaAlone = true;
        continue;
      }
      var document = factory.newDocumentBuilder().parse(new File(file));
      var credit = document.getDocumentElement().getLocalName().equals("CreditNote");
      var rules = registry.getOfID(credit ? EN16931Validation.VID_UBL_CREDIT_NOTE_1316 : EN16931Validation.VID_UBL_INVOICE_1316);
      var layers = rules.getAllExecutors();
      var manager = new ValidationExecutionManager<>(IValidityDeterminator.createDefault(), schemaAlone ? layers.subList(0, 1) : layers);
      var source = ValidationSourceXML.create(file, document);
      var results = new ValidationResultList(source);
      manager.executeValidation(source, results, Locale.ROOT);
      for (var layer : results) {
        for (IError error : layer.getErrorList()) {
          System.out.println(file + "\t" + error.getErrorLevel().getID() + "\t" + flat(error.getErrorID()) + "\t" + flat(error.getErrorFieldName()) + "\t" + flat(error.getErrorText(Locale.ROOT)));
        }
      }
      System.out.println(file + "\tread");
    }
  }

  private static String flat(String s) {
    return s == null ? "" : s.replaceAll("\\s+", " ");
  }
}
