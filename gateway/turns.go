package gateway

import "slices"

// turns is a queue in which partners take turns: each has a line of its own, in
// the order of arrival, and the lines are served round robin. A partner with a
// thousand things waiting delays another by one of them. The zero value works;
// whoever uses it holds a lock.
type turns[T comparable] struct {
	lines []*line[T] // of partners that wait, the next one first
	size  int
}

type line[T comparable] struct {
	partner string
	waiting []T
}

// push lets x wait for a partner's turn.
func (q *turns[T]) push(partner string, x T) {
	q.size++
	for _, l := range q.lines {
		if l.partner == partner {
			l.waiting = append(l.waiting, x)
			return
		}
	}
	q.lines = append(q.lines, &line[T]{partner, []T{x}})
}

// least is how many of the partner wait who has the fewest waiting, and how many
// partners wait.
func (q *turns[T]) least() (n, partners int) {
	for i, l := range q.lines {
		if i == 0 || len(l.waiting) < n {
			n = len(l.waiting)
		}
	}
	return n, len(q.lines)
}

// next takes the first of the partner whose turn it is, among those that may
// have one.
func (q *turns[T]) next(may func(partner string) bool) (x T, ok bool) {
	for i, l := range q.lines {
		if !may(l.partner) {
			continue
		}
		x, l.waiting = l.waiting[0], l.waiting[1:]
		q.size--
		q.lines = slices.Delete(q.lines, i, i+1)
		if len(l.waiting) > 0 {
			q.lines = append(q.lines, l)
		}
		return x, true
	}
	return x, false
}

// first gives who is next in a partner's line, which must not be empty.
func (q *turns[T]) first(partner string) (x T) {
	for _, l := range q.lines {
		if l.partner == partner {
			return l.waiting[0]
		}
	}
	return x
}

// remove takes x out; false if it is no longer there.
func (q *turns[T]) remove(partner string, x T) bool {
	for i, l := range q.lines {
		if l.partner != partner {
			continue
		}
		at := slices.Index(l.waiting, x)
		if at < 0 {
			return false
		}
		q.size--
		if l.waiting = slices.Delete(l.waiting, at, at+1); len(l.waiting) == 0 {
			q.lines = slices.Delete(q.lines, i, i+1)
		}
		return true
	}
	return false
}

// everyone may have a turn.
func everyone(string) bool { return true }
