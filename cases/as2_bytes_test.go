package cases_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAS2OddBytes sends what header fields may hold beside ASCII: a database that takes
// no other text than UTF-8 must not make a 503 of it, which would be sent again for ever.
func TestAS2OddBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t, "as2: {names: [TALQUIST-AS2], signature: optional, mdn_hosts: [mdn.talquist.example]}\n")
	n := 0
	send := func(fields, contentType, payload string) *mdn {
		return r.rawBytes(fmt.Appendf(nil, "POST /as2 HTTP/1.1\r\nHost: gw\r\nAS2-From: TALQUIST-AS2\r\nAS2-To: NORDHAFEN-AS2\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s", contentType, fields, len(payload), payload))
	}
	fresh := func() string { n++; return invoic(fmt.Sprint(n), fmt.Sprint("R-", n), "100.00") }
	t.Run("a Message-ID in Latin-1 is an id, and another one is another", func(t *testing.T) {
		one, other := fresh(), fresh()
		m := send("Message-ID: <m-\xe9@talquist.example>\r\n"+asksMDN, "application/EDIFACT", one)
		r.told(m, positive, "")
		if !strings.Contains(string(m.body), "Original-Message-ID: <m-\xe9@talquist.example>\r\n") {
			t.Errorf("got %q", m.body)
		}
		r.told(send("Message-ID: <m-\xe8@talquist.example>\r\n"+asksMDN, "application/EDIFACT", other), positive, "")
		again := send("Message-ID: <m-\xe9@talquist.example>\r\n"+asksMDN, "application/EDIFACT", one)
		if string(again.body) != string(m.body) {
			t.Errorf("again it is told %s", again)
		}
	})
	t.Run("a blank and a tab in a Message-ID", func(t *testing.T) {
		r.told(send("Message-ID: <a b\tc@talquist.example>\r\n"+asksMDN, "application/EDIFACT", fresh()), positive, "")
	})
	t.Run("a type and a file name of any bytes", func(t *testing.T) {
		r.told(send("Message-ID: <type@x>\r\nContent-Disposition: attachment; filename=\"../\xff\xfe.edi\"\r\n"+asksMDN, "application/\xff; name=\"\xfe\"", fresh()), positive, "")
	})
	t.Run("the same in a part of several, with NUL in them", func(t *testing.T) {
		body := "--b\r\nContent-Type: application/EDIFACT\r\n\r\n" + fresh() + "\r\n--b\r\nContent-Type: application/\x00\xff; name=\"\x00\xff.pdf\"\r\n\r\n%PDF\x00\r\n--b--\r\n"
		r.told(send("Message-ID: <parts@x>\r\n"+asksMDN, "multipart/mixed; boundary=b", body), positive, "")
	})
	t.Run("what is asked for, and not known", func(t *testing.T) {
		r.told(send("Message-ID: <asked@x>\r\n"+asksMDN+"Disposition-Notification-Options: signed-receipt-protocol=required, \xff\r\n", "application/EDIFACT", fresh()),
			"200 unsigned failed/failure: unsupported format", "")
	})
	t.Run("the address of an MDN: it is none, and the MDN is in the response", func(t *testing.T) {
		m := send("Message-ID: <later@x>\r\n"+asksMDN+"Receipt-Delivery-Option: http://mdn.talquist.example/\xff\r\n", "application/EDIFACT", fresh())
		r.told(m, positive, "")
		if !strings.Contains(strings.Join(strings.Fields(m.says.Text), " "), "is no address") {
			t.Errorf("it says %q", m.says.Text)
		}
	})
}
