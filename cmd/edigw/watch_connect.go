package main

import "time"

// tokenAge is after how long a token that was made is made anew: it holds for a
// day.
const tokenAge = 12 * time.Hour

// connect finds the ingress and a token of the partner.
func (f *dropFolder) connect(w *watch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.to.http != nil && time.Since(f.made) < tokenAge {
		return nil
	}
	c := ingestCommand{Partner: f.partner, Ingress: w.command.Ingress, PartnerToken: w.command.PartnerToken, connection: w.command.connection}
	to, giveBack, err := c.target(w.sender)
	if err != nil {
		return err
	}
	if f.giveBack != nil {
		if err := f.giveBack(); err != nil {
			w.log.Warn("a token that was made for this run was not revoked; it ends by itself within a day", "partner", f.partner, "err", err)
		}
	}
	f.to, f.giveBack, f.made = to, giveBack, time.Now()
	return nil
}

// reach is where to send and with what, as connect found it.
func (f *dropFolder) reach() ingress {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to
}

// forget has connect find a token anew.
func (f *dropFolder) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made = time.Time{}
}
