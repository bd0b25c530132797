package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Ping is one exchange with a peer: sent and received on our axis, arrived and answered on the peer's, all in ns. One that is
// sent at 1,000, arrives at 5,030, is answered at 5,040 and received at 1,100 has a Delay of 90 ns.
type Ping struct {
	Sent, Arrived, Answered, Received int64
}

// Delay returns the round trip in ns, without the time that the peer took to answer.
func (p Ping) Delay() int64 { return (p.Received - p.Sent) - (p.Answered - p.Arrived) }

// Offset places a peer's axis on ours at one moment: at our time At the peer's clock shows At + Ns, give or take Bound.
type Offset struct {
	At, Ns, Bound int64
}

// Reversed returns the same offset as the peer sees it: ours, on its axis.
func (o Offset) Reversed() Offset { return Offset{At: o.At + o.Ns, Ns: -o.Ns, Bound: o.Bound} }

// maxDrift is how fast two axes can drift apart: each is steered by 500 ppm at most (adjtimex(2), freq), and its oscillator is
// off by 500 ppm at most. While chrony corrects a large error it may steer by 83,333 ppm (its default maxslewrate). Readings
// taken meanwhile contradict each other, and are refused as a jump.
const maxDrift = 2 * (500e-6 + 500e-6)

// latest is the last time that an axis may show, ns: 73 years after the boot.
const latest = int64(1) << 61

// ErrJumped says that clocks that merely drift could not have shown these times: one clock was set, or steered faster than
// maxDrift allows for, or its machine was suspended or moved.
var ErrJumped = errors.New("a clock jumped")

// EstimateOffset narrows the peer's offset as far as the exchanges allow. Nothing arrives before it is sent, so each
// exchange says
//
//	offset when received ≥ answered − received        offset when sent ≤ arrived − sent
//
// however unequal the two ways are. The example of Ping says that the offset is from 3,940 to 4,030 ns: 3,985 ± 45. The
// estimate lies in the intervals of all exchanges, each widened by what the axes can have drifted apart between the exchange
// and the moment of the estimate. That moment is the middle of the quickest exchange (the one that NTP's clock filter keeps,
// RFC 5905 §10). So Bound is at most half its delay, plus the drift during it; others may narrow it further.
func EstimateOffset(pings []Ping) (Offset, error) {
	if len(pings) == 0 {
		return Offset{}, errors.New("clock offset: no exchange with the peer")
	}
	for i, p := range pings {
		if p.Received < p.Sent || p.Answered < p.Arrived {
			return Offset{}, fmt.Errorf("clock offset: exchange %d goes back in time: %+v", i, p)
		}
		if min(p.Sent, p.Arrived) < 0 || max(p.Received, p.Answered) > latest {
			return Offset{}, fmt.Errorf("clock offset: exchange %d has a time that no clock shows, 0 to %d ns are possible: %+v", i, latest, p)
		}
	}
	quickest := slices.MinFunc(pings, func(a, b Ping) int { return cmp.Compare(a.Delay(), b.Delay()) })
	at := quickest.Sent + (quickest.Received-quickest.Sent)/2
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	for _, p := range pings {
		least = max(least, p.Answered-p.Received-drifted(p.Received-at))
		most = min(most, p.Arrived-p.Sent+drifted(p.Sent-at))
	}
	if least > most {
		return Offset{}, fmt.Errorf("clock offset: %w by at least %d ns between two of %d exchanges", ErrJumped, least-most, len(pings))
	}
	return Offset{At: at, Ns: least + (most-least)/2, Bound: (most - least + 1) / 2}, nil
}

// drifted returns by how much two axes can drift apart in ns nanoseconds.
func drifted(ns int64) int64 { return int64(maxDrift*math.Abs(float64(ns))) + 1 }

// Line is a peer's offset as a function of time: plain data, which may cross to other hosts. With Ns = 500 and a Drift of
// 1e-6, the peer is 500 ns ahead at From and 1,500 ns a second later. The zero Line is that of a peer with our own axis.
type Line struct {
	From, Until int64   // ns on our axis: where Bound holds
	Ns          int64   // the peer's axis less ours at From
	Drift       float64 // ns by which the peer gains on us in each ns
	Bound       int64   // ns by which the line may be off anywhere from From to Until
}

// wander is how much the rate of an oscillator may differ from its mean over minutes: Veitch, Ridoux and Korada, "Robust
// Synchronization of Absolute and Difference Clocks over Networks", 2009, find 0.1 ppm in machine rooms and offices.
const wander = 1e-7

