package c14n

import "bufio"

// What is escaped in text and in attribute values: Canonical XML §2.3.
var (
	textEscapes  = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#xD;"}
	valueEscapes = [256]string{'&': "&amp;", '<': "&lt;", '"': "&quot;", '\t': "&#x9;", '\n': "&#xA;", '\r': "&#xD;"}
)

// escape writes text with what has to be escaped. Errors stay in out until Flush.
func escape[T string | []byte](out *bufio.Writer, text T, escapes *[256]string) {
	from := 0
	for i := 0; i < len(text); i++ {
		e := escapes[text[i]]
		if e == "" {
			continue
		}
		write(out, text[from:i])
		_, _ = out.WriteString(e) // Flush says it
		from = i + 1
	}
	write(out, text[from:])
}

func write[T string | []byte](out *bufio.Writer, text T) {
	switch t := any(text).(type) {
	case string:
		_, _ = out.WriteString(t) // Flush says it
	case []byte:
		_, _ = out.Write(t) // Flush says it
	}
}
