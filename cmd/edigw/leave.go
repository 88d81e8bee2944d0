package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/edigw/edigw/accounts"
)

// localPerson acts with the token that the gateway leaves on its own machine.
const localPerson = "local"

// localTokenHolds is how long that token holds after the gateway is gone; while it
// runs it prolongs it each localTokenEvery.
const (
	localTokenHolds = 7 * 24 * time.Hour
	localTokenEvery = 12 * time.Hour
)

// leaveAccess writes address and an administrator's token where the command line
// of this machine finds them. A data folder has one: that of an earlier start is
// kept, and where its file is gone it is revoked.
func (s *started) leaveAccess(a *app, people *accounts.Store) error {
	dir := a.grammar.DataDir
	known := ""
	if old, err := readLocalAccess(dir); err == nil {
		known = old.Token
	}
	label, err := localLabel(dir)
	if err != nil {
		return err
	}
	plain, id, err := people.StandingToken(a.ctx, accounts.Identity{Person: "edigw serve", Role: accounts.Admin},
		accounts.NewToken{Person: localPerson, Role: accounts.Admin, Label: label, Expires: s.admin.clock.Now().Add(localTokenHolds)}, known)
	switch {
	case errors.Is(err, accounts.ErrUnfit): // somebody has disabled him, or left him a lesser role
		s.log.Info("the command line of this machine has no token of its own", "because", err)
	case err != nil:
		return err
	default:
		s.access.Token, s.token = plain, id
	}
	s.access.URL, s.access.Ingress = reachable(s.access.URL), reachable(s.access.Ingress)
	if err := writePrivate(localAccessFile(dir), s.access); err != nil {
		return fmt.Errorf("leave the address for the command line: %w", err)
	}
	return nil
}

// localLabel tells the token of a data folder from those of others: by the machine
// and a number that the folder keeps. The machine alone would not do, of which many
// are called localhost, nor the number alone, which a copied folder has as well.
func localLabel(dir string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "folder")
	number, err := readNumber(file)
	if errors.Is(err, fs.ErrNotExist) {
		b := make([]byte, 8)
		if _, err := rand.Read(b); err != nil {
			return "", err
		}
		number = hex.EncodeToString(b)
		err = writePrivate(file, number)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; remove it, and the next start makes another", file, err)
	}
	if runes := []rune(printable(host)); len(runes) > 24 {
		host = string(runes[:24])
	}
	return fmt.Sprintf("command line of %s, %s", printable(host), number), nil
}

func readNumber(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.Trim(string(b), "\" \r\n") // it is JSON, as what stands beside it
	if raw, err := hex.DecodeString(text); err != nil || len(raw) != 8 {
		return "", errors.New("holds no number of 16 hex digits")
	}
	return text, nil
}

// keepAccess prolongs the token of a gateway that runs. One whose file is gone, or
// has another token, is not prolonged, and ends.
func (s *started) keepAccess(ctx context.Context, file string, people *accounts.Store) {
	t := time.NewTicker(localTokenEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := s.prolongAccess(ctx, file, people); err != nil && ctx.Err() == nil {
				s.log.Warn("the token of this machine's command line was not prolonged", "error", err)
			}
		}
	}
}

func (s *started) prolongAccess(ctx context.Context, file string, people *accounts.Store) error {
	if s.access.Token == "" {
		return nil
	}
	at, err := readLocalAccess(filepath.Dir(file))
	if err != nil {
		return err
	}
	if at.Token != s.access.Token {
		return fmt.Errorf("%s has another token", file)
	}
	return people.ProlongToken(ctx, s.token, s.admin.clock.Now().Add(localTokenHolds))
}

// reachable turns an address that means every interface into one that a client
// on this machine can use. The wildcard of IPv6 takes IPv4 as well.
func reachable(bound string) string {
	u, err := url.Parse(bound)
	if err != nil {
		return bound
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.String()
}

// writePrivate replaces a file that only its owner may read, all at once.
func writePrivate(path string, v any) error {
	text, err := jsonLines(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".api-*") // mode 0600
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync() // else the name may outlive a power cut, and what stands in it not
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
