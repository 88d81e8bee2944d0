package journal

import "strings"

// Field is a field of an answer's header.
type Field struct{ Name, Value string }

// Fields are stored as lines, in order.
type Fields []Field

// String gives the lines. What would break one is a blank (RFC 9110 §5.5).
func (f Fields) String() string {
	var b strings.Builder
	for _, x := range f {
		b.WriteString(x.Name)
		b.WriteString(": ")
		b.WriteString(oneLine.Replace(x.Value))
		b.WriteByte('\n')
	}
	return b.String()
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")

// ParseFields reads what String gave.
func ParseFields(s string) Fields {
	var f Fields
	for line := range strings.Lines(s) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			f = append(f, Field{name, value})
		}
	}
	return f
}

// Size is about what they hold, in bytes.
func (f Fields) Size() int {
	n := 0
	for _, x := range f {
		n += len(x.Name) + len(x.Value)
	}
	return n
}
