package outbox

import "strings"

// storable is text as the database takes it: what a target answers may be in another
// charset, and hold NUL. Text that is refused would keep what became of an event from being
// noted, and the event would be sent again for ever.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}

// firstLine is what is kept of an error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return storable(line)
}
