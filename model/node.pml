/*
 * A process that receives, one delivery or group at a time, and may die. Others
 * act between its steps, which are the blocks of `atomic`, and where a statement
 * waits in one.
 */

/* claims and locks of what was looked up */
inline plan_locks()
{
	claims = (!exists[t] -> BIT(t) : 0) | (!exists[KEY(d)] && USES_KEY(row) -> BIT(KEY(d)) : 0);
	locks = (exists[t] -> BIT(t) : 0) | (exists[KEY(d)] -> BIT(KEY(d)) : 0);
	if /* rows T4 to T6 ask what came of what the id carried */
	:: exists[t] && !under[TD(t, d)] ->
		locks = locks | (exists[K1] && (under[TD(t, D1)] == CARRIED || under[TD(t, D2)] == CARRIED) -> BIT(K1) : 0);
		locks = locks | (exists[K2] && under[TD(t, D3)] == CARRIED -> BIT(K2) : 0)
	:: else
	fi;
	if /* a transport drift that this delivery will close */
	:: exists[1 - t] && under[TD(1 - t, d)] == T_DRIFT -> locks = locks | BIT(1 - t)
	:: else
	fi
}

/* a second member of the group: D3 under the other id, of which nothing is known either */
#ifndef GROUP_WITH_THE_SAME_KEY
#define SECOND D3
#else
#define SECOND d
#endif
#define MAY_GROUP (left && !calm && row == I1b && d != D3 && claims == (BIT(t) | BIT(KEY(d))) && \
	!exists[1 - t] && !exists[KEY(SECOND)])
/* a group never waits, and holds what is new alone; else it is rolled back and each goes alone */
#define GROUP_CLAIMS (!owner[T1] && !owner[T2] && !owner[K1] && !owner[K2] && \
	!exists[T1] && !exists[T2] && !exists[KEY(d)] && !exists[KEY(SECOND)])

/* the order of claims and locks */
#ifndef KEYS_IN_ANY_ORDER
#define NTH(r) r
#else
#define NTH(r) (r + (me - 1) * (K2 - 2 * r)) /* node 2 begins at the other end */
#endif

/* the answer, and what is written, by the row that was taken */
inline decide()
{
	if
	:: PROCESSES(row) -> settle(false)
	:: QUARANTINES(row) -> new_state = QUARANTINED; told = (hold -> HELD_DRIFT : DRIFT); new_answer = told
	:: row == U6 -> told = (hold -> HELD_DRIFT : DRIFT)
	:: row == U2 || row == U2b || row == U3 -> told = told_under[TD(t, d)]
	:: else ->
		told = ANSWER(WHOSE(d)); new_answer = told;
		if /* it only ever got 503 */
		:: told == TRY_AGAIN && row == I5 -> told = DEAD_NO; new_answer = told
		:: told == TRY_AGAIN && row != I5 -> told = REPLACED
		:: else
		fi
	fi
}

/* what the second member of a group writes */
inline commit_second()
{
	exists[1 - t] = true;
	under[TD(1 - t, SECOND)] = CARRIED;
#ifndef GROUP_WITH_THE_SAME_KEY
	exists[K2] = true;
	state[D3] = ACCEPTED; fate_x[D3] = POSTED; answer[D3] = YES;
	told_under[TD(1 - t, D3)] = YES;
	post(D)
#else
	told_under[TD(1 - t, d)] = told;
	post(posts)
#endif
}

