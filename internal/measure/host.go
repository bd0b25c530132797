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

// phase returns the phase of a message by its intended time on the host's own axis.
func (h *Host) phase(intended int64) Phase { return phaseOf(intended, h.measuredFrom.Load()) }

// Early counts the deliveries that seem to have come before they were sent, because two clocks are known to each other only within a
// bound. They are counted like all others, with a latency of 0. For example, if messages seem to have taken 20, -5 and -30 ns, two
// deliveries were early, by 30 ns at most.
type Early struct {
	Deliveries int64
	By         int64 // the most of them, ns; 0 if there are none
}

// addEarly counts a delivery that seems to have come ns before it was sent.
func (c *counters) addEarly(ns int64) {
	c.early.Add(1)
	raise(&c.earlyBy, ns)
}

// Early reads the counters; it may be called at any time.
func (t *Trial) Early() Early {
	var e Early
	for i := range t.counters {
		e.Deliveries += t.counters[i].early.Load()
		e.By = max(e.By, t.counters[i].earlyBy.Load())
	}
	return e
}

// Possible reports whether clocks that are known within bound, in ns, can explain e. If not, the bound is wrong and the trial is void.
func (e Early) Possible(bound int64) bool { return clock.Possible(-e.By, bound) }
