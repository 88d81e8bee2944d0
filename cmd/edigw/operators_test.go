package main

import (
	"fmt"
	"strings"
	"testing"
)

// operated is a gateway with three people, each with a token or two.
type operated struct {
	*gatewayUnderTest
	tokens map[string]string
}

func newOperated(t *testing.T) *operated {
	o := &operated{serveGateway(t), map[string]string{}}
	o.must(nil, "partners", "apply", "-f", "testdata/partners.yaml")
	for person, role := range map[string]string{"anna": "approver", "bert": "approver", "vera": "viewer"} {
		o.must(nil, "users", "add", person, "--role", role)
		o.tokens[person] = strings.TrimSpace(o.must(nil, "tokens", "create", "--person", person, "--role", role).out)
	}
	o.tokens["anna as operator"] = strings.TrimSpace(o.must(nil, "tokens", "create", "--person", "anna", "--role", "operator", "--label", "second").out)
	return o
}

// as runs a command with somebody's token.
func (o *operated) as(who string, args ...string) ran {
	o.t.Helper()
	return o.do(append(args, "--token", o.tokens[who])...)
}

// expect runs a command with somebody's token and holds its end against what is
// wanted of it.
func (o *operated) expect(who string, code int, want string, args ...string) {
	o.t.Helper()
	if r := o.as(who, args...); r.code != code || !strings.Contains(r.out+r.stderr, want) {
		o.t.Errorf("%s: %v: exit %d, want %d with %q\n%s%s", who, args, r.code, code, want, r.out, r.stderr)
	}
}

// send has acme deliver an invoice, and expects a status.
func (o *operated) send(status, reference, number, amount string) {
	o.t.Helper()
	text := strings.NewReplacer("REF000709", reference, "RG-44", number, "119.01", amount).Replace(read(o.t, "testdata/invoice.edi"))
	r := edigw(o.t, text, []string{"EDIGW_DATA_DIR=" + o.dir}, "ingest", "-", "--partner", "acme")
	if !strings.Contains(r.out, status) {
		o.t.Fatalf("%s: exit %d\n%s%s", reference, r.code, r.out, r.stderr)
	}
}

// drift gives the id of the one alert in a state.
func (o *operated) drift(state string) string {
	o.t.Helper()
	var page struct {
		Items []struct {
			ID string `json:"alert_id"`
		}
	}
	o.must(&page, "drift", "list", "--state", state, "-o", "json")
	if len(page.Items) != 1 {
		o.t.Fatalf("%d alerts are %s, want one", len(page.Items), state)
	}
	return page.Items[0].ID
}

func keyUnder(reference string) string { return strings.Replace(key, "REF000709", reference, 1) }

func TestADriftDecidedAtTheCommandLine(t *testing.T) {
	o := newOperated(t)
	o.send("201", "REF1", "RG-1", "119.01")
	o.send("422     drift", "REF1", "RG-1", "129.01")
	alert := o.drift("open")

	o.expect("vera", exitFailed, "needs the role operator", "drift", "assign", alert, "anna")
	o.expect("anna as operator", exitFailed, `there is no user "nobody"`, "drift", "assign", alert, "nobody")
	o.expect("anna as operator", exitOK, "in_review", "drift", "assign", alert, "Anna")
	if r := o.must(nil, "drift", "show", alert); !strings.Contains(r.out, "anna") {
		t.Errorf("nobody is assigned:\n%s", r.out)
	}
	o.expect("anna as operator", exitOK, "open", "drift", "assign", alert)

	o.expect("anna as operator", exitFailed, `reason: "because" is not one of sent_by_mistake`, "drift", "decide", alert, "--decision", "replace", "--reason", "because")
	o.expect("anna as operator", exitFailed, "RG-1 is known with other content", "drift", "decide", alert, "--decision", "process_as_new", "--reason", "number_reused")
	o.expect("anna as operator", exitOK, "awaiting_approval: 0 posted", "drift", "decide", alert, "--decision", "replace", "--reason", "corrected", "--note", "by phone")
	o.expect("bert", exitFailed, "is to be approved or withdrawn first", "drift", "decide", alert, "--decision", "keep_original", "--reason", "corrected")
	o.expect("bert", exitOK, "open", "drift", "withdraw", alert, "--note", "not yet")
	o.expect("bert", exitFailed, "no decision is proposed", "drift", "approve", alert)
	o.expect("anna as operator", exitOK, "awaiting_approval", "drift", "decide", alert, "--decision", "replace", "--reason", "corrected")
	o.expect("anna as operator", exitFailed, "needs the role approver", "drift", "approve", alert)
	o.expect("anna", exitFailed, "another person has to approve", "drift", "approve", alert)
	o.must(nil, "users", "role", "anna", "admin")
	o.tokens["anna as admin"] = strings.TrimSpace(o.must(nil, "tokens", "create", "--person", "ANNA", "--role", "admin", "--label", "third").out)
	o.expect("anna as admin", exitFailed, "another person has to approve", "drift", "approve", alert)
	o.expect("bert", exitOK, "resolved: 1 posted, 1 superseded, 0 cancelled, 0 absorbed, 0 notices", "drift", "approve", alert)
	o.expect("bert", exitFailed, "anna has decided replace already", "drift", "approve", alert)

	o.send("200     duplicate", "REF1", "RG-1", "129.01")
	o.send("200     duplicate", "REF1", "RG-1", "119.01")
	if r := o.must(nil, "documents", "list", "--number", "RG-1", "--live"); strings.Count(r.out, "RG-1") != 1 {
		t.Errorf("not one invoice stands:\n%s", r.out)
	}
}

