package fleet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// hands do what a session is ordered to, one order after the other, by an agent in this process.
type hands struct {
	local   agent.Agent
	tell    chan struct{} // something is to be reported at once
	halted  atomic.Bool
	from    atomic.Int64 // when the measured phase of the load under way begins, as the coordinator said
	shares  bool         // streams with other agents, since it was last to prepare
	streams sharing

	mu        sync.Mutex
	samples   []worker.Sample
	measuring int64
	sent      bool
	filled    bool
	draining  bool
	drain     chan struct{} // closed when the backlog of the load under way may be drained, and draining is set
}

func (h *hands) news() <-chan struct{} { return h.tell }

func (h *hands) tellNow() {
	select {
	case h.tell <- struct{}{}:
	default:
	}
}

// report adds to a beat what is new.
func (h *hands) report(u *up) {
	u.Used = provision.SelfUsage()
	if h.shares {
		u.Own = h.streams.said()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	u.Samples, u.Measuring, u.Sent, u.Filled = h.samples, h.measuring, h.sent, h.filled
	h.samples = nil
}

// halt has the load under way end its measured phase.
func (h *hands) halt() { h.halted.Store(true) }

// cue tells the load under way what the coordinator said.
func (h *hands) cue(c cue) {
	h.from.Store(c.Measure)
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.Drain && !h.draining {
		h.draining = true
		close(h.drain)
	}
}

// begin is called before an order is carried out.
func (h *hands) begin(o *order) {
	var plan *worker.Plan
	if o.Plan != nil {
		plan = &o.Plan.Worker
		h.shares = plan.Beyond != nil
	}
	h.streams.begin(o.N, plan)
}

// do carries out an order.
func (h *hands) do(ctx context.Context, o *order) (a answer) {
	if h.shares {
		defer h.streams.watch(h.tellNow)()
	}
	var err error
	switch {
	case o.Do == doPrepare && o.Plan != nil:
		var p agent.Prepared
		if h.shares {
			if local, ok := h.local.(*agent.Local); ok { // what a test simulates has no streams
				local.Probes = h.streams.probes
			}
			if by, ok := clock.Disciplined(ctx); ok {
				a.Clock = &by
			}
		}
		p, err = h.local.Prepare(ctx, *o.Plan)
		a.Prepared = &p
		if h.shares && err == nil {
			h.streams.made() // by now; an agent.Local tells it before
		}
	case o.Do == doRun && o.Load != nil:
		h.run(ctx, o, &a)
	case o.Do == doClose:
		err = h.local.Close()
	default:
		err = fmt.Errorf("%q is not what comes next", o.Do)
	}
	a.Fault = agent.FaultOf(err)
	return a
}

// early is how long before its start a load with a schedule is begun, which takes care of the rest by itself.
const early = 50 * time.Millisecond

// run runs a load from its start on, and reads the meters of this process.
func (h *hands) run(ctx context.Context, o *order, a *answer) {
	h.mu.Lock()
	h.samples, h.measuring, h.sent, h.filled, h.draining, h.drain = nil, 0, false, false, false, make(chan struct{})
	h.mu.Unlock()
	h.halted.Store(false)
	h.from.Store(0)
	g := newGauge()
	l := o.Load.Load
	l.Hooks = h.hooks(l, g, o.Haltable)
	if o.Others && l.Backlog != nil {
		l.Filled = h.awaitDrain
	}
	var starting sync.WaitGroup
	starting.Go(func() { a.Woke = wake(l.Start) })
	switch {
	case h.shares: // what others send must find its consumers listening, even if a clock is wrong
		steering := clock.WatchSteering()
		defer func() { a.Bend = steering.Close() }()
	case l.Schedule == nil:
		wake(l.Start)
	default:
		wake(l.Start - int64(early))
	}
	out, _ := h.local.Run(ctx, l)
	h.streams.ended()
	starting.Wait()
	a.Outcome, a.Meters = &agent.Outcome{Outcome: out}, g.finish()
}

// wake sleeps until a time on the clock, and returns when it woke.
func wake(at int64) int64 {
	s := clock.NewSleeper()
	defer s.Close()
	s.SleepUntil(at)
	return now()
}

// hooks gather what the coordinator is told of a trial that runs.
func (h *hands) hooks(l worker.Load, g *gauge, haltable bool) worker.Hooks {
	hooks := worker.Hooks{
		Measuring: func(at int64) {
			h.mu.Lock()
			h.measuring = at
			h.mu.Unlock()
			h.tellNow()
			g.schedule(at, l.Duration)
		},
		Sent: func() {
			h.mu.Lock()
			h.sent = true
			h.mu.Unlock()
			if l.Messages > 0 {
				g.markUntil()
			}
			h.tellNow()
		},
		Observe: func(s worker.Sample) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.samples = append(h.samples, s)
		},
		MeasureFrom: h.from.Load,
	}
	if h.shares {
		hooks.Everywhere = h.streams.everywhere
	}
	if haltable {
		hooks.Hopeless = func([]worker.Sample) bool {
			if !h.halted.Load() {
				return false
			}
			g.markUntil()
			return true
		}
	}
	return hooks
}

// awaitDrain tells that the backlog is filled here, and blocks until it is everywhere.
func (h *hands) awaitDrain(ctx context.Context) error {
	h.mu.Lock()
	h.filled = true
	drain := h.drain
	h.mu.Unlock()
	h.tellNow()
	select {
	case <-drain:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
