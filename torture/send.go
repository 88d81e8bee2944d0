package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// client gives up on an answer, as a partner does, after some seconds.
var client = http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}

// deliver sends once, on a connection of its own, and writes down what came back.
func (r *run) deliver(s shipment) *delivery {
	d := &delivery{shipment: s}
	d.sent = time.Now()
	r.ledger.begin(d)
	d.err = d.exchange(r.ctx, r.machine.ingress.address())
	d.answered = time.Now()
	r.online.see(d)
	return d
}

func (d *delivery) exchange(ctx context.Context, to string) error {
	payload := d.payload()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+to+"/in/"+d.sender.id(), strings.NewReader(payload))
	if err != nil {
		return err
	}
	token := d.sender.token()
	if d.faulty == badToken {
		token += "x"
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if d.id != "" {
		request.Header.Set("Idempotency-Key", `"`+d.id+`"`)
	}
	if d.faulty == badDigest { // RFC 9530 §2
		request.Header.Set("Content-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(make([]byte, 32))+":")
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	d.status, d.verdict, d.body = response.StatusCode, response.Header.Get("Edigw-Verdict"), string(body)
	d.deliveryID, d.retryAfter = response.Header.Get("Edigw-Delivery"), response.Header.Get("Retry-After") != ""
	if err := json.Unmarshal(body, &d.receipt); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	for _, raw := range d.receipt.Interchanges {
		var it item
		if err := json.Unmarshal(raw, &it); err != nil {
			return fmt.Errorf("an interchange of the body: %w", err)
		}
		d.receipt.items = append(d.receipt.items, it)
	}
	return nil
}
