package gateway_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edigw/edigw/gateway"
)

var update = flag.Bool("update", false, "write generated documentation")

// outcomesDoc is the prose of the table that Receive executes.
func outcomesDoc() string {
	var b strings.Builder
	b.WriteString(outcomesHead)
	b.WriteString("\n## An interchange: digest D arrives under key K\n\nThe first row that fits is taken. Only row I2 may be answered from an unlocked read.\n\n| row | found | verdict | effect | answer |\n|---|---|---|---|---|\n")
	for _, r := range gateway.Interchanges {
		verdict := string(r.Verdict)
		if r.Effect == gateway.Redo {
			verdict = "retry (a dead message among them), else re-evaluation"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Name, r.Found, verdict, r.Then, r.Answer)
	}
	b.WriteString("\n## A delivery: transport id T arrives with digest D\n\nT keeps every digest it carried. A delivery that has neither a transport id nor an interchange is keyed by the digest of its payload.\n\n| row | found | then |\n|---|---|---|\n")
	for _, r := range gateway.Transports {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Name, r.Found, r.Text)
	}
	b.WriteString(documentsHead)
	b.WriteString("\n## What the partner is told\n\nA repeat over plain HTTP answers 200 where the stored answer is 201, else the stored status, with the identical body.\n\n| outcome | HTTP | problem | AS2 disposition | AS4 | CONTRL action |\n|---|---|---|---|---|---|\n")
	for _, a := range gateway.Answers {
		as2, as4, action := "processed", "receipt", "none"
		if a.AS2 != "" {
			as2 = "processed/" + a.AS2
		} else if a.HTTP == 503 {
			as2 = "503, no MDN"
		}
		if a.AS4 != "" {
			as4 = a.AS4
		}
		if a.Action != 0 {
			action = fmt.Sprint(int(a.Action))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", a.Word, a.HTTP, a.Problem, as2, as4, action)
	}
	b.WriteString(decisionsHead)
	for _, r := range gateway.Decisions {
		takes := "always"
		if r.Posts {
			takes = "if every message posts or is absorbed"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", r.Kind, r.Choice, r.D, r.Current, r.Copies, takes)
	}
	b.WriteString("\nEvery decision has a reason:\n\n| reason | |\n|---|---|\n")
	for _, r := range gateway.DecisionReasons {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Code, r.Text)
	}
	return b.String()
}

const documentsHead = `
## Documents

Every message that is to be posted passes the document guard. The first row that fits
is taken. A document is *in force* if it is neither replaced nor cancelled; a
cancellation is until something is posted after it. A message is *newer* if the stamp
of its interchange is greater than that of the newest revision and of the cancellation;
where an operator's decision cancelled, than that of the payload it put in the place.

| the document | the message | then |
|---|---|---|
| unknown | any | posted |
| says the same and is in force, or is known by its number alone from a former gateway | any | absorbed, linked, no event |
| said the same and is void: replaced or cancelled | not newer, or a copy (7, 31) | absorbed, linked, finding ` + "`document-void`" + ` unless it is a cancellation |
| known | replaces (5, 18) or cancels (1, 17), not newer | posted as a superseded revision |
| known | replaces or cancels, newer | the next revision; ends the document that stands, if one does |
| said the same, and nothing stands any more | original, newer | posted as the next revision, linked |
| known otherwise | original | ` + "`known_document`" + `: held, or posted as a further document, linked, noted |

What is absorbed is so whatever the partner's [` + "`checks`" + `](documents.md#findings) refuse by
now: its document was posted before they did, and the findings are told as notes and
warnings. What the guard would post or hold is refused.

What is held is told by no CONTRL or 997: a partner who [takes them](../how-to/acknowledge.md#what-no-acknowledgement-says)
gets one APERAK or 824 that names all that the interchange has held, and another when it is decided.

An example: REF1 brings R-1 and R-2; another REF1 with R-1 alone drifts, and replace
cancels R-2. R-2 under REF9 is posted again if REF9 is newer than the second REF1, and
absorbed with a finding if it is a late copy.
`

const decisionsHead = `
## Decisions

What an operator decides about a drift. Each is one transaction under the key's
lock, checked against what stands then, and is applied once; while something under
the key is being processed it is refused. A notice is an APERAK or 824 to a partner who
[takes them](../how-to/acknowledge.md#what-no-acknowledgement-says), and an event for your people. D is the payload that drifted. One that
posts, replaces or cancels an invoice needs a second person, unless the partner's
` + "`four_eyes`" + ` is ` + "`off`" + `. After row I1 there is no original: keep_original, process_as_new
and reject_and_notify apply.

| drift | decision | D | the current variant | later copies | taken |
|---|---|---|---|---|---|
`

const outcomesHead = `# Outcomes: what every delivery does, and what it is told

Generated from the tables in package gateway that the program executes: change
those, then run ` + "`go test ./gateway -run TestOutcomesDoc -update`" + `.

- **Message** (UNH…UNT), known inside its interchange by the SHA-256 of its bytes: posted, absorbed (the same bytes or the same document were posted before, and what was is in force), held (the document is known with other content), refused (the sender's fault), dead (our handler failed on it), pending.
- **Variant**: one digest under one interchange key: received, accepted, partly, rejected, dead; beside them quarantined (drift, undecided), refused (drift, decided against), superseded and imported.
- **Key**: partner and message id. Neither state nor time of receipt enters it. Re-use of a number begins a new epoch.
- **Standing** under a key is every message of the current epoch, in a variant not superseded, that is posted, absorbed, held, pending, or dead and acknowledged positively. D **fits** if every standing message stands in D byte for byte.

What was posted, absorbed or held under a key in any epoch is absorbed, never posted again.
With ` + "`acceptance: interchange`" + ` (the default) one refused or dead message means that nothing is posted; with ` + "`acceptance: message`" + ` the sound ones are.
`

func TestOutcomesDoc(t *testing.T) {
	const path = "../docs/reference/outcomes.md"
	want := outcomesDoc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/reference/outcomes.md is not what the tables say; run with -update (-tables +document):\n%s", d)
	}
}
