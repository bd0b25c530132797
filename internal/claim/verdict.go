package claim

import "fmt"

// Verdict is the answer to a claim or a statement.
type Verdict string

// The three answers.
const (
	Holds        Verdict = "holds"
	DoesNotHold  Verdict = "does not hold"
	CannotBeTold Verdict = "cannot be told"
)

// and is the verdict on two conditions that both have to hold.
func (v Verdict) and(other Verdict) Verdict {
	switch {
	case v == DoesNotHold || other == DoesNotHold:
		return DoesNotHold
	case v == CannotBeTold || other == CannotBeTold:
		return CannotBeTold
	}
	return Holds
}

// not is the verdict on the opposite of a condition.
func (v Verdict) not() Verdict {
	switch v {
	case Holds:
		return DoesNotHold
	case DoesNotHold:
		return Holds
	default:
		return v
	}
}

// Reason is why a verdict is CannotBeTold. It is empty for the other verdicts.
type Reason string

// Reasons.
const (
	Decided         Reason = ""
	Undecidable     Reason = "undecidable"      // no record of ours could decide it
	NothingMeasured Reason = "nothing measured" // there is no record of the points
	NoneUsable      Reason = "none usable"      // they failed, are void, or were refused
	NoFigure        Reason = "no figure"        // the records don't have the metric, or a ratio is undefined
	WithinSpread    Reason = "within spread"    // the repetitions lie on both sides of a bound
	OneRun          Reason = "one run"          // and no estimate of how much another would differ
	TooFew          Reason = "too few"          // points for a line or a ranking
	Misfit          Reason = "misfit"           // the statement doesn't fit the axes of the records
)

// undecided is why the records can't decide a statement.
type undecided struct {
	reason Reason
	text   string // the reason in a sentence
}

func undecidedBecause(reason Reason, format string, args ...any) *undecided {
	return &undecided{reason: reason, text: fmt.Sprintf(format, args...)}
}
