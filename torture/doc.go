// Torture receives a plan of messages while everything around them fails, and
// then holds what the partners were told and what the database holds against the
// invariants of docs/reference/outcomes.md.
//
// A seed is one run: several gateways, built to be told to fail, on one
// PostgreSQL that flushes to disk, behind a balancer; partners who send, lose
// answers and send again, each with a ledger of his own; operators who decide;
// and a nemesis that kills, stops, cuts, fills and sets clocks wrong. A seed
// repeats the plan of a run, what is sent and what fails after how many
// deliveries, but not how the machine schedules it.
//
// The checker never asks package gateway what is right: it judges histories. It
// reads the names of states and the packed message records from package dedup
// alone. docs/explanation/torture.md tells how to read what it says.
package main
