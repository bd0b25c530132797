package measure

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/clock"
)

// Host is another host whose producers send to consumers here. Its own agent counts what they send, so every intact message of its
// streams counts as received here; Join finds those that were never sent.
type Host struct {
	axis         clock.Line // converts the host's times to ours
	measuredFrom atomic.Int64
}

// NewHost returns a host whose times axis converts to ours. Every message counts as warm-up until MeasureFrom is called.
func NewHost(axis clock.Line) *Host {
	h := &Host{axis: axis}
	h.measuredFrom.Store(Undecided)
	return h
}

// MeasureFrom begins the measured phase of the host's producers: messages intended at or after ns on the host's own axis belong to it.
// Both hosts have to use the same number; otherwise they would assign a message to different phases.
func (h *Host) MeasureFrom(ns int64) { h.measuredFrom.Store(ns) }

// SetHost sets the host of a producer that is not on this one, and the sequence number of its first message in this trial. Call it
// before a message of the producer arrives. Payloads must carry their times.
func (t *Trial) SetHost(producer int, base uint64, h *Host) {
	t.streams[producer].base, t.streams[producer].host = base, h
}

func (h *Host) phase(intended int64) Phase {
	if intended >= h.measuredFrom.Load() {
		return Measured
	}
	return Warmup
}

// here converts a message's times to our axis, and counts the message as early if that puts sent after now.
func (h *Host) here(l *lane, intended, sent, now int64) (intendedHere, sentHere int64) {
	intendedHere, sentHere = h.axis.OurTime(intended), h.axis.OurTime(sent)
	if latency := now - sentHere; latency < 0 {
		l.early.Add(1)
		for lowest := l.earliest.Load(); latency < lowest && !l.earliest.CompareAndSwap(lowest, latency); {
			lowest = l.earliest.Load()
		}
	}
	return intendedHere, sentHere
}

// Early counts the deliveries that seem to have come before they were sent, because two clocks are known to each other only within a
// bound. They are counted like all others, with a latency of 0.
type Early struct {
	Deliveries int64
	By         int64 // the earliest of them, ns
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

// Possible reports whether clocks that are known within bound, in ns, can explain e. If not, the bound is wrong and the trial is void.
func (e Early) Possible(bound int64) bool { return clock.Possible(-e.By, bound) }
