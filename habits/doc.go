// Package habits learns from the journal what partners usually do: how late they send
// again, how they count their interchanges, and when something arrives. From that it
// advises on windows, sees a number that is missing (a lost file), and a partner who has
// fallen silent.
//
// It reads what was received after it was answered and writes nothing of a delivery's own;
// it owns the tables habit, habit_series, habit_pass, habit_outage and sequence_gap. What
// it keeps are sums, so that the evidence outlives the purge.
package habits
