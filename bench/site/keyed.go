package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Keyed is a site with a master key, the program, and the gateway once it runs.
type Keyed struct {
	Site    *Site
	Running *Gateway // nil before Start
	program string
	env     []string
}

// OpenKeyed opens a site of the partners, in YAML, builds the program and writes a master
// key into folder. The program has env besides, each name=value.
func OpenKeyed(ctx context.Context, partners, folder string, env ...string) (_ *Keyed, err error) {
	k := &Keyed{}
	if k.Site, err = OpenWith(ctx, Options{Partners: partners}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close(context.WithoutCancel(ctx)))
		}
	}()
	if k.program, err = k.Site.Build(ctx); err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	master := filepath.Join(folder, "master")
	if err := os.WriteFile(master, []byte(base64.StdEncoding.EncodeToString(key)), 0o600); err != nil {
		return nil, err
	}
	k.env = append(env, "EDIGW_MASTER_KEY_FILE="+master)
	return k, nil
}

// Start starts the gateway.
func (k *Keyed) Start(ctx context.Context) (err error) {
	k.Running, err = k.Site.Start(ctx, k.program, k.env...)
	return err
}

// Run runs a command of the program and gives its output.
func (k *Keyed) Run(ctx context.Context, arguments ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, k.program, arguments...)
	c.Env = append(append(os.Environ(), "EDIGW_DATABASE_URL="+k.Site.URL()), k.env...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("edigw %s: %w: %s%s", strings.Join(arguments, " "), err, said.Bytes(), out)
	}
	return out, err
}

// Close stops the gateway and closes the site.
func (k *Keyed) Close(ctx context.Context) error {
	var errs []error
	if k.Running != nil {
		errs = append(errs, k.Running.Stop())
	}
	return errors.Join(append(errs, k.Site.Close(ctx))...)
}