/* COMMIT: all of it at once */
inline commit()
{
	holds(3, !NEW_VARIANT(row) || !state[d]);
	holds(4, !posts || state[d] != QUARANTINED && state[d] != REFUSED);
	if
	:: PROCESSES(row) || QUARANTINES(row) ->
		exists[KEY(d)] = true;
		state[d] = new_state; fate_x[d] = new_x; fate_a[d] = new_a; attempts[d] = new_attempts;
		via_purge[d] = row == I1;
		answer[d] = new_answer;
		current = (d != D3 && (PROCESSES(row) || !state[OTHER(d)]) -> d : current);
#ifdef READ_WHILE_LOCKING
		first = (d != D3 && !state[OTHER(d)] -> d : first);
#endif
		post(posts)
	:: row == I5 -> answer[d] = new_answer
	:: else
	fi;
#ifdef KEY_LEFT_BEHIND
	exists[KEY(d)] = exists[KEY(d)] || claims & BIT(KEY(d));
#endif
	if
	:: row != U2 && row != U2b ->
		exists[t] = true;
		under[TD(t, d)] = (row == U6 -> T_DRIFT : CARRIED);
		told_under[TD(t, d)] = (told == TRY_AGAIN && told_under[TD(t, d)] -> told_under[TD(t, d)] : told)
	:: else
	fi;
	if /* closed: its interchange was processed under another id */
	:: PROCESSES(row) && owner[1 - t] == me && under[TD(1 - t, d)] == T_DRIFT -> under[TD(1 - t, d)] = CARRIED
	:: else
	fi;
	if
	:: grouped -> commit_second()
	:: else
	fi;
	promise(d, told);
	release();
	printf("node %d: COMMIT of D%d under T%d\n", me, d + 1, t + 1);
	check()
}

inline answer_all()
{
	acknowledge(told);
	if
	:: grouped ->
		r = d; d = SECOND; t = 1 - t;
		acknowledge(told_under[TD(t, d)]);
		d = r; t = 1 - t; r = 0
	:: else
	fi
}

#ifndef DEAD_ANSWERED_FROM_THE_LOOK_UP
#define PLAIN_DUPLICATE (row == I2 && answer[d] != TRY_AGAIN)
#else
#define PLAIN_DUPLICATE (row == I2 || row == I4)
#endif

