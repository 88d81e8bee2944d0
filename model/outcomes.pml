/*
 * The outcome table (docs/reference/outcomes.md) for three interchanges, each
 * under any of two transport ids:
 *
 *	D1  key K1  messages a, b   b may be one that is refused under revision 0
 *	D2  key K1  messages a, c   c is b mended: the same reference, other content
 *	D3  key K2  message  d
 *
 * The handler may fail on b and c. a and d are sound.
 */
#define D1 0
#define D2 1
#define D3 2
#define NO_OTHER 3 /* the other variant under K2: there is none */
#define KEY(d) (d == D3 -> K2 : K1)
#define OTHER(d) (d == D1 -> D2 : (d == D2 -> D1 : NO_OTHER))

/* messages, as bits; X is the one besides a */
#define A 1
#define B 2
#define C 4
#define D 8
#define X(d) (d == D1 -> B : (d == D2 -> C : D))
#define ALL_OF(d) (d == D3 -> D : A | X(d))

/* states of a variant; 0: there is none */
#define ACCEPTED 1
#define PARTLY 2
#define REJECTED 3
#define DEAD 4
#define QUARANTINED 5
#define REFUSED 6
#define SUPERSEDED 7

/* fates of a message */
#define POSTED 1
#define ABSORBED 2
#define BAD 3         /* refused: the sender's fault */
#define WITH_OTHERS 4 /* sound, refused with the interchange */
#define FAILED 5      /* dead: our handler failed */
#define WITH_DEAD 6   /* sound, dead with the interchange */

/* answers */
#define YES 1
#define PART 2
#define HELD_DEAD 3
#define HELD_DRIFT 4
#define DRIFT 5
#define NO 6
#define DEAD_NO 7
#define REPLACED 8
#define TRY_AGAIN 9 /* 503 */
#define POSITIVE(a) (a >= YES && a <= HELD_DRIFT)

/* where a digest stands under a transport id; 0: it never came under it */
#define CARRIED 1
#define T_DRIFT 2
#define T_REJECTED 3

/* what is chosen once, when it is first asked for */
#define NOT_ASKED 2
byte hold = NOT_ASKED;         /* on_dead and on_drift: hold, else refuse and reject */
byte each_message = NOT_ASKED; /* acceptance: message, else interchange */
byte b_is_bad = NOT_ASKED;     /* under revision 0 */
inline choose(setting)
{
	if
	:: setting != NOT_ASKED
	:: setting == NOT_ASKED -> setting = false
	:: setting == NOT_ASKED -> setting = true
	fi
}
bool revision; /* 0 or 1: of the partner's configuration */
bool aged;     /* the interchanges' own date is older than dedup_window */

#ifndef ATTEMPTS_WITHOUT_END
#define ATTEMPTS 2
#else
#define ATTEMPTS 4 /* more than are counted */
#endif

/* variants, by digest */
byte state[4];
byte fate_a[3];
byte fate_x[3];
byte attempts[3];
bool via_purge[3];
byte answer[3];
bit current; /* of K1: D1 or D2 */

/* digests under transport ids */
#define TD(t, d) ((t) * 3 + (d))
byte under[6];
byte told_under[6];

/*
 * What a decision looks at: the table itself, since it reads what it has locked
 * in the statement after. Two mutations read earlier.
 */
#if defined(READ_WHILE_LOCKING)
/* The first variant stands in the row that is locked, and is shown as it is when
 * the lock is got; further ones are joined as they were before the wait. */
bit first;
#define SEEN(now, before, v) (v > D2 || v == first -> now : before)
#elif defined(DECIDES_ON_THE_LOOK_UP)
#define SEEN(now, before, v) (v > D2 -> now : before)
#else
#define SEEN(now, before, v) now
#endif
#define STATE(v) SEEN(state[v], seen_state[v], v)
#define FATE_A(v) SEEN(fate_a[v], seen_a[v], v)
#define FATE_X(v) SEEN(fate_x[v], seen_x[v], v)
#define TRIED(v) SEEN(attempts[v], seen_attempts[v], v)
#define ANSWER(v) SEEN(answer[v], seen_answer[v], v)

