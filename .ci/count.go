//go:build ignore

// Count reads the events of `go test -json`, prints what go test would print,
// and ends with `N passed, N failed, N skipped`. Its exit code is 1 when a test
// failed or was skipped. Its argument says whether ../shared is present: a test
// that says "shared absent" then counts as skipped, else apart.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// event is one line of test2json; Test is empty for those of a package.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

func main() {
	present := len(os.Args) > 1 && os.Args[1] == "present"
	var passed, failed, skipped, absent int
	output := map[string]*strings.Builder{}
	told := map[string]bool{} // packages of which a test has failed
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text()) // what go itself says
			continue
		}
		if e.Test == "" {
			// ok, FAIL, "no test files", compiler errors, a panic outside tests
			if e.Action == "output" && e.Output != "PASS\n" || e.Action == "build-output" {
				fmt.Print(e.Output)
			}
			if e.Action == "fail" && !told[e.Package] { // it does not build, or TestMain failed
				failed++
			}
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			if output[key] == nil {
				output[key] = &strings.Builder{}
			}
			output[key].WriteString(e.Output)
			continue
		case "pass":
			passed++
		case "fail":
			failed++
			told[e.Package] = true
			fmt.Printf("%s\n%s", key, text(output[key]))
		case "skip":
			if !present && strings.Contains(text(output[key]), "shared absent") {
				absent++
				break
			}
			skipped++
			fmt.Printf("%s\n%s", key, text(output[key]))
		default:
			continue
		}
		delete(output, key)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "reading the events:", err)
		os.Exit(1)
	}
	// A test that neither passed nor failed was running when its process died.
	for key, out := range output {
		failed++
		fmt.Printf("%s did not end\n%s", key, text(out))
	}
	if absent > 0 {
		fmt.Printf("%d more need ../shared, which is not here\n", absent)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || skipped > 0 || passed == 0 {
		os.Exit(1)
	}
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}