func TestDeadLettersAtTheCommandLine(t *testing.T) {
	o := newOperated(t)
	db := connected(t, o.url)
	fails := func(on bool) {
		t.Helper()
		sql := `drop trigger if exists fails on document`
		if on {
			sql = `create or replace function fails() returns trigger language plpgsql as $$ begin raise exception 'no room for %', new.number using errcode = 'P0001'; end $$;
				create trigger fails before insert on document for each row execute function fails()`
		}
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	fails(true)
	for n := range 4 {
		o.send("202", fmt.Sprintf("DEAD%d", n), fmt.Sprintf("RG-%d", n), "119.01")
	}
	if r := o.must(nil, "deadletters", "list"); strings.Count(r.out, ":DEAD") != 4 {
		t.Fatalf("%s", r.out)
	}
	o.expect("vera", exitFailed, "needs the role operator", "deadletters", "replay", "acme")
	o.expect("anna", exitUsage, "name a partner", "deadletters", "replay")
	o.expect("anna", exitOK, "dead", "deadletters", "replay", "acme", keyUnder("DEAD0")) // in vain
	fails(false)
	o.expect("anna", exitOK, "accepted", "deadletters", "replay", "--all", "--dry-run")
	if r := o.must(nil, "deadletters", "list"); strings.Count(r.out, ":DEAD") != 4 {
		t.Errorf("a dry run changed something:\n%s", r.out)
	}
	o.expect("anna", exitFailed, "which-payload", "deadletters", "replay", "acme", keyUnder("DEAD0"), "--digest", strings.Repeat("0", 64))
	o.expect("anna", exitOK, "rejected", "deadletters", "discard", "acme", keyUnder("DEAD3"), "--reason", "wrong_content")
	o.expect("anna", exitFailed, "nothing of the payload is dead", "deadletters", "discard", "acme", keyUnder("DEAD3"), "--reason", "wrong_content")
	o.expect("anna", exitOK, "accepted", "deadletters", "replay", "acme", keyUnder("DEAD0"))
	o.expect("anna", exitOK, "DEAD2", "deadletters", "replay", "acme")
	if r := o.must(nil, "deadletters", "list"); strings.Contains(r.out, ":DEAD") {
		t.Errorf("%s", r.out)
	}
	if r := o.must(nil, "documents", "list", "--live"); strings.Count(r.out, "RG-") != 3 {
		t.Errorf("%s", r.out)
	}
}

func TestMessagesReEvaluatedAtTheCommandLine(t *testing.T) {
	o := newOperated(t)
	apply := func(types string) {
		t.Helper()
		r := edigw(t, read(t, "testdata/partners.yaml")+"types: ["+types+"]\n", []string{"EDIGW_DATA_DIR=" + o.dir}, "partners", "apply", "-f", "-")
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.stderr)
		}
	}
	apply("DESADV")
	for n := range 3 {
		o.send("422", fmt.Sprintf("REF%d", n), fmt.Sprintf("RG-%d", n), "119.01")
	}
	o.expect("anna", exitOK, "", "messages", "re-evaluate", "acme") // nothing was judged under older settings
	o.expect("anna", exitFailed, "judged under the settings that hold now", "messages", "re-evaluate", "acme", keyUnder("REF0"))
	apply("INVOIC")
	o.expect("vera", exitFailed, "needs the role operator", "messages", "re-evaluate", "acme")
	o.expect("anna", exitOK, "accepted", "messages", "re-evaluate", "--all", "--dry-run")
	if r := o.must(nil, "documents", "list"); strings.Contains(r.out, "RG-") {
		t.Errorf("a dry run posted something:\n%s", r.out)
	}
	o.send("201     re-evaluation", "REF0", "RG-0", "119.01") // the partner was first
	o.expect("anna", exitOK, "REF2", "messages", "re-evaluate", "acme")
	o.expect("anna", exitFailed, "nothing-to-replay", "messages", "re-evaluate", "acme", keyUnder("REF1"))
	if r := o.must(nil, "documents", "list", "--live"); strings.Count(r.out, "RG-") != 3 {
		t.Errorf("%s", r.out)
	}
	o.send("200     duplicate", "REF2", "RG-2", "119.01")
}

