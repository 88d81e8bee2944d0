package wire

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	answerPatience = 30 * time.Second
	unreadPatience = 2 * time.Second
	lingerTime     = 2 * time.Second
	lingerBytes    = 1 << 20
	smallBody      = 64 << 10
)

// Send writes an answer whose header is set but for its length. Its error says that
// it did not reach the network. Who is told to come again is told when, each at
// another time.
func Send(w http.ResponseWriter, status int, body []byte) error {
	header := w.Header()
	if status != http.StatusNoContent {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	switch status {
	case http.StatusConflict:
		header.Set("Retry-After", strconv.Itoa(1+rand.IntN(4)))
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", strconv.Itoa(5+rand.IntN(26)))
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(answerPatience)); err != nil {
		return err
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		if _, err := w.Write(body); err != nil {
			return err
		}
	}
	if err := control.Flush(); err != nil {
		return err
	}
	// It would stand over the next request of the connection.
	return control.SetWriteDeadline(time.Time{})
}

// LeaveUnread bounds what net/http does with a body that nobody read: what is small it
// reads, so that the connection can be used again. broken: it did not come as it was
// announced.
func LeaveUnread(w http.ResponseWriter, r *http.Request, broken bool) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unreadPatience)) // the connection is gone, which the answer will find
	if broken || r.ContentLength < 0 || r.ContentLength > smallBody {
		w.Header().Set("Connection", "close")
	}
}

// Linger waits, when a refusal was sent, for a sender that is still sending. Closed at
// once, with its bytes unread, the connection would be reset, and the answer lost before
// it was read: net/http sees to that only for those who meant to keep the connection.
func Linger(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return // it waits for us
	}
	until := time.Now().Add(lingerTime)
	_ = http.NewResponseController(w).SetReadDeadline(until) // the connection is gone
	if _, err := io.CopyN(io.Discard, r.Body, lingerBytes); err == nil {
		time.Sleep(time.Until(until)) // it is held up by its own window, and may look up
	}
}
