package httpin_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/edigw/edigw/gateway"
)

func TestBody(t *testing.T) {
	// taken is one case: what is sent, and what Receive has to get.
	large := bytes.Repeat([]byte(interchange+"\r\n"), 40_000) // over 2 MB
	for _, c := range []struct {
		name    string
		body    io.Reader
		headers []string
		want    []byte
	}{
		{"with its length", strings.NewReader(interchange), nil, []byte(interchange)},
		{"chunked", io.MultiReader(strings.NewReader(interchange)), nil, []byte(interchange)},
		{"large", bytes.NewReader(large), nil, large},
		{"large and chunked", io.MultiReader(bytes.NewReader(large)), nil, large},
		{"exactly at the threshold", bytes.NewReader(large[:1<<20]), nil, large[:1<<20]},
		{"one byte over the threshold", bytes.NewReader(large[:1<<20+1]), nil, large[:1<<20+1]},
		{"of 64 KiB less one", bytes.NewReader(large[:64<<10-1]), nil, large[:64<<10-1]},
		{"gzip", zipped(t, []byte(interchange)), []string{"Content-Encoding", "gzip"}, []byte(interchange)},
		{"large gzip", zipped(t, large), []string{"Content-Encoding", "X-GZIP"}, large},
		{"identity", strings.NewReader(interchange), []string{"Content-Encoding", "identity"}, []byte(interchange)},
		{"called a form by curl", strings.NewReader(interchange), []string{"Content-Type", "application/x-www-form-urlencoded"}, []byte(interchange)},
		{"called EDIFACT", strings.NewReader(interchange), []string{"Content-Type", "application/EDIFACT; charset=iso-8859-1"}, []byte(interchange)},
		{"called something that is no media type", strings.NewReader(interchange), []string{"Content-Type", "EDI;;"}, []byte(interchange)},
	} {
		t.Run("a body is taken "+c.name, func(t *testing.T) {
			in := serve(t, nil)
			a := in.post(t, "acme", c.body, append(c.headers, "Idempotency-Key", "m:1", "Content-Disposition", `attachment; filename="C:\out\inv.edi"`)...)
			if a.Status != 201 {
				t.Fatalf("got %d %s", a.Status, a.Body)
			}
			d := in.deliveries()[0]
			if !bytes.Equal(in.payloads[0], c.want) {
				t.Error("the payload is not what was sent")
			}
			if d.SHA256 != sha256.Sum256(c.want) || d.Payload.Size() != int64(len(c.want)) {
				t.Error("digest or size is wrong")
			}
			if _, inMemory := d.Payload.InMemory(); inMemory != (len(c.want) <= 1<<20) {
				t.Errorf("in memory: %v", inMemory)
			}
			if d.TransportID != `http:north:m\:1` || d.Transport != "http" || d.Filename != "inv.edi" || d.Remote != "127.0.0.1" || !d.WithAcknowledgement || d.Fault != nil {
				t.Errorf("got %+v", d)
			}
		})
	}

	t.Run("no id makes no transport key", func(t *testing.T) {
		in := serve(t, nil)
		in.post(t, "acme", strings.NewReader(interchange))
		if d := in.deliveries()[0]; d.TransportID != "" {
			t.Errorf("got %q", d.TransportID)
		}
	})

	t.Run("spool files have no name, and give their bytes back", func(t *testing.T) {
		in := serve(t, nil)
		receive := in.Handler.Receive
		seen := -1.0
		in.Handler.Receive = func(ctx ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
			seen = in.count(t, "edigw_spool_bytes")
			entries, err := os.ReadDir(in.Spool.Dir)
			if err != nil || len(entries) != 0 {
				t.Errorf("the folder holds %v, %v", entries, err)
			}
			return receive(ctx, d)
		}
		in.post(t, "acme", bytes.NewReader(large))
		if seen != float64(len(large)) {
			t.Errorf("%v bytes in the spool while %d are received", seen, len(large))
		}
		in.counted(t, 0, "edigw_spool_bytes")
	})
}