// TestWhatIsPartlyDone: where one letter is refused the others are done.
func TestWhatIsPartlyDone(t *testing.T) {
	o := newOperated(t)
	db := connected(t, o.url)
	if _, err := db.Exec(t.Context(), `create or replace function fails() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = 'P0001'; end $$;
		create trigger fails before insert on document for each row execute function fails()`); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		o.send("202", fmt.Sprintf("DEAD%d", n), fmt.Sprintf("RG-%d", n), "119.01")
	}
	for _, sql := range []string{`drop trigger fails on document`, `delete from payload where payload_id = (select payload_id from inbox where message_id = '` + keyUnder("DEAD1") + `')`} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	r := o.as("anna", "deadletters", "replay", "acme")
	if r.code != exitPartly || strings.Count(r.out, "accepted") != 2 || !strings.Contains(r.out, "key-not-kept") || !strings.Contains(r.stderr, "is no longer kept") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.stderr)
	}
	o.expect("anna", exitFailed, "key-not-kept", "deadletters", "replay", "acme")
}

func TestWhatIsInTheBooksAtTheCommandLine(t *testing.T) {
	o := newOperated(t)
	o.must(nil, "users", "add", "erp", "--role", "consumer")
	o.tokens["erp"] = strings.TrimSpace(o.must(nil, "tokens", "create", "--person", "erp", "--role", "consumer").out)
	o.send("201", "REF1", "RG-1", "119.01")
	var page struct {
		Items []struct {
			ID string `json:"document_id"`
		}
	}
	o.must(&page, "documents", "list", "--live", "-o", "json")
	id := page.Items[0].ID
	o.expect("vera", exitFailed, "needs the role consumer", "documents", "report", id, "taken")
	o.expect("erp", exitOK, "is: taken", "documents", "report", id, "taken")
	o.expect("erp", exitOK, "is: posted", "documents", "report", id, "posted", "--note", "2026/4711")
	o.expect("erp", exitFailed, "is posted already", "documents", "report", id, "taken")
	o.send("422     drift", "REF1", "RG-1", "129.01")
	alert := o.drift("open")
	o.expect("erp", exitFailed, "needs the role operator", "drift", "decide", alert, "--decision", "replace", "--reason", "corrected")
	o.expect("anna", exitFailed, "document RG-1 was reported as posted by erp", "drift", "decide", alert, "--decision", "replace", "--reason", "corrected")
	o.expect("erp", exitOK, "is: refused", "documents", "report", id, "refused")
	o.expect("anna", exitOK, "awaiting_approval", "drift", "decide", alert, "--decision", "replace", "--reason", "corrected")
	o.expect("erp", exitOK, "is: posted", "documents", "report", id, "posted")
	o.expect("bert", exitFailed, "document RG-1 was reported as posted by erp", "drift", "approve", alert)
	o.expect("erp", exitOK, "is: refused", "documents", "report", id, "refused")
	o.expect("bert", exitOK, "resolved: 1 posted, 1 superseded", "drift", "approve", alert)
	o.expect("erp", exitFailed, "does not stand any more", "documents", "report", id, "posted")
}
