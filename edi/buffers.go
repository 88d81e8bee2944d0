package edi

import "sync"

// buffers are what a pass allocates beside its result. They are used again: a
// small interchange would otherwise cost ten times its size.
type buffers struct {
	lex     Lexer
	content *ContentDigest
}

var freeBuffers = sync.Pool{New: func() any {
	return &buffers{content: NewContentDigest("", nil)}
}}

// maxKept is the size above which buffers are not kept.
const maxKept = 4 << 20

func takeBuffers() *buffers { return freeBuffers.Get().(*buffers) }

// giveBack lets go of the text and keeps the rest for another pass.
func (b *buffers) giveBack() {
	b.lex.Reset(Delimiters{}, nil)
	if b.lex.Allocated() <= maxKept {
		freeBuffers.Put(b)
	}
}
