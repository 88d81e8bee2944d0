package cms

// Compressed is a CompressedData that was read: RFC 3274, RFC 5402. It lies in the
// bytes that it was read from.
type Compressed struct {
	Type Kind // of the content
	Size int  // compressed, in bytes
}

// ParseCompressed reads a CompressedData. The error wraps ErrMalformed, ErrLimit or
// ErrUnsupported.
func ParseCompressed(der []byte, l Limits) (*Compressed, error) { return nil, ErrUnsupported }

// Decompress gives the content, of max bytes at most. The error wraps ErrLimit
// where there are more, and ErrDecompress where the content is broken.
func (c *Compressed) Decompress(max int64) ([]byte, error) { return nil, ErrUnsupported }

// Compress makes a CompressedData in DER.
func Compress(content []byte) ([]byte, error) { return nil, ErrUnsupported }
