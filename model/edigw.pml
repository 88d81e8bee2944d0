/*
 * edigw receives: two nodes on one PostgreSQL, three deliveries, two jobs of the
 * back office.
 *
 * A delivery is any of three interchanges under any of two transport ids, given
 * to any node at any time: a copy, a retry after any failure, a correction, a
 * drift. Nothing in it depends on what the partner was told, so every partner is
 * among them. Follow gateway/receive.go in node.pml; docs/explanation/model.md
 * says what is left out, and what each mutation, a macro, is and breaks.
 */
#define DELIVERIES 3
#ifndef OFFICES
#define OFFICES 2
#endif

byte left = DELIVERIES;
byte running; /* deliveries, or groups of them */
byte begun;   /* offices that have begun */
byte ended;   /* offices that have nothing more to do */

#include "postgresql.pml"
#include "outcomes.pml"
#include "invariants.pml"

#if defined(READ_WHILE_LOCKING) || defined(DECIDES_ON_THE_LOOK_UP)
#define SNAPSHOT byte seen_state[2]; byte seen_a[2]; byte seen_x[2]; byte seen_attempts[2]; byte seen_answer[2];
inline snapshot()
{
	for (r : D1 .. D2) {
		seen_state[r] = state[r]; seen_a[r] = fate_a[r]; seen_x[r] = fate_x[r];
		seen_attempts[r] = attempts[r]; seen_answer[r] = answer[r]
	}
	r = 0
}
#else
#define SNAPSHOT
#define snapshot() skip
#endif
#ifdef READ_WHILE_LOCKING
#define read_while_locking() d_step { snapshot() }
#else
#define read_while_locking() skip
#endif

/* what a session knows, and what its transaction is going to write */
#define SESSION \
	SNAPSHOT \
	byte r; \
	unsigned t : 1; unsigned d : 2; unsigned other : 2; \
	unsigned claims : 4; unsigned locks : 4; bool conflict; bool gone; \
	unsigned row : 4; bool failed; bool takes_a; \
	unsigned told : 4; unsigned posts : 4; \
	unsigned new_state : 3; unsigned new_a : 3; unsigned new_x : 3; unsigned new_attempts : 2; unsigned new_answer : 4; \
	bool was_aged; /* when the delivery began */ \
	unsigned calm : 2; bool fails /* nothing happens any more, but that the handler may fail */

#define FORGET_PLAN \
	row = 0; told = 0; posts = 0; new_state = 0; new_a = 0; new_x = 0; new_attempts = 0; new_answer = 0; \
	failed = false; conflict = false; gone = false; other = 0

#include "node.pml"
#include "office.pml"

init {
	atomic {
		run Node(1);
#if OFFICES > 0
		run Office(3);
#endif
#if OFFICES > 1
		run Office(4);
#endif
		run Node(2)
	}
}
