package targets

import (
	"errors"
	"net"
)

// bounded is a connection of which so much is read and no more: a peer that goes on and on
// would else fill our memory.
type bounded struct {
	net.Conn
	left int // bytes
}

// errEndless: the peer says more than anybody has to.
var errEndless = errors.New("the server's answers have no end: is that a mail server?")

// Read reads what may still be read.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errEndless
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