proctype Node(byte me)
{
	SESSION;
	bool grouped;
	unsigned sent : 2; unsigned said : 4; /* by and to the last partner */

idle:	atomic {
		if /* ids are alike, and so are nodes that do nothing: the first of each is taken first */
		:: left == DELIVERIES && me == 1 -> t = T1
		:: left && left < DELIVERIES && (me == 1 || running) -> if :: t = T1 :: t = T2 fi
		:: !left && !running && ended == OFFICES -> goto rest
		fi;
		if :: d = D1 :: d = D2 :: d = D3 fi;
		d_step { left--; running++; was_aged = aged };
		goto look_up
	}

again:	atomic {
		true;
look_up:	true; d_step { snapshot(); judge() };
		if
		:: PLAIN_DUPLICATE && exists[t] && under[TD(t, d)] == CARRIED && told_under[TD(t, d)] == answer[d] ->
			told = answer[d]; acknowledge(told); goto answered /* the one row that is answered without a lock */
		:: else
		fi;
#ifdef TRANSPORT_ID_ALONE
		if
		:: exists[t] && !under[TD(t, d)] && told_under[TD(t, OTHER(d) % 3)] ->
			told = told_under[TD(t, OTHER(d) % 3)]; acknowledge(told); goto answered
		:: else
		fi;
#endif
		d_step { plan_locks() };
#ifdef CLAIM_AFTER_WORK
		if
		:: PROCESSES(row) -> prepare(); d_step { decide(); post(posts); posts = 0; check() }
		:: else
		fi;
#endif
		if
		:: MAY_GROUP && !OLD -> if :: grouped = true; left-- :: true fi /* another waits for a committer */
		:: else
		fi;
		d_step { FORGET_PLAN };
		if
		:: calm -> goto begin
		:: else
		fi
	}

	atomic { /* BEGIN; claim */
		true;
begin:		if
		:: grouped && GROUP_CLAIMS -> claims = claims | BIT(1 - t) | BIT(KEY(SECOND))
		:: grouped && !GROUP_CLAIMS -> grouped = false; left++
		:: else
		fi;
		insert(NTH(T1)); insert(NTH(T2)); insert(NTH(K1)); insert(NTH(K2));
#ifdef LOSER_GOES_ON
		conflict = false;
#endif
		if
		:: conflict -> goto start_again
		:: else
		fi;

		/* lock, and read what stands in the statement after */
		read_while_locking();
		for_update(NTH(T1)); for_update(NTH(T2));
#ifdef NO_LOCK_ON_A_DEAD_ROW
		locks = (UNFINISHED(d) -> locks & ~(BIT(K1)) : locks);
		for_update(K1);
		locks = locks | (UNFINISHED(d) -> BIT(K1) : 0); /* it is read all the same */
		for_update(K2);
#else
		for_update(NTH(K1)); for_update(NTH(K2));
#endif
		if
		:: gone -> goto start_again
		:: else
		fi;
		if
		:: (claims | locks) & BIT(KEY(d)) -> d_step { judge() }
		:: else -> d_step { judge_unread() }
		fi;
#ifdef STATE_IN_THE_KEY
		row = (claims & BIT(KEY(d)) && exists[KEY(d)] -> I1b : row); /* the insert went well, so nothing was known */
#endif

		/* decide, and write */
		if
		:: NEW_VARIANT(row) && !((claims | locks) & BIT(KEY(d))) -> goto start_again /* never claim twice */
		:: else
		fi;
		prepare();
		d_step {
			decide();
			printf("node %d: D%d under T%d takes row %d, will be told %d, posts %d, in a group %d\n", me, d + 1, t + 1, row, told, posts, grouped);
#ifdef STATE_IN_THE_KEY
			conflict = claims & BIT(KEY(d)) && exists[KEY(d)] && (state[d] == new_state || state[OTHER(d)] == new_state);
#endif
#ifdef EVENT_OUTSIDE_THE_TRANSACTION
			events = events | posts | (grouped -> D : 0);
#endif
#ifndef KEY_LEFT_BEHIND
			claims = 0;
#endif
			locks = 0; failed = false; other = 0
		};
#ifdef STATE_IN_THE_KEY
		if /* 23505: it is unique in the state it ends in, too */
		:: conflict -> goto start_again
		:: else
		fi;
#endif
#ifdef ACKNOWLEDGE_BEFORE_COMMIT
		acknowledge(told);
#endif
		if
		:: calm -> goto finish
		:: else
		fi
	}

	atomic { /* COMMIT */
		true;
finish:		if
		:: d_step { commit() };
			if
			:: answer_all()      /* its answer came; or was lost, and the database, when asked, knew */
			:: !calm -> told = 0 /* killed before it answered; or asked while COMMIT was running: 503 */
			fi
		:: !calm -> d_step { rollback() }; /* killed, or cut off, or the database was, before COMMIT took effect */
#ifdef COMMIT_TAKEN_FOR_GRANTED
			answer_all();
#endif
			told = 0             /* 503, if anybody is left to say it */
		fi;
		goto answered;

start_again:	true; d_step { rollback(); FORGET_PLAN; claims = 0; locks = 0 };
		if
		:: !calm -> goto again
		:: true              /* it has started again often enough: 503 */
		fi;

answered:	true; d_step {
			printf("node %d: D%d under T%d is told %d\n", me, d + 1, t + 1, told);
			said = (calm == 2 -> said : (calm && told != TRY_AGAIN -> told : 0));
			claims = 0; locks = 0; grouped = false
		};
		if
		:: !calm -> d_step { FORGET_PLAN; t = 0; d = 0; was_aged = false; running-- }; goto idle
		:: calm == 1 && said -> calm = 2; goto look_up
		:: calm == 1 && !said -> sent++; holds(ANSWERED, sent <= 2); goto look_up /* its attempts */
		:: calm == 2 -> holds(3, told == said); goto over
		fi
	}

rest:	/* When all is over, a partner sends one of the interchanges until it is
	 * acknowledged, and then once more. */
	atomic {
		if
		:: me == 1 -> calm = 1; was_aged = aged
		:: me != 1 -> goto over
		fi;
		if :: d = D1 :: d = D2 :: d = D3 fi;
		if :: fails = false :: fails = true fi;
		goto look_up
	}
over:	true; d_step { FORGET_PLAN; calm = 0; sent = 0; said = 0; fails = false; was_aged = false; t = 0; d = 0 }
}
