// Command big sends an interchange of a gibibyte of small invoices through the
// built program and holds it to what is promised of it: memory does not grow with
// the file, the receipt stays small, the documents are in the tables, a copy that
// comes meanwhile is refused before its body is read, and a gateway killed in the
// middle leaves no file and no row.
//
//	go run ./bench/big [-size 1073741824]
//	go run ./bench/big -as4 [-deferred]
//	go run ./bench/big -invoices 10000
//
// With -as4 the interchange comes over AS4, compressed and signed, encrypted and not:
// memory keeps its bounds, the same bytes again have the same receipt, and what is a
// byte larger than is taken is refused by EBMS:0010 and leaves nothing.
//
// With -invoices it is one interchange of so many invoices, once of a few lines each and
// once of twenty: one transaction writes them all, in 192 MiB.
//
// It prints each figure beside its bound, and ends with 1 if one is broken.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	size := flag.Int64("size", fromEnv("BIG_BYTES", 1<<30), "bytes of the interchange (BIG_BYTES)")
	over := flag.Bool("as4", false, "send it over AS4, signed and encrypted")
	deferred := flag.Bool("deferred", false, "over AS4: leave the documents to workers, of which there are none, and measure the receipt alone")
	invoices := flag.Int("invoices", 0, "send one interchange of so many invoices")
	program := flag.String("program", "", "the gateway; empty: built from here")
	flag.Parse()
	b := &big{size: *size, program: *program, deferred: *deferred, out: os.Stdout}
	run := b.run
	switch {
	case *over:
		run = b.receiveAS4
	case *invoices > 0:
		b.messages, b.memory = *invoices, invoicesBound
		run = b.receiveInvoices
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "big:", err)
		os.Exit(1)
	}
	if len(b.broken) > 0 {
		fmt.Fprintln(os.Stderr, "big: broken:", b.broken)
		os.Exit(1)
	}
}

// fromEnv gives a number from the environment.
func fromEnv(name string, otherwise int64) int64 {
	if v, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return v
	}
	return otherwise
}
