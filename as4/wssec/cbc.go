package wssec

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"io"
)

// openCBC decrypts AES-CBC as it reads: XML Encryption 1.1 §5.2.3. Its padding is
// taken off where it is one, and left where it is none: who tries out paddings
// (Jager and Somorovsky 2011) learns nothing but that the message cannot be decrypted.
func openCBC(p Part, block cipher.Block) (io.ReadCloser, error) {
	in, err := p.Open()
	if err != nil {
		return nil, err
	}
	var iv [aes.BlockSize]byte
	if _, err := io.ReadFull(in, iv[:]); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &reader{&cbcReader{in: in, mode: cipher.NewCBCDecrypter(block, iv[:])}, in}, nil
}

type cbcReader struct {
	in     io.Reader
	mode   cipher.BlockMode
	buf    [4<<10 + aes.BlockSize]byte
	from   int // what is decrypted and not given yet begins here
	to     int // and ends here, but for the last block, which may hold the padding
	failed error
}

func (r *cbcReader) Read(p []byte) (int, error) {
	for {
		give := r.to - r.from
		if r.failed == nil {
			give -= aes.BlockSize
		}
		if give > 0 {
			n := copy(p, r.buf[r.from:r.from+give])
			r.from += n
			return n, nil
		}
		if r.failed != nil {
			return 0, r.failed
		}
		r.fill()
	}
}

// fill decrypts on; at the end it takes the padding off.
func (r *cbcReader) fill() {
	r.to = copy(r.buf[:], r.buf[r.from:r.to])
	r.from = 0
	n, err := io.ReadFull(r.in, r.buf[r.to:(len(r.buf)-r.to)/aes.BlockSize*aes.BlockSize+r.to])
	whole := n / aes.BlockSize * aes.BlockSize
	r.mode.CryptBlocks(r.buf[r.to:r.to+whole], r.buf[r.to:r.to+whole])
	r.to += whole
	switch err {
	case nil:
		return
	case io.EOF, io.ErrUnexpectedEOF:
		r.failed = io.EOF
	default:
		r.failed = err
		return
	}
	if pad := int(r.buf[max(r.to-1, 0)]); r.to > 0 && pad >= 1 && pad <= aes.BlockSize && pad <= r.to {
		r.to -= pad
	}
}
