package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/edigw/edigw/accounts"
)

// admit lets a request in: its token proves who asks, the role is enough, the
// answer can be taken, and every parameter is known. A stranger learns nothing about
// parameters.
func (c *call) admit() error {
	rt := c.route
	if rt.Role != "" {
		if err := c.authenticate(); err != nil {
			return err
		}
		if !c.who.Role.AtLeast(rt.Role) {
			return &problem{Status: http.StatusForbidden, Type: "not-allowed", Shown: true, Needs: rt.Role, Detail: fmt.Sprintf("this needs the role %s; the token has the role %s", rt.Role, c.who.Role)}
		}
	}
	if err := c.acceptable(); err != nil {
		return err
	}
	var err error
	c.query, err = parseQuery(c.r.URL.EscapedPath(), c.r.URL.RawQuery, rt.Query)
	return err
}

// authenticate reads the bearer token (RFC 6750 §2.1). Missing, unknown, expired
// and revoked tokens get the same answer.
func (c *call) authenticate() error {
	refused := &problem{Status: http.StatusUnauthorized, Type: "not-authenticated",
		Detail: "send `Authorization: Bearer` with a token that `edigw tokens create` gave and that has neither expired nor been revoked"}
	shown := c.r.Header.Values("Authorization")
	if len(shown) != 1 { // none; or several, of which it is not for us to choose
		return refused
	}
	scheme, token, _ := strings.Cut(shown[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return refused
	}
	refused.Shown = true
	token, tries := strings.TrimSpace(token), &c.api.tries
	switch known, wait := tries.of(time.Now(), c.r.RemoteAddr, token); known {
	case isWrong:
		return refused
	case tooMany:
		return tooManyTries(wait)
	}
	who, err := c.api.Accounts.Authenticate(c.ctx(), token)
	if err == nil || errors.Is(err, accounts.ErrNotAuthenticated) {
		tries.told(time.Now(), c.r.RemoteAddr, token, err == nil)
	}
	if errors.Is(err, accounts.ErrNotAuthenticated) {
		c.api.Log.InfoContext(c.ctx(), "token refused", "remote", c.r.RemoteAddr, "path", c.r.URL.Path, "err", err)
		return refused
	}
	if err != nil {
		return err
	}
	c.who = who
	return nil
}

// path gives a part of the path, unescaped: keys hold colons and slashes. What is
// no text names nothing, and the database could not even be asked for it.
func (c *call) path(name string) (string, error) {
	v := chi.URLParam(c.r, name)
	if c.r.URL.RawPath != "" { // else chi has matched the unescaped path
		u, err := url.PathUnescape(v)
		if err != nil {
			return "", badParameter("%s in the path is not escaped well: %v", name, err)
		}
		v = u
	}
	if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
		return "", &problem{Status: http.StatusNotFound, Type: "not-found", Detail: fmt.Sprintf("%s %q is no text", name, v)}
	}
	return v, nil
}

// pathID gives a part of the path that is an id. What is none names nothing.
func (c *call) pathID(name string) (uuid.UUID, error) {
	v, err := c.path(name)
	if err != nil {
		return uuid.UUID{}, err
	}
	id, err := uuid.Parse(v)
	if err != nil {
		return uuid.UUID{}, &problem{Status: http.StatusNotFound, Type: "not-found", Detail: fmt.Sprintf("%q is no id", v)}
	}
	return id, nil
}
