package main

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/edigw/edigw/partners/keys"
)

type keysRotate struct {
	keyRef
	To      string `required:"" placeholder:"LABEL" help:"Label of the successor."`
	Overlap int    `default:"30" placeholder:"DAYS" help:"Days after that for which what is encrypted to the old key is still opened."`
	Output  string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	signFlags
	keyFlags
}

func (c *keysRotate) Run(a *app) error {
	from, err := c.at()
	if err != nil {
		return err
	}
	overlap, err := daysOf("--overlap", c.Overlap)
	if err != nil {
		return err
	}
	var k *keys.Key
	err = c.act(a, "key.rotated", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, by string) (_ any, err error) {
		k, err = s.RotateTx(ctx, tx, keys.Rotation{Organisation: c.Organisation, Label: c.Label, Successor: c.To, SignFrom: from, Overlap: overlap, By: by})
		if err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	a.progress("send partners the new certificate: edigw keys show %s %s", printable(c.Organisation), printable(c.To))
	return made(a, c.Output, k)
}

type keysSignFrom struct {
	keyRef
	Date   string `arg:"" help:"A day (in UTC), an instant like 2027-01-15T08:00:00Z, or now."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
	keyFlags
}

func (c *keysSignFrom) Run(a *app) error {
	from, err := dateOf("the date", c.Date)
	if err != nil {
		return err
	}
	var k *keys.Key
	err = c.act(a, "key.sign_from", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (_ any, err error) {
		if k, err = s.SignFromTx(ctx, tx, c.Organisation, c.Label, from); err != nil {
			return nil, err
		}
		return tellKey(k), nil
	})
	if err != nil {
		return err
	}
	return made(a, c.Output, k)
}

type keysRetire struct {
	keyRef
	keyFlags
}

func (c *keysRetire) Run(a *app) error {
	var left []string
	err := c.act(a, "key.retired", c.Organisation, c.Label, func(ctx context.Context, s *keys.Store, tx pgx.Tx, _ string) (any, error) {
		k, err := s.RetireTx(ctx, tx, c.Organisation, c.Label)
		if err != nil {
			return nil, err
		}
		left, err = s.LeftTx(ctx, tx, k)
		return tellKey(k), err
	})
	if err == nil {
		a.progress("key %s of %s is retired", printable(c.Label), printable(c.Organisation))
	}
	if err == nil && len(left) > 0 {
		a.progress("%s has no key now for %s", printable(c.Organisation), strings.Join(left, ", "))
	}
	return err
}
