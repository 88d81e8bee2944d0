package x12

import (
	"sync"

	"github.com/edigw/edigw/edi"
)

// buffers are what a scan allocates beside its result. They are used again: a
// small interchange would otherwise cost ten times its size.
type buffers struct {
	lex     edi.Lexer
	content *edi.ContentDigest
}

var freeBuffers = sync.Pool{New: func() any {
	return &buffers{content: edi.NewContentDigest("x12", nil)}
}}

// maxKept is the size above which buffers are not kept.
const maxKept = 4 << 20

func takeBuffers() *buffers { return freeBuffers.Get().(*buffers) }

// giveBack lets go of the text and keeps the rest for another scan.
func (b *buffers) giveBack() {
	b.lex.Reset(edi.Delimiters{}, nil)
	if b.lex.Allocated() <= maxKept {
		freeBuffers.Put(b)
	}
}
