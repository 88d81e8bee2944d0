// Package jsontext finds what encoding/json lets through without a word: a key that
// stands twice in an object. RFC 8259 §4 leaves open which of the two counts, so
// two programs that read one body may act on different values; whoever reads a body
// refuses it. It reads nothing else of JSON.
package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Twice gives the path of the first key that stands twice in its object, such as
// http.tokens[2].label, whose lists count from one. ok is false where none does, and
// where text is no JSON: who decodes it says why.
func Twice(text []byte) (path string, ok bool) {
	if !json.Valid(text) { // which bounds the nesting too
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a number may be larger than any float64
	path, ok, err := value(d, "")
	return path, ok && err == nil
}

// value reads the next value, whose path is given.
func value(d *json.Decoder, path string) (string, bool, error) {
	word, err := d.Token()
	if err != nil {
		return "", false, err
	}
	switch word {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			word, err := d.Token()
			if err != nil {
				return "", false, err
			}
			key, _ := word.(string) // it is one: the text is valid
			below := key
			if path != "" {
				below = path + "." + key
			}
			if seen[key] {
				return below, true, nil
			}
			seen[key] = true
			if at, twice, err := value(d, below); twice || err != nil {
				return at, twice, err
			}
		}
	case json.Delim('['):
		for i := 1; d.More(); i++ {
			if at, twice, err := value(d, path+"["+strconv.Itoa(i)+"]"); twice || err != nil {
				return at, twice, err
			}
		}
	default:
		return "", false, nil
	}
	_, err = d.Token() // the end
	return "", false, err
}
