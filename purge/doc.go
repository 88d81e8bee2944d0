// Package purge removes what has been kept as long as its partner's retention says, and
// nothing else (design §7).
//
// A run goes through five steps, in short transactions of which each commits by itself:
// it moves what stands in the wrong month since a retention changed; it deletes keys whose
// day has passed, with what hangs on them, then guards, then documents; it drops the months
// of payloads, evidence, acknowledgements, deliveries and events that have passed, after it
// has moved what must stay out of them. The SQL is the stores'; what may go is judged here,
// by the windows that are in force at that moment: the day that stands in a row says only
// when to look at it.
//
// One process at a time has the run, by a lease in the table purge that every transaction
// renews; who has lost it commits nothing more. A run that was killed is gone on with by
// the next. It refuses where the database's clock jumped, where a stored retention says
// what this program does not understand, and where a restored database waits for a person.
//
// Preview judges by the same functions without deleting: what it counts is what goes.
package purge
