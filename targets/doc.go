// Package targets holds what effects outside the database happen at: each gives an
// outbox.Target with Send, and with Ask where it can say what became of a step that
// was started. It knows no SQL; leases, attempts and states are the outbox's.
package targets