func TestBodyRefused(t *testing.T) {
	t.Parallel()

	long := bytes.Repeat([]byte("x"), 10_000)
	small := func(in *ingress) { in.Limits.MaxBody = 9_999 }
	for _, c := range []struct {
		name    string
		change  func(*ingress)
		body    io.Reader
		headers []string
		status  int
		problem string
		says    string
	}{
		{"too long by its own account", small, bytes.NewReader(long), nil, 413, "content-too-large", `"limit":9999`},
		{"too long, chunked", small, io.MultiReader(bytes.NewReader(long)), nil, 413, "content-too-large", "9999 bytes"},
		{"too long when decompressed", small, zipped(t, long), []string{"Content-Encoding", "gzip"}, 413, "content-too-large", `"limit":9999`},
		{"too long for memory and the limit", func(in *ingress) { in.Limits.MaxBody = 3 << 20 }, io.MultiReader(zeros(4 << 20)), nil, 413, "content-too-large", "3145728"},
		{"a bomb", nil, zippedFrom(t, zeros(20<<20)), []string{"Content-Encoding", "gzip"}, 413, "content-too-large", "200 times"},
		{"no gzip", nil, strings.NewReader(interchange), []string{"Content-Encoding", "gzip"}, 400, "invalid-content-encoding", "gzip"},
		{"gzip cut short", nil, io.LimitReader(zipped(t, long), 30), []string{"Content-Encoding", "gzip"}, 400, "invalid-content-encoding", "gzip"},
		{"gzip and something behind it", nil, io.MultiReader(zipped(t, long), strings.NewReader("UNB+")), []string{"Content-Encoding", "gzip"}, 400, "invalid-content-encoding", "gzip"},
		{"another coding", nil, bytes.NewReader(long), []string{"Content-Encoding", "br"}, 415, "unsupported-content-encoding", "gzip alone"},
		{"two codings", nil, bytes.NewReader(long), []string{"Content-Encoding", "gzip, gzip"}, 415, "unsupported-content-encoding", "gzip alone"},
		{"a form with a file", nil, bytes.NewReader(long), []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, "unsupported-content-type", "--data-binary @file and not -F"},
		{"an AS2 message", nil, bytes.NewReader(long), []string{"Content-Type", `multipart/signed; boundary="x"; protocol=`}, 415, "unsupported-content-type", "neither signed nor encrypted"},
		{"empty", nil, strings.NewReader(""), nil, 400, "empty", "--data-binary"},
		{"empty, chunked", nil, io.MultiReader(strings.NewReader("")), nil, 400, "empty", "--data-binary"},
		{"empty, called gzip", nil, strings.NewReader(""), []string{"Content-Encoding", "gzip"}, 400, "empty", "--data-binary"},
		{"nothing, compressed", nil, zipped(t, nil), []string{"Content-Encoding", "gzip"}, 400, "empty", "--data-binary"},
		{"line ends only", nil, strings.NewReader("\r\n"), nil, 400, "empty", "--data-binary"},
		{"two megabytes of blanks", nil, bytes.NewReader(bytes.Repeat([]byte(" "), 2<<20)), nil, 400, "empty", "--data-binary"},
		{"an unusable id", nil, bytes.NewReader(long), []string{"Idempotency-Key", `"`}, 400, "invalid-message-id", "Idempotency-Key"},
		{"an unreadable digest", nil, bytes.NewReader(long), []string{"Content-Digest", "sha-256=x"}, 400, "invalid-content-digest", "sha-256"},
		{"larger than the spool, by its own account", func(in *ingress) { in.Spool.Cap = 1_500_000 }, zeros(2 << 20), []string{"Content-Type", "text/plain"}, 503, "unavailable", "Retry-After"},
		{"larger than the spool, chunked", func(in *ingress) { in.Spool.Cap = 1_500_000 }, io.MultiReader(zeros(2 << 20)), nil, 503, "unavailable", "Retry-After"},
		{"no spool folder", func(in *ingress) { in.Spool.Dir += "/none" }, zeros(2 << 20), nil, 503, "unavailable", "Retry-After"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := serve(t, c.change)
			a := in.post(t, "acme", c.body, c.headers...)
			if got := a.problem(t); a.Status != c.status || got != c.problem || !strings.Contains(a.Body, c.says) {
				t.Errorf("got %d %s: %s", a.Status, got, a.Body)
			}
			if len(in.deliveries()) != 0 {
				t.Error("it was received")
			}
			if line := in.line(t); line["partner"] != "acme" {
				t.Errorf("the log says %v", line)
			}
			if strings.Contains(a.Body, in.Spool.Dir) {
				t.Error("the answer tells where the spool is")
			}
			in.counted(t, 0, "edigw_spool_bytes")
			in.counted(t, 0, "edigw_inflight", "transport", "http")
			if (a.Status == 503) != (a.Header.Get("Retry-After") != "") {
				t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
			}
		})
	}
}

