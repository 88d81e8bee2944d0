package cases_test

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"testing"
)

// payload is the business payload of a raw HTTP request: its body, or the first
// part of a signed one, without the line end that belongs to the boundary.
func payload(t testing.TB, raw []byte) []byte {
	t.Helper()
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	media, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if media != "multipart/signed" {
		return body
	}
	part, err := multipart.NewReader(bytes.NewReader(body), params["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	if body, err = io.ReadAll(part); err != nil {
		t.Fatal(err)
	}
	return body
}
