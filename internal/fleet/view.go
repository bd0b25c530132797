package fleet

import (
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// view makes one view of what the agents tell of a trial, for the load's hooks, and decides what only all of them together show: when
// a warm-up is over, that a backlog is filled, that a load is hopeless.
type view struct {
	load  worker.Load
	start int64
	lines []clock.Line // where the agents' clocks are
	hands []*remote

	mu       sync.Mutex
	joint    *worker.Joint
	told     []worker.Sample // of the measured phase, while Hopeless may be asked
	begun    bool
	sending  int // agents that are still at it
	running  int // agents that haven't ended their part
	halted   bool
	settling *worker.Settling // nil: the warm-up's end is known
	filled   []bool           // by agent
	draining bool
}

func newView(l worker.Load, hands []*remote, start int64, lines []clock.Line) *view {
	v := &view{load: l, start: start, lines: lines, hands: hands, joint: worker.NewJoint(len(hands)), sending: len(hands), running: len(hands), filled: make([]bool, len(hands))}
	if l.Warmup.Told {
		v.settling = worker.NewSettling(l.Warmup)
	}
	return v
}

// of is where the beats of agent i go.
func (v *view) of(i int) *watching {
	return &watching{
		others: len(v.hands) > 1, measuring: v.measuring, sent: v.sent, filled: func() { v.full(i) },
		samples: func(s []worker.Sample) { v.samples(i, s) },
	}
}

func (v *view) measuring(at int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.begun && v.load.Measuring != nil {
		v.load.Measuring(at)
	}
	v.begun = true
}

func (v *view) sent() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sending--; v.sending == 0 && v.load.Sent != nil {
		v.load.Sent()
	}
}

// full notes that agent i has filled its part of a backlog, or will never have. All begin to drain together: while one still fills, a
// broker has less to drain with.
func (v *view) full(i int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.filled[i] = true
	for _, one := range v.filled {
		if !one {
			return
		}
	}
	if v.draining {
		return
	}
	v.draining = true
	for _, r := range v.hands {
		r.give(func(c *cue) { c.Drain = true })
	}
}

// over tells that agent i has ended its part.
func (v *view) over(i int) {
	v.full(i)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(v.joint.End(i))
	if v.running--; v.running == 0 {
		v.show(v.joint.Rest())
	}
}

func (v *view) samples(i int, list []worker.Sample) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(v.joint.Add(i, list))
}

// show passes samples of all agents together on.
func (v *view) show(list []worker.Sample) {
	for _, s := range list {
		if v.load.Observe != nil {
			v.load.Observe(s)
		}
		v.settle(s)
		v.consider(s)
	}
}

// settle ends an automatic warm-up that has settled, as soon as all agents can be told of it in time.
func (v *view) settle(s worker.Sample) {
	if v.settling == nil || s.Latency == nil || !v.settling.Settled(time.Duration(s.At-v.start), s) {
		return
	}
	v.settling = nil
	from := now() + int64(lead)
	for i, r := range v.hands {
		r.give(func(c *cue) { c.Measure = v.lines[i].There(from) })
	}
}

// consider asks whether the load is hopeless, and if so ends it everywhere.
func (v *view) consider(s worker.Sample) {
	if v.load.Hopeless == nil || v.halted || !v.begun || !s.Sending || s.Phase == 0 {
		return
	}
	v.told = append(v.told, s)
	if !v.load.Hopeless(v.told) {
		return
	}
	v.halted = true
	for _, r := range v.hands {
		r.halt()
	}
}
