package partners

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong in a configuration: where, what, and what is allowed.
type Fault struct {
	File   string `json:"file,omitempty"`   // as given to Read; empty where no file is known
	Line   int    `json:"line,omitempty"`   // from 1; 0 where no place is known
	Column int    `json:"column,omitempty"` // from 1, in characters
	Key    string `json:"key,omitempty"`    // retention.dedup_window, identifiers[2].id
	Text   string `json:"text"`             // one sentence
}

// String gives "acme.yaml:12:3: retention.dedup_window: must be …".
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// Faults are all that is wrong in what was read or applied. It is the error of
// whoever wrote the configuration; any other error of this package is ours.
type Faults []Fault

// Error gives one line a fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Nearest gives the name that word is most likely a slip of, or "" if there is none.
func Nearest(word string, names []string) string { return nearest(word, names) }

// nearest gives the name most like word, or "" if none is near: at most a third
// of its letters, and never more than three, are wrong.
func nearest(word string, names []string) string {
	best, least := "", min(3, max(1, len(word)/3))+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with the next
// one to make b of a (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range t {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}
