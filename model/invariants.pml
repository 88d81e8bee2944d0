/*
 * The invariants of docs/reference/outcomes.md, by their numbers there, and what
 * is remembered for them alone.
 */
#define holds(number, what) assert(number && (what))
#define ANSWERED 10 /* a partner who sends again is answered */

byte posted;   /* messages with a document, ever */
byte events;   /* messages told to the ERP */
byte live;     /* of b and c: posted and not cancelled since */
bool owed[3];  /* an answer is stored by which the partner leaves it to us, and not all of it is posted yet */

inline post(messages)
{
	holds(1, !(posted & (messages)));
	posted = posted | (messages);
	live = live | (messages) & (B | C);
#ifndef EVENT_OUTSIDE_THE_TRANSACTION
	holds(8, !(events & (messages)));
	events = events | (messages)
#endif
}

#define HAS_ALL(d) ((posted & ALL_OF(d)) == ALL_OF(d))
inline promise(v, a)
{
	owed[v] = (owed[v] || a == YES || a == HELD_DEAD || a == HELD_DRIFT) && !HAS_ALL(v)
}

#define T_QUARANTINED(v) (under[TD(T1, v)] > CARRIED || under[TD(T2, v)] > CARRIED)
#define KEPT(v) (!owed[v] || state[v] || T_QUARANTINED(v))
#define MARKED(v) ((fate_x[v] != POSTED || posted & X(v)) && (fate_a[v] != POSTED || posted & A))
#define LEFT_ALONE(v) (state[v] != QUARANTINED && state[v] != REFUSED || fate_a[v] != POSTED && fate_x[v] != POSTED)
#define CARRIES(t) (under[TD(t, D1)] || under[TD(t, D2)] || under[TD(t, D3)])

/* after each COMMIT */
inline check()
{
	holds(1, !(live & B) || !(live & C)); /* two contents of one reference */
	holds(4, LEFT_ALONE(D1) && LEFT_ALONE(D2) && LEFT_ALONE(D3));
	holds(5, KEPT(D1) && KEPT(D2) && KEPT(D3)); /* what is refused has its acknowledgement or notice */
	holds(5, MARKED(D1) && MARKED(D2) && MARKED(D3));
	holds(8, events == posted);
	holds(9, exists[K1] == (state[D1] || state[D2]) && exists[K2] == (state[D3] != 0));
	holds(9, exists[T1] == CARRIES(T1) && exists[T2] == CARRIES(T2))
}

inline rollback()
{
	release();
	holds(6, events == posted)
}

/* the answer `a` leaves to the delivery of d under t; 503 is none */
inline acknowledge(a)
{
	if
	:: a != TRY_AGAIN ->
		holds(2, exists[t] && under[TD(t, d)] && told_under[TD(t, d)] == a);
		holds(5, a != YES || HAS_ALL(d));
		holds(5, a != HELD_DEAD || HAS_ALL(d) || state[d] == DEAD || state[d] == PARTLY || state[d] == SUPERSEDED);
		holds(5, a != HELD_DRIFT || HAS_ALL(d) || state[d] == QUARANTINED || state[d] == REFUSED || under[TD(t, d)] > CARRIED)
	:: else
	fi
}
