package measure

import (
	"math"
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
)

// Host is another host whose producers' messages arrive here. What it sent is known there, so each intact message of its
// streams is booked as seen; whether it was sent, and belongs to the stream, Join finds out.
type Host struct {
	axis clock.Line // the host's on ours
	from atomic.Int64
}

// NewHost is a host whose axis lies on ours as axis says. Every message counts as warm-up until MeasureFrom.
func NewHost(axis clock.Line) *Host {
	h := &Host{axis: axis}
	h.from.Store(math.MaxInt64)
	return h
}

// MeasureFrom begins the measured phase of the host's producers: messages intended at or after ns on the host's own axis
// belong to it. Both hosts have to use the same number, or they would not count the same messages.
func (h *Host) MeasureFrom(ns int64) { h.from.Store(ns) }

func (h *Host) phase(intended int64) Phase {
	if intended >= h.from.Load() {
		return Measured
	}
	return Warmup
}

// here sets times of the host onto our axis, and notes a message that seems to have come before it was sent.
func (h *Host) here(l *lane, intended, sent, now int64) (int64, int64) {
	intended, sent = h.axis.Here(intended), h.axis.Here(sent)
	if now < sent {
		l.early.Add(1)
		for old := l.earliest.Load(); now-sent < old && !l.earliest.CompareAndSwap(old, now-sent); {
			old = l.earliest.Load()
		}
	}
	return intended, sent
}

// Elsewhere tells that a producer is on another host, and the number of its first message in this trial. Call it before the
// trial begins. Payloads must carry their times.
func (t *Trial) Elsewhere(producer int, base uint64, h *Host) {
	t.streams[producer].base, t.streams[producer].host = base, h
}

// Early is how many deliveries seem to have come before they were sent, as two clocks show it that are known to a bound
// only. They are counted as all others are, with a latency of 0.
type Early struct {
	Deliveries int64
	By         int64 // at most, ns
}

// Early reads the counters; it may be called at any time.
func (t *Trial) Early() Early {
	var e Early
	for i := range t.lanes {
		e.Deliveries += t.lanes[i].early.Load()
		e.By = max(e.By, -t.lanes[i].earliest.Load())
	}
	return e
}

// Possible tells whether that can be of clocks that are known to bound, ns. Else the bound doesn't hold, and the trial is
// void.
func (e Early) Possible(bound int64) bool { return clock.Possible(-e.By, bound) }
