/* Operators, the purge and changes of the configuration: one job an office. */
#define KEEP_ORIGINAL 1
#define REPLACE 2
#define REJECT 3 /* a transport drift */
#define REPLAY 4
#define PURGE 5

/* what forbids purging */
#ifndef PURGE_OF_WHAT_IS_HELD
#define HELD(v) (state[v] == QUARANTINED || state[v] != SUPERSEDED && fate_x[v] == FAILED)
#else
#define HELD(v) (state[v] == QUARANTINED)
#endif
#define T_HELD(t) (under[TD(t, D1)] == T_DRIFT || under[TD(t, D2)] == T_DRIFT || under[TD(t, D3)] == T_DRIFT)
/* a transport key never outlives the interchange keys it carried */
#define GOES_TOO(t, carried) (!exists[t] || doomed & BIT(t) || !(carried))
#define K1_GOES (exists[K1] && !owner[K1] && !HELD(D1) && !HELD(D2) && \
	GOES_TOO(T1, under[TD(T1, D1)] == CARRIED || under[TD(T1, D2)] == CARRIED) && \
	GOES_TOO(T2, under[TD(T2, D1)] == CARRIED || under[TD(T2, D2)] == CARRIED))
#define K2_GOES (exists[K2] && !owner[K2] && !HELD(D3) && \
	GOES_TOO(T1, under[TD(T1, D3)] == CARRIED) && GOES_TOO(T2, under[TD(T2, D3)] == CARRIED))

/* what may be purged and is locked by nobody: for update skip locked */
inline choose_doomed()
{
	doomed = (exists[T1] && !owner[T1] && !T_HELD(T1) -> BIT(T1) : 0) | (exists[T2] && !owner[T2] && !T_HELD(T2) -> BIT(T2) : 0);
	doomed = doomed | (K1_GOES -> BIT(K1) : 0) | (K2_GOES -> BIT(K2) : 0)
}

/* a variant goes with its key; a functional acknowledgement, a notice or a decision has settled what was owed */
inline forget(v)
{
	owed[v] = owed[v] && state[v] != REJECTED && state[v] != REFUSED && state[v] != SUPERSEDED && !(state[v] == PARTLY && fate_x[v] == BAD);
	state[v] = 0; fate_a[v % 3] = 0; fate_x[v % 3] = 0; attempts[v] = 0; via_purge[v] = false; answer[v] = 0
}

inline purge()
{
	for (r : T1 .. T2) {
		if
		:: doomed & BIT(r) ->
			exists[r] = false;
			for (d : D1 .. D3) {
				owed[d] = owed[d] && (under[TD(r, d)] != T_REJECTED || state[d]);
				under[TD(r, d)] = 0; told_under[TD(r, d)] = 0
			}
			d = 0
		:: else
		fi
	}
	if
	:: doomed & BIT(K1) -> exists[K1] = false; current = 0; forget(D1); forget(D2)
	:: else
	fi;
	if
	:: doomed & BIT(K2) -> exists[K2] = false; forget(D3)
	:: else
	fi;
	release();
	check()
}

inline carry_out()
{
	if
	:: job == KEEP_ORIGINAL ->
		holds(4, state[d] == QUARANTINED); /* each is applied once */
		state[d] = REFUSED /* its stored answer stays; a notice goes out */
	:: job == REPLACE ->
		holds(4, state[d] == QUARANTINED);
		fate_a[d] = (EFFECTIVE(fate_a[other]) -> ABSORBED : POSTED); fate_x[d] = POSTED;
		state[d] = ACCEPTED; answer[d] = YES; current = d;
		state[other] = (state[other] <= DEAD -> SUPERSEDED : state[other]); attempts[other] = 0;
		live = live & ~(X(other)); /* what d lacks is cancelled */
		posts = X(d) | (fate_a[d] == POSTED -> A : 0);
		post(posts);
		promise(d, YES)
	:: job == REJECT ->
		holds(4, under[TD(t, d)] == T_DRIFT);
		under[TD(t, d)] = T_REJECTED
	:: job == REPLAY ->
		state[d] = new_state; fate_a[d] = new_a; fate_x[d] = new_x; attempts[d] = new_attempts; answer[d] = new_answer; current = d;
		post(posts);
		promise(d, told)
	fi;
	release();
	check()
}

