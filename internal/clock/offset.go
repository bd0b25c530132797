package clock

import (
	"errors"
	"fmt"
	"math"
)

// Ping is one exchange with a peer: sent and received on our axis, arrived and answered on the peer's, all in ns.
type Ping struct {
	Sent, Arrived, Answered, Received int64
}

// UnderWay is how long the exchange was under way, ns: the round trip without the time that the peer took.
func (p Ping) UnderWay() int64 { return (p.Received - p.Sent) - (p.Answered - p.Arrived) }

// Offset places a peer's axis on ours at one moment: at our time At the peer's clock shows At + Ns, give or take Bound.
type Offset struct {
	At, Ns, Bound int64
}

// Turned is the same as the peer sees it.
func (o Offset) Turned() Offset { return Offset{At: o.At + o.Ns, Ns: -o.Ns, Bound: o.Bound} }

// maxDrift is how fast two axes can drift apart: the kernel steers a clock by 500 ppm at most, and oscillators are off by
// some hundred ppm.
const maxDrift = 2e-3

// latest is the last time of an axis that can be, ns: 73 years after the boot.
const latest = int64(1) << 61

// ErrJumped is that no two clocks that merely drift could have shown what was read: one was set, or its machine was
// suspended or moved.
var ErrJumped = errors.New("a clock jumped")

// EstimateOffset narrows the peer's offset as far as the exchanges allow. Nothing arrives before it is sent, so each
// exchange says
//
//	offset when received ≥ answered − received        offset when sent ≤ arrived − sent
//
// and however unequal the two ways are, the truth lies in all these intervals, once each is widened by what the axes can
// have drifted apart between it and the moment of the estimate. That moment is the middle of the quickest exchange (the
// one that NTP's clock filter keeps, RFC 5905 §10), so Bound is half its round trip at most; exchanges that were quick in
// one way each narrow it further.
func EstimateOffset(pings []Ping) (Offset, error) {
	if len(pings) == 0 {
		return Offset{}, errors.New("clock offset: no exchange with the peer")
	}
	quickest := pings[0]
	for i, p := range pings {
		if p.Received < p.Sent || p.Answered < p.Arrived {
			return Offset{}, fmt.Errorf("clock offset: exchange %d goes back in time: %+v", i, p)
		}
		if p.Sent < 0 || p.Arrived < 0 || p.Received > latest || p.Answered > latest {
			return Offset{}, fmt.Errorf("clock offset: exchange %d has a time that no clock shows, 0 to %d ns are possible: %+v", i, latest, p)
		}
		if p.UnderWay() < quickest.UnderWay() {
			quickest = p
		}
	}
	at := quickest.Sent + (quickest.Received-quickest.Sent)/2
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	for _, p := range pings {
		lo = max(lo, p.Answered-p.Received-drifted(p.Received-at))
		hi = min(hi, p.Arrived-p.Sent+drifted(p.Sent-at))
	}
	if lo > hi {
		return Offset{}, fmt.Errorf("clock offset: %w by at least %d ns between two of %d exchanges", ErrJumped, lo-hi, len(pings))
	}
	return Offset{At: at, Ns: lo + (hi-lo)/2, Bound: (hi - lo + 1) / 2}, nil
}

// drifted is by how much two axes can have drifted apart in ns.
func drifted(ns int64) int64 { return int64(maxDrift*math.Abs(float64(ns))) + 1 }

// Line is a peer's offset as a function of time: plain data, which may cross to other hosts. The zero Line is that of a
// peer with our own axis.
type Line struct {
	From, Until int64   // our axis, ns: where Bound holds
	Ns          int64   // the peer's axis less ours at From
	Drift       float64 // ns by which the peer gains on us in each ns
	Bound       int64   // ns by which the line may be off anywhere from From to Until
}

