package claim

import "fmt"

// Verdict is the answer to a claim or a statement.
type Verdict string

// The four answers. A claim alone can be NotComparable; statements and cells have the other three.
const (
	Reproduced    Verdict = "reproduced"
	NotReproduced Verdict = "not reproduced"
	Undecided     Verdict = "undecided"
	NotComparable Verdict = "not comparable" // the figure of another machine, which ours neither confirms nor refutes
)

// and returns the verdict on two conditions that both have to hold.
func (v Verdict) and(other Verdict) Verdict {
	switch {
	case v == NotReproduced || other == NotReproduced:
		return NotReproduced
	case v == Undecided || other == Undecided:
		return Undecided
	}
	return Reproduced
}

// not returns the verdict on the opposite of a condition.
func (v Verdict) not() Verdict {
	switch v {
	case Reproduced:
		return NotReproduced
	case NotReproduced:
		return Reproduced
	}
	return v
}

// Reason is why a verdict is Undecided. It is Decided for the other verdicts.
type Reason string

// Reasons.
const (
	Decided         Reason = ""
	Undecidable     Reason = "undecidable"      // no record of ours could decide it
	NothingMeasured Reason = "nothing measured" // there is no record of the points
	NoneUsable      Reason = "none usable"      // they failed, are void, or were refused
	NoFigure        Reason = "no figure"        // the records don't have the metric, or a ratio is undefined
	FewPlaces       Reason = "few places"       // of those that the publication speaks of were measured
	SmokeTest       Reason = "smoke test"       // the records are of a scale that gives no verdicts
	TooShort        Reason = "too short"        // a doubt of that class touches a figure
	Standstill      Reason = "standstill"       // of the generator, which may have made the answer
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
