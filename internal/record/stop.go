package record

// Stop is why a run ended or what it waits for. The zero value means that the
// run goes on.
type Stop string

// The stop reasons of design section 9.
const (
	Converged       Stop = "converged"
	Ruled           Stop = "ruled"
	MaxIters        Stop = "max-iters"
	Stalled         Stop = "stalled"
	Aborted         Stop = "aborted"
	StepFailed      Stop = "step-failed"
	NeedsRuling     Stop = "needs-ruling"
	Budget          Stop = "budget"
	NoReview        Stop = "no-review"
	StopInterrupted Stop = "interrupted"
	Cancelled       Stop = "cancelled"
)

// ExitCode is the process exit code of a command that ends with this reason.
// An unknown reason is never a success.
func (s Stop) ExitCode() int {
	switch s {
	case Converged, Ruled:
		return 0
	case MaxIters, Stalled, Aborted:
		return 1
	case NeedsRuling:
		return 3
	case Budget:
		return 5
	case NoReview:
		return 6
	case StopInterrupted, Cancelled:
		return 130
	default:
		return 4
	}
}

// Final reports whether a run with this reason has ended for good. A budget
// that is used up is a question: somebody may give more.
func (s Stop) Final() bool {
	switch s {
	case "", NeedsRuling, Budget, StopInterrupted:
		return false
	}
	return true
}

// Words is the reason as a sentence for people, with the number of iterations.
func (s Stop) Words() string {
	switch s {
	case Converged:
		return "converged"
	case Ruled:
		return "every open finding was ruled on"
	case MaxIters:
		return "not converged: the iteration limit was reached"
	case Stalled:
		return "not converged: the repair changed nothing"
	case Aborted:
		return "aborted by a ruling"
	case StepFailed:
		return "halted: a step failed"
	case NeedsRuling:
		return "waits for a person"
	case Budget:
		return "the budget is used up"
	case NoReview:
		return "no review took place"
	case StopInterrupted:
		return "interrupted: it can be resumed"
	case Cancelled:
		return "cancelled"
	default:
		return "running"
	}
}
