package clock

// Reading is the time between an event on one host and an event on another, in ns, as far as their clocks can tell: the true
// time lies in [Ns − Bound, Ns + Bound]. On a single host Bound is 0.
//
// For example, a latency read as 300 µs with a bound of 50 µs is between 250 and 350 µs. It exceeds a limit of 200 µs, it does
// not exceed one of 350 µs, and for a limit of 300 µs that is undecided.
type Reading struct{ Ns, Bound int64 }

// Answer is the answer to a question that clocks may leave open.
type Answer int

// The answers.
const (
	Undecided Answer = iota
	No
	Yes
)

func (a Answer) String() string { return [...]string{"undecided", "no", "yes"}[a] }

// Exceeds reports whether the true time is above limit.
func (r Reading) Exceeds(limit int64) Answer {
	switch {
	case r.Ns-r.Bound > limit:
		return Yes
	case r.Ns+r.Bound <= limit:
		return No
	}
	return Undecided
}

// Possible reports whether clocks that are off by at most bound ns can show a latency of ns. No message arrives before it is
// sent, so a latency can be negative by the bound at most. If one is more negative, the bound is wrong, and the trial is void.
// A latency that is negative but possible counts like any other.
func Possible(ns, bound int64) bool { return ns >= -bound }