#define EFFECTIVE(f) (f == POSTED || f == ABSORBED)
#define UNFINISHED(v) (STATE(v) >= PARTLY && STATE(v) <= DEAD)
#define COUNTS(v) (STATE(v) == ACCEPTED || UNFINISHED(v))
#define STANDS(v, f) (COUNTS(v) && (EFFECTIVE(f) || (f == FAILED || f == WITH_DEAD) && POSITIVE(ANSWER(v))))
/* a is in D1 and in D2, b and c are in one of them */
#define FITS (other == NO_OTHER || !STANDS(other, FATE_X(other)))
#ifndef DRIFT_IS_CORRECTION
#define NOTHING_STANDS (!STANDS(other, FATE_X(other)) && !STANDS(other, FATE_A(other)))
#else
#define NOTHING_STANDS true
#endif
#define DEAD_LEFT(d) (FATE_X(d) == FAILED && TRIED(d) < ATTEMPTS)
#define STALE_REFUSED(d) (FATE_X(d) == BAD && revision) /* what is bad was judged under revision 0 */

/* rows; U are those of a transport id */
#define I1 1
#define I1b 2
#define I2 3
#define I4 4
#define I5 5
#define I6 6
#define I7 7
#define I8 8
#define I9 9
#define I10 10
#define I13 11
#define U2 12
#define U2b 13
#define U3 14
#define U6 15
#define PROCESSES(row) (row == I1b || row == I4 || row == I9 || row == I10)
#define QUARANTINES(row) (row == I1 || row == I13)
#define NEW_VARIANT(row) (row == I1b || row == I9 || row == I10 || QUARANTINES(row))
#define USES_KEY(row) (row < U2)

#if defined(OLD_FILES_ARE_FIRST)
#define OLD false
#elif defined(PURGE_WITHOUT_A_MARGIN)
#define OLD was_aged
#else
#define OLD aged
#endif
#define ONLY_PURGE_DRIFTS (STATE(other) == 0 || via_purge[other % 3] && (STATE(other) == QUARANTINED || STATE(other) == REFUSED))

#ifndef NO_DIGEST_COMPARED
#define FOUND(d) STATE(d)
#define WHOSE(d) d
#else /* what stands under the key is what came */
#define FOUND(d) (STATE(d) || STATE(OTHER(d)))
#define WHOSE(d) (STATE(d) || d == D3 -> d : OTHER(d))
#endif

/* something came of what t carried */
#define CAME_OF(t, v) (under[TD(t, v)] == CARRIED && (POSITIVE(told_under[TD(t, v)]) || \
	(COUNTS(v) || STATE(v) == SUPERSEDED) && (EFFECTIVE(FATE_A(v)) || EFFECTIVE(FATE_X(v)))))
#define EFFECT(t) (CAME_OF(t, D1) || CAME_OF(t, D2) || CAME_OF(t, D3))

/* the row that fits d under its key and under t */
inline judge()
{
	other = OTHER(d);
	if
	:: exists[t] && under[TD(t, d)] == T_DRIFT -> row = U2
	:: exists[t] && under[TD(t, d)] == T_REJECTED -> row = U2b
	:: exists[t] && under[TD(t, d)] == CARRIED && !STATE(d) -> row = U3
	:: else ->
		if
		:: STATE(d) == ACCEPTED || STATE(d) == SUPERSEDED || !STATE(d) && FOUND(d) -> row = I2
		:: UNFINISHED(d) ->
			row = (!FITS -> I6 : (DEAD_LEFT(d) || STALE_REFUSED(d) -> I4 : (FATE_X(d) == FAILED -> I5 : I6)))
		:: STATE(d) == QUARANTINED -> row = I7
		:: STATE(d) == REFUSED -> row = I8
		:: !FOUND(d) && OLD && ONLY_PURGE_DRIFTS -> row = I1
		:: !FOUND(d) && !(OLD && ONLY_PURGE_DRIFTS) ->
			row = (!exists[KEY(d)] -> I1b : (NOTHING_STANDS -> I9 : (STATE(current) == PARTLY && FITS -> I10 : I13)))
		fi
	fi;
	if
	:: exists[t] && !under[TD(t, d)] && row == I1b && EFFECT(t) -> row = U6
	:: else
	fi
}