// wander is how much the rate of an oscillator may differ from its mean over minutes: Veitch, Ridoux and Korada, "Robust
// Synchronization of Absolute and Difference Clocks over Networks", 2009, find 0.1 ppm in machine rooms and offices.
const wander = 1e-7

// Fit puts a line through the offsets that were measured before and after a stretch of time. Between two points that are
// each known to their bounds the line is known to the larger one, plus what either clock's rate may have wandered
// meanwhile; add what they were steered (Bend). It fails with ErrJumped where the axes moved against each other by more
// than clocks drift.
func Fit(before, after Offset) (Line, error) {
	span := after.At - before.At
	if span <= 0 {
		return Line{}, fmt.Errorf("clock offset: the second measurement is %d ns after the first; it must come later", span)
	}
	gained := after.Ns - before.Ns
	if most := drifted(span) + before.Bound + after.Bound; gained > most || -gained > most {
		return Line{}, fmt.Errorf("clock offset: %w: the peer's gained %d ns on ours in %d ns, where %d are possible", ErrJumped, gained, span, most)
	}
	return Line{
		From: before.At, Until: after.At, Ns: before.Ns, Drift: float64(gained) / float64(span),
		Bound: max(before.Bound, after.Bound) + wandered(span),
	}, nil
}

// wandered is by how much two clocks can stray from the straight line between their readings at both ends of span: at most
// in its middle, where each was faster than its mean until then and is slower from then on.
func wandered(span int64) int64 { return int64(2*wander*float64(span)/2) + 1 }

// Steady is the line of a peer that was measured once, until a time to come. What two axes can drift apart until then is in
// Bound; Fit, when that time has come, knows better (see Off).
func Steady(o Offset, until int64) Line {
	return Line{From: o.At, Until: max(o.At, until), Ns: o.Ns, Bound: o.Bound + drifted(until-o.At)}
}

// Foresee is the line through two offsets, continued until a time to come. Its Bound is none that holds: the rates may
// change. Fit, when that time has come, tells how far it was off (see Off).
func Foresee(before, now Offset, until int64) (Line, error) {
	l, err := Fit(before, now)
	if err != nil {
		return Line{}, err
	}
	l.Ns, l.From, l.Until = now.Ns, now.At, max(now.At, until)
	return l, nil
}

// At is the peer's axis less ours at our time ns.
func (l Line) At(ns int64) int64 { return l.Ns + int64(math.Round(l.Drift*float64(ns-l.From))) }

// There is the peer's time at our time ns.
func (l Line) There(ns int64) int64 { return ns + l.At(ns) }

// Here is our time at the peer's time ns. It allocates nothing.
func (l Line) Here(ns int64) int64 {
	since := ns - l.From - l.Ns
	return l.From + since - int64(math.Round(float64(since)*l.Drift/(1+l.Drift)))
}

// Off is by how much, at most, a time was off that was taken by used anywhere from l.From to l.Until: a line that was
// foreseen before the measurement that l comes from. Straight lines are furthest apart at an end.
func (l Line) Off(used Line) int64 {
	apart := func(at int64) int64 {
		d := l.At(at) - used.At(at)
		return max(d, -d)
	}
	return l.Bound + max(apart(l.From), apart(l.Until))
}

// Between relates two peers of ours: what it returns stands on b's axis and places a's there. Neither has to reach the
// other. Both must have been measured over a common stretch of time.
func Between(b, a Line) (Line, error) {
	from, until := max(a.From, b.From), min(a.Until, b.Until)
	switch {
	case a == Line{}: // we are a
		from, until = b.From, b.Until
	case b == Line{}:
		return a, nil
	}
	if from > until {
		return Line{}, errors.New("clock offset: two peers were not measured at the same time")
	}
	l := Line{From: b.There(from), Until: b.There(until), Ns: a.At(from) - b.At(from), Bound: a.Bound + b.Bound + 2} // two roundings
	l.Drift = (a.Drift - b.Drift) / (1 + b.Drift)
	return l, nil
}
