/*
 * What PostgreSQL does at READ COMMITTED, as far as edigw relies on it. A
 * session is a process; `me` is its number, from 1.
 *
 * A statement that need not wait is one step. One that waits has done what stands
 * before the wait, holds its locks meanwhile, and goes on when it can: inside
 * `atomic` a step that cannot be taken gives way to others.
 *
 * What a transaction writes stays in its session until COMMIT, which makes all of
 * it visible and durable in one step. ROLLBACK, the end of the process, of its
 * connection or of the database drop it. So all that others see of an open
 * transaction is `owner`: its locks.
 */

/* the rows of the table inbox, in the order of their keys */
#define T1 0 /* transport ids */
#define T2 1
#define K1 2 /* interchange keys */
#define K2 3
#define ROWS 4
#define BIT(r) (1 << (r))

bool exists[ROWS]; /* committed */
byte owner[ROWS];  /* who has inserted it (it does not exist yet), locked or deleted it; 0: nobody */
bool dying[ROWS];  /* deleted by its owner, which is not committed yet */

/*
 * insert into inbox … on conflict do nothing, for the rows in `claims`. A row
 * waits for another inserter or deleter of it to end, and not for one who has only
 * locked it. A row that is there is a conflict, and the statement says no more of
 * it than that.
 */
#ifndef STATE_IN_THE_KEY
#define TAKEN(r) (exists[r] || owner[r] == me)
#define ENDING(r) (!exists[r] || dying[r])
#else /* unique (partner, message id, state): what begins is in another state than what has ended */
#define TAKEN(r) (exists[r] && r < K1 || owner[r] == me)
#define ENDING(r) true
#endif
#define MAY_INSERT(r) (claims & BIT(r) && !(owner[r] && owner[r] != me && ENDING(r)))
inline insert(r)
{
	if
	:: !(claims & BIT(r))
	:: MAY_INSERT(r) && TAKEN(r) -> conflict = true
	:: MAY_INSERT(r) && !TAKEN(r) -> owner[r] = me
	fi
}

/*
 * select … for update, for the rows in `locks`: waits for whoever holds the row,
 * then takes it as it is now, if it is still there. A row whose insert is not
 * committed is not seen.
 */
#define MAY_LOCK(r) (locks & BIT(r) && !(exists[r] && owner[r] && owner[r] != me))
inline for_update(r)
{
	if
	:: !(locks & BIT(r))
	:: MAY_LOCK(r) && exists[r] -> owner[r] = me
	:: MAY_LOCK(r) && !exists[r] -> gone = true
	fi
}

/* a transaction has ended: nobody waits for it any more */
inline release()
{
	for (r : T1 .. K2) {
		if
		:: owner[r] == me -> owner[r] = 0; dying[r] = false
		:: else
		fi
	}
	r = 0
}
