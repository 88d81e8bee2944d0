package as2

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestBoundsOfMIME holds the bounds of a message's structure against what each says, since
// what is refused for another reason does not show that they are there.
func TestBoundsOfMIME(t *testing.T) {
	mixed := func(parts ...Composed) Composed {
		var body strings.Builder
		for _, p := range parts {
			body.WriteString("--outer\r\n" + string(p.bytes()) + "\r\n")
		}
		return Composed{ContentType: "multipart/mixed; boundary=outer", Body: []byte(body.String() + "--outer--\r\n")}
	}
	// in is a multipart body within another, whose boundary must not be its own.
	in := func(boundary string, parts ...Composed) Composed {
		c := mixed(parts...)
		return Composed{ContentType: "multipart/mixed; boundary=" + boundary, Body: []byte(strings.ReplaceAll(string(c.Body), "--outer", "--"+boundary))}
	}
	deep := edifact
	for n := range maxLayers + 1 {
		deep = in(fmt.Sprint("layer", n, "x"), deep)
	}
	empty := Composed{ContentType: "multipart/mixed; boundary=e", Body: []byte("--e--")}
	hundred := in("hundred", slices.Repeat([]Composed{empty}, 100)...)
	for _, c := range []struct {
		name    string
		message Composed
		says    string
	}{
		{"layers", deep, "more than 8 layers of MIME"},
		{"parts", mixed(slices.Repeat([]Composed{edifact}, maxAttachments+1)...), "more than 100 parts"},
		{"entities", mixed(slices.Repeat([]Composed{hundred}, 20)...), "more than 1000 MIME entities"},
	} {
		t.Run("too many "+c.name+" are refused, and the fault says so", func(t *testing.T) {
			_, err := opener(rules(unsigned)).Open(received(c.message), Wanted{MDN: true})
			if !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("got %v, want a fault that says %q", err, c.says)
			}
		})
	}
}
