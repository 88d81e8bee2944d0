package as4_test

import (
	"bytes"
	"testing"

	"github.com/edigw/edigw/as4"
)

func TestReceive(t *testing.T) {
	r := newRig(t, "")
	c := r.compose(message("m1@talquist"), gzipped(interchange("REF1", "R-1", "100.00")))
	first := r.received(c)
	t.Run("a signed, encrypted and compressed message is posted, with a signed receipt of every reference", func(t *testing.T) {
		if r.posted() != 1 || len(first.Signal.Receipt.References) != len(c.References) || len(c.References) != 3 {
			t.Errorf("%d documents, %d references of %d", r.posted(), len(first.Signal.Receipt.References), len(c.References))
		}
	})
	t.Run("the same bytes again get the same bytes", func(t *testing.T) {
		if again := r.received(c); !bytes.Equal(again.body, first.body) || again.header.Get("Content-Type") != first.header.Get("Content-Type") {
			t.Errorf("told\n%s\nthen\n%s", first.body, again.body)
		}
	})
	t.Run("a retry that was signed anew gets a receipt that fits it", func(t *testing.T) {
		later := message("m1@talquist", func(u *as4.UserMessage) { u.MessageInfo.Timestamp = u.MessageInfo.Timestamp.AddDate(0, 0, 1) })
		if again := r.received(r.compose(later, gzipped(interchange("REF1", "R-1", "100.00")))); bytes.Equal(again.body, first.body) {
			t.Error("it is the receipt of the first")
		}
	})
	t.Run("nothing was done a second time", func(t *testing.T) {
		if r.posted() != 1 || r.keys() != 2 {
			t.Errorf("%d documents under %d keys", r.posted(), r.keys())
		}
	})
}