/* the same where the interchange key was unknown and of no use to the look-up, so that it is not read */
inline judge_unread()
{
	if
	:: under[TD(t, d)] == T_DRIFT -> row = U2
	:: under[TD(t, d)] == T_REJECTED -> row = U2b
	:: under[TD(t, d)] == CARRIED -> row = U3
	:: !under[TD(t, d)] -> row = (EFFECT(t) -> U6 : I1b)
	fi
}

/* what prepare finds, and what the partner's policy says of it */
#define JUDGED_BAD (d == D1 && b_is_bad && !revision)
inline prepare()
{
	if
	:: PROCESSES(row) && d == D1 -> choose(b_is_bad)
	:: else
	fi;
	if
	:: PROCESSES(row) && d != D3 && !JUDGED_BAD -> failed = fails; if :: !calm -> failed = true :: true fi
	:: else
	fi;
	if
	:: PROCESSES(row) && (failed || JUDGED_BAD) -> choose(each_message); choose(hold)
	:: QUARANTINES(row) || row == U6 -> choose(hold)
	:: else
	fi
}

/*
 * The fates of d's messages, its state and its answer, by row I4 those that it
 * takes up alone. An operator's replay has no limit and counts no attempt.
 */
#define HAD_A (other != NO_OTHER && EFFECTIVE(FATE_A(other)))
inline settle(replay)
{
	new_a = FATE_A(d); new_x = FATE_X(d); new_attempts = TRIED(d);
	takes_a = d != D3 && (row != I4 || new_a == WITH_DEAD || new_a == WITH_OTHERS && revision);
	if
	:: row != I4 || replay && new_x == FAILED || DEAD_LEFT(d) || STALE_REFUSED(d) ->
		new_x = (JUDGED_BAD -> BAD : (failed -> FAILED : POSTED));
		new_attempts = (new_x != FAILED -> 0 : (replay || new_attempts == 3 -> new_attempts : new_attempts + 1))
	:: else
	fi;
	new_a = (!takes_a -> new_a : (HAD_A -> ABSORBED : POSTED));
	if /* acceptance: interchange */
	:: takes_a && !HAD_A && !each_message && new_x == BAD -> new_a = WITH_OTHERS
	:: takes_a && !HAD_A && !each_message && new_x == FAILED -> new_a = WITH_DEAD
	:: else
	fi;
	takes_a = false;
	if
	:: (d == D3 || EFFECTIVE(new_a)) && EFFECTIVE(new_x) -> new_state = ACCEPTED; told = YES
	:: !EFFECTIVE(new_x) && new_x == FAILED ->
		new_state = (EFFECTIVE(new_a) -> PARTLY : DEAD);
		told = (hold -> HELD_DEAD : (new_attempts < ATTEMPTS -> TRY_AGAIN : DEAD_NO))
	:: !EFFECTIVE(new_x) && new_x != FAILED ->
		new_state = (EFFECTIVE(new_a) -> PARTLY : REJECTED);
		told = (EFFECTIVE(new_a) -> PART : NO)
	fi;
	new_answer = (told == TRY_AGAIN && ANSWER(d) -> ANSWER(d) : told); /* 503 is no acknowledgement: the one before it stays */
	posts = (new_a == POSTED && FATE_A(d) != POSTED -> A : 0) | (new_x == POSTED && FATE_X(d) != POSTED -> X(d) : 0)
}