func TestContentDigestOfBody(t *testing.T) {
	sum256, sum512 := sha256.Sum256([]byte(interchange)), sha512.Sum512([]byte(interchange))
	packed, err := io.ReadAll(zipped(t, []byte(interchange)))
	if err != nil {
		t.Fatal(err)
	}
	packedSum := sha256.Sum256(packed)
	field := func(name string, sum []byte) string {
		return name + "=:" + base64.StdEncoding.EncodeToString(sum) + ":"
	}
	for _, c := range []struct {
		name    string
		body    string
		headers []string
		fits    bool
	}{
		{"sha-256", interchange, []string{"Content-Digest", field("sha-256", sum256[:])}, true},
		{"sha-512", interchange, []string{"Content-Digest", field("sha-512", sum512[:])}, true},
		{"both", interchange, []string{"Content-Digest", field("sha-512", sum512[:]), "Content-Digest", field("sha-256", sum256[:])}, true},
		{"of the compressed bytes", string(packed), []string{"Content-Encoding", "gzip", "Content-Digest", field("sha-256", packedSum[:])}, true},
		{"of what was compressed", string(packed), []string{"Content-Encoding", "gzip", "Content-Digest", field("sha-256", sum256[:])}, false},
		{"of other bytes", interchange + "\n", []string{"Content-Digest", field("sha-256", sum256[:])}, false},
		{"one of two wrong", interchange, []string{"Content-Digest", field("sha-256", sum256[:]), "Content-Digest", field("sha-512", make([]byte, 64))}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := serve(t, func(in *ingress) { in.Handler.Receive = refuseFaults })
			a := in.post(t, "acme", strings.NewReader(c.body), c.headers...)
			d := in.deliveries()[0]
			if c.fits {
				if a.Status != 201 || d.Fault != nil {
					t.Errorf("got %d %s", a.Status, a.Body)
				}
				return
			}
			if a.Status != 400 || a.problem(t) != "digest-mismatch" {
				t.Errorf("got %d %s", a.Status, a.Body)
			}
			// It is handed on, for quarantine, with its fault: no key is made of it.
			if d.Fault == nil || d.Fault.Reason != "digest-mismatch" {
				t.Errorf("the fault is %v", d.Fault)
			}
			in.counted(t, 1, "edigw_rejections_total", "transport", "http", "partner", "acme", "reason", "digest-mismatch")
		})
	}

	t.Run("in the trailer", func(t *testing.T) {
		for _, c := range []struct {
			sum    []byte
			status int
		}{{sum512[:], 201}, {make([]byte, 64), 400}} {
			w := serve(t, func(in *ingress) { in.Handler.Receive = refuseFaults }).dial(t)
			w.head("Transfer-Encoding: chunked", "Trailer: Content-Digest")
			w.send("%x\r\n%s\r\n0\r\nContent-Digest: %s\r\n\r\n", len(interchange), interchange, field("sha-512", c.sum))
			if a := w.answer(); a.Status != c.status {
				t.Errorf("got %d %s", a.Status, a.Body)
			}
		}
	})
}

