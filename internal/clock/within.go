package clock

// Reading is a time between an event on one host and an event on another, ns: the truth lies from Ns − Bound to Ns + Bound,
// both included. Bound is 0 on one host.
type Reading struct{ Ns, Bound int64 }

// Low is the least that the truth can be. It may be negative, and isn't hidden where it is.
func (r Reading) Low() int64 { return r.Ns - r.Bound }

// High is the most that the truth can be.
func (r Reading) High() int64 { return r.Ns + r.Bound }

// Answer is that to a question which a clock may leave open.
type Answer int

// The answers.
const (
	Undecided Answer = iota
	No
	Yes
)

func (a Answer) String() string { return [...]string{"undecided", "no", "yes"}[a] }

// Exceeds tells whether the truth is above limit; a limit from Low on and below High leaves that undecided.
func (r Reading) Exceeds(limit int64) Answer {
	switch {
	case r.Low() > limit:
		return Yes
	case r.High() <= limit:
		return No
	}
	return Undecided
}

// Possible tells whether a latency can have been read as ns between clocks that are known to bound: nothing arrives before
// it is sent. A trial with one that can't is void, since its bound doesn't hold. Other negative readings are what clocks
// within their bound show, and are counted as all others are.
func Possible(ns, bound int64) bool { return ns >= -bound }
