package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/edigw/edigw/bench/invoic"
	"github.com/edigw/edigw/bench/site"
)

// invoicesBound is the gateway's VmHWM while it takes an interchange of ten thousand
// invoices.
const invoicesBound = 192 << 20

// linesOf are how long the invoices are: three to five lines, and twenty.
var linesOf = []int64{0, 20}

// receiveInvoices sends an interchange of so many invoices, and again: every document
// is in the tables by one transaction, and memory keeps its bound.
func (b *big) receiveInvoices(ctx context.Context) (err error) {
	if b.site, err = site.Open(ctx, nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.site.Close(context.WithoutCancel(ctx))) }()
	if b.program == "" {
		if b.program, err = b.site.Build(ctx); err != nil {
			return err
		}
	}
	for n, lines := range linesOf {
		if err := b.site.Empty(ctx); err != nil {
			return err
		}
		name := fmt.Sprintf("%d invoices of three to five lines", b.messages)
		if lines > 0 {
			name = fmt.Sprintf("%d invoices of %d lines", b.messages, lines)
		}
		if err := b.receiveMany(ctx, name, int64(n+1), lines); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// receiveMany sends interchange n of the run, and again.
func (b *big) receiveMany(ctx context.Context, name string, n, lines int64) (err error) {
	path := filepath.Join(b.site.Dir, "many.edi")
	var text bytes.Buffer
	if err := invoic.Many(&text, n, int64(b.messages), lines); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return err
	}
	g, err := b.site.Start(ctx, b.program, b.env...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	idle, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	begun := time.Now()
	a := send(g.Address, path, name)
	if a.err != nil {
		return fmt.Errorf("%w\n%s", a.err, g.Log())
	}
	took := time.Since(begun)
	peak, err := site.PeakMemory(g.Pid)
	if err != nil {
		return err
	}
	b.hold(name+": answer", a.status == 201, "%d after %.1f s, %s", a.status, took.Seconds(), mebibytes(int64(text.Len())))
	b.hold(name+": gateway's VmHWM", peak <= b.memory, "%s of %s (%s when it was ready)", mebibytes(peak), mebibytes(b.memory), mebibytes(idle))
	documents, err := b.site.Count(ctx, `select count(*) from document where state = 'live'`)
	if err != nil {
		return err
	}
	wrote, err := b.site.Count(ctx, `select count(*) from document_line`)
	if err != nil {
		return err
	}
	b.hold(name+": documents in the tables", documents == int64(b.messages) && (lines == 0 || wrote == documents*lines), "%d, with %d lines", documents, wrote)
	// A row knows the transaction that wrote it.
	transactions, err := b.site.Count(ctx, `select count(*) from (
		select xmin::text from document union select xmin::text from document_line union select xmin::text from inbox) t`)
	if err != nil {
		return err
	}
	b.hold(name+": transactions that wrote them", transactions == 1, "%d", transactions)

	again := send(g.Address, path, name)
	if again.err != nil {
		return again.err
	}
	if peak, err = site.PeakMemory(g.Pid); err != nil {
		return err
	}
	b.hold(name+", sent again: answer", again.status == 200 && bytes.Equal(again.body, a.body), "%d, the same body: %t", again.status, bytes.Equal(again.body, a.body))
	b.hold(name+", sent again: gateway's VmHWM", peak <= b.memory, "%s of %s", mebibytes(peak), mebibytes(b.memory))
	return nil
}
