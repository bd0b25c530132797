package fleet

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// executor carries out the orders of a session, one after the other, with an agent.Agent in this process.
type executor struct {
	local   agent.Agent
	tell    chan struct{} // something is to be reported at once
	halted  atomic.Bool   // the measured phase of the load under way is to end
	from    atomic.Int64  // when that phase begins, as the coordinator said
	shares  bool          // streams with other agents, since it was last to prepare
	streams sharing

	mu        sync.Mutex
	samples   []worker.Sample
	measuring int64
	sent      bool
	filled    bool
	draining  bool
	drain     chan struct{} // closed when the backlog of the load under way may be drained, and draining is set; nil before the first load
}

// tellNow has the session send a beat at once.
func (e *executor) tellNow() {
	select {
	case e.tell <- struct{}{}:
	default:
	}
}

// report adds to a beat what has changed since the last one.
func (e *executor) report(u *up) {
	u.Used = provision.SelfUsage()
	if e.shares {
		u.Own = e.streams.snapshot()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	u.Samples, u.Measuring, u.Sent, u.Filled = e.samples, e.measuring, e.sent, e.filled
	e.samples = nil
}

// cue passes the coordinator's decision on to the load under way.
func (e *executor) cue(c cue) {
	e.from.Store(c.Measure)
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.Drain && !e.draining && e.drain != nil {
		e.draining = true
		close(e.drain)
	}
}

// begin is called before an order is carried out.
func (e *executor) begin(o *order) {
	var plan *worker.Plan
	if o.Plan != nil {
		plan = &o.Plan.Worker
		e.shares = plan.Peers != nil
	}
	e.streams.begin(o.N, plan)
}

func (e *executor) do(ctx context.Context, o *order) (a answer) {
	if e.shares {
		defer e.streams.watch(e.tellNow)()
	}
	var err error
	switch {
	case o.Do == doPrepare && o.Plan != nil:
		var p agent.Prepared
		if e.shares {
			if local, ok := e.local.(*agent.Local); ok { // a simulated agent has no streams
				local.Probes = e.streams.probes
			}
		}
		p, err = e.local.Prepare(ctx, *o.Plan)
		a.Prepared = &p
		if e.shares && err == nil {
			e.streams.noteMade() // for agents that don't report it earlier, as agent.Local does
		}
	case o.Do == doRun && o.Load != nil:
		e.run(ctx, o, &a)
	case o.Do == doClose:
		err = e.local.Close()
	default:
		err = fmt.Errorf("order %q is unknown or incomplete", o.Do)
	}
	a.Fault = agent.FaultOf(err)
	return a
}

// early is how long before its start a load with a schedule is handed to the worker, which waits for the start itself.
const early = 50 * time.Millisecond

// run runs a load and reads the meters of this process.
func (e *executor) run(ctx context.Context, o *order, a *answer) {
	e.mu.Lock()
	e.samples, e.measuring, e.sent, e.filled, e.draining, e.drain = nil, 0, false, false, false, make(chan struct{})
	e.mu.Unlock()
	e.halted.Store(false)
	e.from.Store(0)
	g := &gauge{meter: &ownUsage, over: make(chan struct{})}
	l := o.Load.Load
	l.Hooks = e.hooks(l, g, o.Haltable)
	if o.Others && l.Backlog != nil {
		l.Filled = e.awaitDrain
	}
	var starting sync.WaitGroup
	starting.Go(func() { a.Woke = wake(l.Start) })
	switch {
	case e.shares: // what others send must find its consumers listening, even if a clock is wrong
		steering := clock.WatchSteering()
		defer func() { a.Bend = steering.Close() }()
	case l.Schedule == nil:
		wake(l.Start)
	default:
		wake(l.Start - int64(early))
	}
	out, _ := e.local.Run(ctx, l)
	e.streams.ended()
	starting.Wait()
	a.Outcome, a.Meters = &agent.Outcome{Outcome: out}, g.finish()
}

// wake sleeps until a time on the clock and returns the time at which it woke.
func wake(at int64) int64 {
	s := clock.NewSleeper()
	defer s.Close()
	s.SleepUntil(at)
	return clock.Now()
}

// hooks collects the data for the beats of a trial.
func (e *executor) hooks(l worker.Load, g *gauge, haltable bool) worker.Hooks {
	hooks := worker.Hooks{
		Measuring: func(at int64) {
			e.note(func() { e.measuring = at })
			g.schedule(at, l.Duration)
		},
		Sent: func() {
			if l.Messages > 0 {
				g.markUntil()
			}
			e.note(func() { e.sent = true })
		},
		Observe: func(s worker.Sample) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.samples = append(e.samples, s)
		},
		MeasureFrom: e.from.Load,
	}
	if e.shares {
		hooks.CountAll = e.streams.everywhere
	}
	if haltable {
		hooks.Hopeless = func([]worker.Sample) bool {
			if !e.halted.Load() {
				return false
			}
			g.markUntil()
			return true
		}
	}
	return hooks
}

// note changes what the next beat says, and has it sent at once.
func (e *executor) note(change func()) {
	e.mu.Lock()
	change()
	e.mu.Unlock()
	e.tellNow()
}

// awaitDrain reports that this agent's backlog is filled, and blocks until every agent's backlog is.
func (e *executor) awaitDrain(ctx context.Context) error {
	e.note(func() { e.filled = true })
	select {
	case <-e.drain: // which stays the same while the load runs
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usageMeter reads what a process has used so far. Agents of one process share it, and agents that ask at the same time share one
// reading. A reading opens a file of the kernel for each thread of the process, and each agent adds a thread: if each of 1,000 agents
// in one process took its own readings, these would cost 80 s of CPU time per trial.
type usageMeter struct {
	read func() agent.Reading // the reading's time is when it begins

	mu   sync.Mutex
	last agent.Reading
}

// Read returns a reading that began after the call of Read.
func (m *usageMeter) Read() agent.Reading {
	called := clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.At < called {
		m.last = m.read()
	}
	return m.last
}

// ownUsage meters this process.
var ownUsage = usageMeter{read: func() agent.Reading {
	r := agent.Reading{At: clock.Now(), Used: provision.SelfUsage(), Queued: ownQueue.Delay()}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.GC = gc.PauseTotal
	return r
}}

var ownQueue provision.Queue

// gauge takes the readings of one trial: when the measured phase begins, when it ends, and after the drain. A reading that was taken
// stays.
type gauge struct {
	meter   *usageMeter
	pending sync.WaitGroup
	over    chan struct{} // closed by finish

	mu     sync.Mutex
	meters meters
}

// schedule takes the readings of a measured phase that begins at from on this process's clock and lasts for length. If length is 0,
// the phase ends when markUntil is called.
func (g *gauge) schedule(from int64, length time.Duration) {
	g.pending.Go(func() {
		if !clock.Reach(from, g.over) {
			return
		}
		g.take(&g.meters.Begin)
		if length > 0 && clock.Reach(from+int64(length), g.over) {
			g.markUntil()
		}
	})
}

// markUntil takes the reading at the end of the measured phase.
func (g *gauge) markUntil() { g.take(&g.meters.Until) }

// finish takes the last reading and returns all of them.
func (g *gauge) finish() *meters {
	close(g.over)
	g.pending.Wait()
	g.take(&g.meters.End)
	return &g.meters
}

func (g *gauge) take(r *agent.Reading) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.At == 0 {
		*r = g.meter.Read()
	}
}