#ifndef DECISION_WITHOUT_A_CHECK
#define STILL(seen) (seen)
#else
#define STILL(seen) true
#endif
#ifndef PURGE_WITHOUT_A_MARGIN
#define MARGIN !running /* dedup_window is days, a delivery seconds */
#else
#define MARGIN true
#endif

proctype Office(byte me)
{
	SESSION;
	unsigned job : 3; unsigned doomed : 4; bool repeated;

	atomic { /* what an operator sees is not locked */
		begun == me - 3; /* offices are alike */
		if
		:: state[D1] == QUARANTINED || state[D2] == QUARANTINED ->
			d = (state[D1] == QUARANTINED -> D1 : D2);
			if
			:: job = KEEP_ORIGINAL
			:: !via_purge[d] -> job = REPLACE
			fi
		:: fate_x[D1] == FAILED && state[D1] != SUPERSEDED -> d = D1; job = REPLAY
		:: fate_x[D2] == FAILED && state[D2] != SUPERSEDED -> d = D2; job = REPLAY
		:: under[TD(T1, D1)] == T_DRIFT -> t = T1; d = D1; job = REJECT
		:: under[TD(T1, D3)] == T_DRIFT -> t = T1; d = D3; job = REJECT
		:: !revision && b_is_bad == true -> revision = true; begun++; goto over
		:: (exists[K1] || exists[K2]) && MARGIN -> aged = true; job = PURGE;
#ifdef PURGE_WITHOUT_A_LOCK
			d_step { choose_doomed() }
#endif
		:: !left && !running -> begun++; goto over
		fi;
		begun++
	}

repeat:	atomic { /* BEGIN; lock; read what stands; check again */
		true;
		if
		:: job == PURGE ->
#ifndef PURGE_WITHOUT_A_LOCK
			d_step { choose_doomed() };
#endif
			locks = doomed;
			for_update(T1); for_update(T2); for_update(K1); for_update(K2);
			d_step {
				for (r : T1 .. K2) {
					dying[r] = dying[r] || doomed & BIT(r)
				}
				r = 0; locks = 0
			};
			if
			:: !doomed -> goto over
			:: else
			fi
		:: else ->
			locks = (job == REJECT -> BIT(t) : BIT(K1));
			read_while_locking();
			for_update(T1); for_update(T2); for_update(K1);
			locks = 0;
			if
			:: gone -> goto over
			:: else
			fi;
			d_step { snapshot(); other = OTHER(d) };
			if
			:: job == REPLACE && d == D1 -> choose(b_is_bad)
			:: else
			fi;
			if
			:: job == KEEP_ORIGINAL && STILL(state[d] == QUARANTINED)
			:: job == REPLACE && STILL(state[d] == QUARANTINED && !via_purge[d] && state[other]) && !JUDGED_BAD /* all of it is posted */
			:: job == REJECT && STILL(under[TD(t, d)] == T_DRIFT)
			:: job == REPLAY && UNFINISHED(d) && FATE_X(d) == FAILED && FITS ->
				row = I4; prepare();
				d_step { settle(true) }
			:: else -> d_step { release() }; goto over /* the operator sees why */
			fi
		fi
	}

	atomic { /* COMMIT */
		printf("office %d: job %d on D%d, T%d; purges %d\n", me, job, d + 1, t + 1, doomed);
		if
		:: job == PURGE -> d_step { purge() }
		:: job != PURGE -> d_step { carry_out(); FORGET_PLAN };
			if
			:: !repeated -> repeated = true; goto repeat /* its answer is lost, and the operator does it again */
			:: true
			fi
		:: d_step { rollback() }
		fi;
over:		true; d_step { FORGET_PLAN; t = 0; d = 0; job = 0; doomed = 0; repeated = false; ended++ }
	}
}
