package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// connection says how to reach the gateway's API. Both empty: as the gateway on
// this machine wrote it down.
type connection struct {
	API   string `name:"api" setting:"" placeholder:"URL" help:"Address of the gateway's operations listener, like http://127.0.0.1:8081."`
	Token string `setting:"" secret:"" placeholder:"TOKEN" help:"API token."`
}

// localAccess is what a running gateway leaves for the command line on its own
// machine, readable by its own user alone.
type localAccess struct {
	URL                string `json:"url"`
	Token              string `json:"token"`
	Ingress            string `json:"ingress"`                       // where partners send to
	Certificate        string `json:"certificate,omitempty"`         // file of the one that the operations listener shows, where it speaks TLS
	IngressCertificate string `json:"ingress_certificate,omitempty"` // that of the ingress
}

func localAccessFile(dataDir string) string { return filepath.Join(dataDir, "api.json") }

func readLocalAccess(dataDir string) (localAccess, error) {
	var at localAccess
	text, err := os.ReadFile(localAccessFile(dataDir))
	if err != nil {
		return at, err
	}
	if err := json.Unmarshal(text, &at); err != nil {
		return at, fmt.Errorf("%s: %w; start the gateway anew, it writes the file", localAccessFile(dataDir), err)
	}
	return at, nil
}

// client asks the API.
type client struct {
	url, token string
	http       *http.Client
}

func (a *app) client(c connection) (*client, error) {
	at := localAccess{URL: c.API, Token: c.Token}
	if c.API == "" {
		local, err := readLocalAccess(a.grammar.DataDir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("no gateway found on this machine: %w; start one with `edigw serve`, name its data folder with --data-dir, or give --api and --token", err)
		}
		if err != nil {
			return nil, err
		}
		at = local
		if c.Token != "" {
			at.Token = c.Token
		}
		if at.Token == "" {
			return nil, usage("the gateway on this machine gives its command line no token: add --token, EDIGW_TOKEN or EDIGW_TOKEN_FILE")
		}
	} else if c.Token == "" {
		return nil, usage("--api is given without a token: add --token, EDIGW_TOKEN or EDIGW_TOKEN_FILE; `edigw tokens create` makes one")
	}
	u, err := url.Parse(at.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usage("--api must be an address like http://127.0.0.1:8081, not %q", at.URL)
	}
	h, err := httpClient(at.Certificate)
	if err != nil {
		return nil, err
	}
	return &client{url: strings.TrimRight(at.URL, "/"), token: at.Token, http: h}, nil
}

// httpClient trusts what the system trusts; where a certificate file is named,
// that very certificate and no other, whatever name it is for: the gateway's own
// machine is reached as 127.0.0.1.
func httpClient(certificate string) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if certificate != "" {
		text, err := os.ReadFile(certificate)
		if err != nil {
			return nil, err
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, fmt.Errorf("%s holds no PEM certificate", certificate)
		}
		t.TLSClientConfig = &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // the certificate itself is compared below
			VerifyConnection: func(c tls.ConnectionState) error {
				if len(c.PeerCertificates) == 0 || !bytes.Equal(c.PeerCertificates[0].Raw, block.Bytes) {
					return fmt.Errorf("the certificate shown is not the one in %s", certificate)
				}
				return nil
			},
		}
	}
	// A question is answered soon or not at all; a body may take its time.
	t.ResponseHeaderTimeout = time.Minute
	return &http.Client{Transport: t}, nil
}

// patient makes the client wait so long for an answer to begin.
func (c *client) patient(d time.Duration) {
	if t, ok := c.http.Transport.(*http.Transport); ok {
		t.ResponseHeaderTimeout = d
	}
}

// problem is what the API and the ingress say of an error (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Line   int    `json:"line"`
		Key    string `json:"key"`
		Detail string `json:"detail"`
	} `json:"errors"`
	RequestID string `json:"request_id"`
}

func (p *problem) Error() string {
	text := p.Title
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.RequestID != "" {
		text += " (request " + p.RequestID + ")"
	}
	return printableLines(text)
}

// is reports whether the problem is of that type.
func (p *problem) is(kind string) bool { return p != nil && strings.HasSuffix(p.Type, "/"+kind) }

func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// do asks and gives the answer's body, which the caller closes. headers are names
// and values.
func (c *client) do(a *app, method, path string, query url.Values, contentType string, body io.Reader, headers ...string) (*http.Response, error) {
	at := c.url + "/api/v1" + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(a.ctx, method, at, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w; is the gateway running there? `edigw doctor` tells more", err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	return nil, problemOf(resp)
}

// problemOf reads the error of an answer and closes it.
func problemOf(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("read the answer %s: %w", resp.Status, err)
	}
	p := &problem{}
	if json.Unmarshal(text, p) != nil || p.Title == "" {
		return fmt.Errorf("%s answered %s, which is no answer of edigw: is the address right?", resp.Request.URL.Host, resp.Status)
	}
	return p
}

// ask gets path and reads the JSON answer into v, if v is not nil; it gives the
// bytes too.
func (c *client) ask(a *app, method, path string, query url.Values, send, v any) ([]byte, error) {
	var body io.Reader
	contentType := ""
	if send != nil {
		text, err := json.Marshal(send)
		if err != nil {
			return nil, err
		}
		body, contentType = bytes.NewReader(text), "application/json"
	}
	return c.answer(a, method, path, query, contentType, body, v)
}

func (c *client) answer(a *app, method, path string, query url.Values, contentType string, body io.Reader, v any, headers ...string) (_ []byte, err error) {
	resp, err := c.do(a, method, path, query, contentType, body, headers...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := resp.Body.Close(); err == nil {
			err = e
		}
	}()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if v != nil {
		if err := json.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("the answer to %s is not what this version expects: %w; are client and gateway of the same version?", path, err)
		}
	}
	return text, nil
}

// filters gives those that are not empty.
func filters(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}