func TestUnreadBody(t *testing.T) {
	t.Parallel()

	t.Run("a copy of a running message is refused before its body is read", func(t *testing.T) {
		var asked []string
		in := serve(t, func(in *ingress) {
			in.Handler.Reserve = func(partner, key string) (func(), bool) {
				asked = append(asked, partner+" "+key)
				return nil, false
			}
		})
		w := in.dial(t)
		w.head("Idempotency-Key: big", "Content-Length: 1073741824", "Expect: 100-continue")
		a := w.answer() // no 100 before it
		if a.Status != 409 || a.problem(t) != "in-progress" || a.Header.Get("Retry-After") == "" || !w.closed() {
			t.Errorf("got %d %v %s", a.Status, a.Header, a.Body)
		}
		w = in.dial(t)
		w.head("Idempotency-Key: big", "Content-Length: 1073741824")
		w.send("UNB+")
		if a := w.answer(); a.Status != 409 || !w.closed() {
			t.Errorf("got %d %v", a.Status, a.Header)
		}
		if len(asked) != 2 || asked[0] != "acme http:north:big" {
			t.Errorf("asked for %q", asked)
		}
		in.counted(t, 2, "edigw_deliveries_total", "transport", "http", "partner", "acme", "outcome", "busy")
	})

	t.Run("without an id there is nothing to ask for", func(t *testing.T) {
		in := serve(t, func(in *ingress) { in.Handler.Reserve = func(string, string) (func(), bool) { return nil, false } })
		if a := in.post(t, "acme", strings.NewReader(interchange)); a.Status != 201 {
			t.Errorf("got %d", a.Status)
		}
	})

	t.Run("who waits for 100 Continue gets it, or the refusal", func(t *testing.T) {
		in := serve(t, nil)
		w := in.dial(t)
		w.head("Expect: 100-continue", fmt.Sprintf("Content-Length: %d", len(interchange)))
		line, err := w.r.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatalf("got %q, %v", line, err)
		}
		if _, err := w.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		w.send("%s", interchange)
		if a := w.answer(); a.Status != 201 {
			t.Errorf("got %d", a.Status)
		}
		w = in.dial(t)
		w.head("Expect: 100-continue", "Content-Length: 99999999999")
		if a := w.answer(); a.Status != 413 {
			t.Errorf("got %d", a.Status)
		}
	})

	t.Run("who is still sending hears the answer before the connection ends", func(t *testing.T) {
		in := serve(t, nil)
		for range 4 {
			a := in.post(t, "acme", zeros(8<<20), "Authorization", "")
			if a.Status != 401 {
				t.Fatalf("got %d", a.Status)
			}
		}
	})

	t.Run("a stranger's small body leaves the connection usable", func(t *testing.T) {
		w := serve(t, nil).dial(t)
		for range 2 {
			w.send("POST /in/acme HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\nhello")
			if a := w.answer(); a.Status != 401 {
				t.Errorf("got %d", a.Status)
			}
		}
	})

	t.Run("a stranger who sends no body does not hold a connection", func(t *testing.T) {
		w := serve(t, nil).dial(t)
		w.send("POST /in/acme HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\n")
		start := time.Now()
		if a := w.answer(); a.Status != 401 || !w.closed() {
			t.Errorf("got %d", a.Status)
		}
		if took := time.Since(start); took > 9*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestBrokenBody(t *testing.T) {
	t.Parallel()

	refused := func(t *testing.T, in *ingress, w *wire, status int, problem string) {
		t.Helper()
		a := w.answer()
		if a.Status != status || a.problem(t) != problem || !w.closed() {
			t.Errorf("got %d %s", a.Status, a.Body)
		}
		if len(in.deliveries()) != 0 {
			t.Error("it was received")
		}
	}

	t.Run("cut short", func(t *testing.T) {
		in := serve(t, nil)
		w := in.dial(t)
		w.head("Content-Length: 1000")
		w.send("UNB+UNOC:3")
		halfClose(t, w)
		refused(t, in, w, 400, "incomplete-body")
	})

	t.Run("chunked and cut short", func(t *testing.T) {
		in := serve(t, nil)
		w := in.dial(t)
		w.head("Transfer-Encoding: chunked")
		w.send("5\r\nUNB+U\r\n")
		halfClose(t, w)
		refused(t, in, w, 400, "incomplete-body")
	})

	t.Run("chunked, and no chunk", func(t *testing.T) {
		in := serve(t, nil)
		w := in.dial(t)
		w.head("Transfer-Encoding: chunked")
		w.send("zz\r\nUNB+U\r\n")
		refused(t, in, w, 400, "incomplete-body")
	})

	t.Run("compressed, large and cut short gives the spool back", func(t *testing.T) {
		in := serve(t, nil)
		w := in.dial(t)
		packed, err := io.ReadAll(zippedFrom(t, io.LimitReader(noise(), 3<<20)))
		if err != nil {
			t.Fatal(err)
		}
		w.head("Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(packed)))
		if _, err := w.Write(packed[:2<<20]); err != nil {
			t.Fatal(err)
		}
		halfClose(t, w)
		refused(t, in, w, 400, "incomplete-body")
		in.counted(t, 0, "edigw_spool_bytes")
	})

	t.Run("one byte a moment is too slow", func(t *testing.T) {
		in := serve(t, func(in *ingress) { in.Limits.Pace = 200 * time.Millisecond })
		w := in.dial(t)
		w.head("Content-Length: 1000")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				if _, err := w.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		refused(t, in, w, 408, "request-timeout")
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})

	t.Run("who keeps the pace may take longer than it", func(t *testing.T) {
		in := serve(t, func(in *ingress) { in.Limits.Pace = 400 * time.Millisecond })
		w := in.dial(t)
		block := strings.Repeat("x", 32<<10)
		w.head(fmt.Sprintf("Content-Length: %d", 5*len(block)))
		for range 5 {
			time.Sleep(150 * time.Millisecond)
			w.send("%s", block)
		}
		if a := w.answer(); a.Status != 201 {
			t.Errorf("got %d %s", a.Status, a.Body)
		}
	})

	t.Run("a long reception outlives the pace, and the connection is used again", func(t *testing.T) {
		in := serve(t, func(in *ingress) {
			in.Limits.Pace = 50 * time.Millisecond
			in.Handler.Receive = func(c ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
				time.Sleep(150 * time.Millisecond)
				if c.Err() != nil {
					t.Errorf("the request was cancelled: %v", c.Err())
				}
				return accept(d)
			}
		})
		w := in.dial(t)
		for range 2 {
			w.head(fmt.Sprintf("Content-Length: %d", len(interchange)))
			w.send("%s", interchange)
			if a := w.answer(); a.Status != 201 {
				t.Errorf("got %d %s", a.Status, a.Body)
			}
		}
	})

	t.Run("the client hanging up does not undo the work", func(t *testing.T) {
		finished := make(chan error, 1)
		in := serve(t, func(in *ingress) {
			in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
				time.Sleep(100 * time.Millisecond)
				r, err := accept(d)
				finished <- err
				return r, err
			}
		})
		w := in.dial(t)
		w.head(fmt.Sprintf("Content-Length: %d", len(interchange)))
		w.send("%s", interchange)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-finished; err != nil {
			t.Error(err)
		}
		if line := in.line(t); line["outcome"] != "accepted" || line["status"] != 201.0 {
			t.Errorf("the log says %v", line)
		}
	})
}

func TestLargeUploadKeepsMemoryFlat(t *testing.T) {
	const size = 200 << 20
	arrived := int64(0)
	in := serve(t, func(in *ingress) {
		in.Handler.Receive = func(_ ctx, d *gateway.Delivery) (*gateway.Receipt, error) {
			arrived = d.Payload.Size()
			return accept(d)
		}
	})
	in.post(t, "acme", strings.NewReader(interchange)) // what is made once is made
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if a := in.post(t, "acme", io.LimitReader(segments{}, size)); a.Status != 201 {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	runtime.ReadMemStats(&after)
	if arrived != size {
		t.Errorf("%d bytes arrived", arrived)
	}
	// All that was ever allocated meanwhile, by both sides and the test, which
	// reads 4 MiB of it back.
	if grew := (after.TotalAlloc - before.TotalAlloc) >> 20; grew > 32 {
		t.Errorf("%d MiB were allocated for an upload of %d MiB", grew, size>>20)
	}
}
