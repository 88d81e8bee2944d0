package outbox

import "fmt"

// Ending says what a try that failed tells of an effect that may be tried again without
// harm, as a functional acknowledgement may.
type Ending int

// The endings: decision 38.
const (
	TryOn       Ending = iota // it was not taken: nobody is there, the door is shut, or it is of the moment
	Lost                      // it may have been taken: the answer was lost, or proves nothing
	Unexplained               // it is refused, and nothing says whether for what it is or of the moment
	Refused                   // what it is, is refused
)

// End is the error of Send that says so. A step that may have been taken before stays
// one that may: no later try tells.
func (s *Step) End(err error, how Ending) error {
	switch {
	case err == nil:
		return nil
	case how == Refused:
		return fmt.Errorf("%w: %w", ErrFinal, err)
	case how == Unexplained:
		return fmt.Errorf("%w: %w", ErrUnexplained, err)
	case how == Lost || s.Doubtful:
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotDone, err)
}