// Fit puts a line through the offsets that were measured before and after a stretch of time. Its Bound is the larger bound
// of the two, plus what the rates of both clocks may have wandered meanwhile. It leaves out how the clocks were steered: the
// caller adds what Steering.Close returned on each host. Fit fails with ErrJumped if the axes moved against each other by
// more than clocks drift.
func Fit(before, after Offset) (Line, error) {
	span := after.At - before.At
	if span <= 0 {
		return Line{}, fmt.Errorf("clock offset: the second measurement is %d ns after the first; it must come later", span)
	}
	gained := after.Ns - before.Ns
	if most := drifted(span) + before.Bound + after.Bound; gained > most || -gained > most {
		return Line{}, fmt.Errorf("clock offset: %w: the peer's clock gained %d ns on ours in %d ns; at most %d are possible", ErrJumped, gained, span, most)
	}
	return Line{
		From: before.At, Until: after.At, Ns: before.Ns, Drift: float64(gained) / float64(span),
		Bound: max(before.Bound, after.Bound) + wandered(span),
	}, nil
}

// wandered returns by how much two clocks can stray from the straight line between their readings at both ends of span. They
// stray most in its middle, if each is faster than its mean for the first half and slower from then on.
func wandered(span int64) int64 {
	const clocks = 2
	half := float64(span) / 2
	return int64(clocks*wander*half) + 1
}

// Steady returns the line of a peer that was measured once, until a time to come. Its Bound allows for all that two axes can
// drift apart until then. When that time has come, Fit gives the true line, and its ErrorOf a better bound.
func Steady(o Offset, until int64) Line {
	return Line{From: o.At, Until: max(o.At, until), Ns: o.Ns, Bound: o.Bound + drifted(until-o.At)}
}

// Predict returns the line through two offsets, continued until a time to come. Its Bound must not be used, because the rates
// may change. When that time has come, Fit gives the true line, and its ErrorOf a bound.
func Predict(before, now Offset, until int64) (Line, error) {
	l, err := Fit(before, now)
	if err != nil {
		return Line{}, err
	}
	l.Ns, l.From, l.Until = now.Ns, now.At, max(now.At, until)
	return l, nil
}

// OffsetAt returns the peer's axis less ours at our time ns.
func (l Line) OffsetAt(ns int64) int64 { return l.Ns + int64(math.Round(l.Drift*float64(ns-l.From))) }

// PeerTime returns the peer's time at our time ns.
func (l Line) PeerTime(ns int64) int64 { return ns + l.OffsetAt(ns) }

// OurTime returns our time at the peer's time ns. It allocates nothing.
//
// Since l.From, the peer's axis has gone p = o·(1+Drift) while ours has gone o, so o = p − p·Drift/(1+Drift).
func (l Line) OurTime(ns int64) int64 {
	peerSince := ns - (l.From + l.Ns)
	gained := float64(peerSince) * l.Drift / (1 + l.Drift)
	return l.From + peerSince - int64(math.Round(gained))
}

// ErrorOf bounds the error, in ns, of times from l.From to l.Until that were converted with the line used, made in advance, if
// l is what was measured then.
func (l Line) ErrorOf(used Line) int64 {
	atFrom := l.OffsetAt(l.From) - used.OffsetAt(l.From)
	atUntil := l.OffsetAt(l.Until) - used.OffsetAt(l.Until)
	return l.Bound + max(atFrom, -atFrom, atUntil, -atUntil) // straight lines are furthest apart at an end
}

// Relative relates two peers of ours that need not reach each other. The line that it returns is one of base: it places
// peer's axis on base's. Both must have been measured over a common stretch of time.
func Relative(base, peer Line) (Line, error) {
	if base == (Line{}) {
		return peer, nil
	}
	from, until := max(peer.From, base.From), min(peer.Until, base.Until)
	if peer == (Line{}) {
		from, until = base.From, base.Until
	}
	if from > until {
		return Line{}, errors.New("clock offset: two peers were not measured at the same time")
	}
	// While base's axis goes 1 + base.Drift, peer's goes 1 + peer.Drift: 1 + drift times as far. So base's error becomes
	// larger by that factor.
	drift := (peer.Drift - base.Drift) / (1 + base.Drift)
	baseError := int64(math.Ceil(float64(base.Bound) * (1 + max(0, drift))))
	const roundings = 2
	return Line{
		From: base.PeerTime(from), Until: base.PeerTime(until),
		Ns: peer.OffsetAt(from) - base.OffsetAt(from), Drift: drift,
		Bound: peer.Bound + baseError + roundings,
	}, nil
}

// Possible reports whether clocks that are off by at most bound ns can show a latency of ns. No message arrives before it is
// sent, so a latency can be negative by the bound at most. If one is more negative, the bound is wrong, and the trial is void.
// A latency that is negative but possible counts like any other.
func Possible(ns, bound int64) bool { return ns >= -bound }
