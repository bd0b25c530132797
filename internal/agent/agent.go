// Package agent is a worker as the lab sees it: prepare, run, close. What crosses these calls is plain data, so that they reach
// another process, or another machine, as well as this one.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Plan is what an agent prepares.
type Plan struct {
	Broker link.Broker // its topology is the Worker's
	Worker worker.Plan
	// Place says which agents in other processes have what of Worker.
	Place Place
	// Consumers is where the consumers run that Worker plans; nil: in the agent's own process.
	Consumers *Elsewhere
}

// Place says which agents have a topic's producers and consumers. The zero Place has everything of one topic on one agent.
type Place struct {
	Spread               bool     // over all of them
	Producers, Consumers []string // names of those that have them, in turn
}

// Apart tells that a topic's producers and consumers may be on different agents.
func (p Place) Apart() bool { return p.Spread || len(p.Producers)+len(p.Consumers) > 0 }

// Agent runs one shard of every trial of a point. Its methods are called one after the other.
type Agent interface {
	// Prepare connects and, unless consumers come later, probes. It blocks; an error leaves nothing behind.
	Prepare(ctx context.Context, p Plan) (Prepared, error)
	// Run runs one trial; see worker.Worker.Run. The Hooks of the load are called in this process. The parts are those of agents in
	// other processes; none: it ran in this one.
	Run(ctx context.Context, l worker.Load) (worker.Outcome, []Part)
	// Used is what the processes that do the work have used so far; of others, as they last said.
	Used() provision.Usage
	// Close ends everything Prepare made, in bounded time.
	Close() error
}

// Several is an Agent that is others, in other processes.
type Several interface {
	// Each is what each of them has used so far, as it last said.
	Each() []UsedBy
}

// UsedBy is what an agent's process has used.
type UsedBy struct {
	Name string
	Used provision.Usage
}

// Growing is an Agent that is several others, of which there may be more.
type Growing interface {
	// Grow takes more agents for what is prepared from now on, though no more than most altogether, and says why. It returns how many
	// there are; false: as many as before.
	Grow(ctx context.Context, most int, why string) (agents int, grown bool)
}

// Part is what an agent in another process did in a trial.
type Part struct {
	Name, Host string
	Cores      int    // of its machine
	Machine    string // the same for all agents on it
	Here       bool   // that machine is this one
	PID        int    // of its process, where this one knows it by that; else 0
	Consumers  int
	// Outcome is on the clock of this process. An agent that was lost has none.
	Outcome worker.Outcome
	// Begin and Until are readings at the bounds of the measured phase, End after the drain; the zero Reading: it didn't come that far.
	Begin, Until, End Reading
	// Offset is what its clock was ahead of this process's, ns, give or take Bound; 0 and 0 where both read the same clock.
	Offset, Bound int64
	// Clock is what its host's time of day is kept by, where that is known.
	Clock *clock.Discipline
	// Late is how long after the start that all agents were told it woke, ns by its own clock.
	Late int64
}

// Bounds are the readings at the bounds of the measured phase, or nearest to them in a trial that ended before.
func (p Part) Bounds() (begin, until Reading) {
	begin, until = p.Begin, p.Until
	if begin.At == 0 {
		begin = p.End
	}
	if until.At <= begin.At {
		until = p.End
	}
	return begin, until
}

// Reading is what an agent's process had used by a moment, ns on its own clock.
type Reading struct {
	At         int64
	Used       provision.Usage
	GC, Queued time.Duration // pauses of the garbage collector; threads that waited for a core
}

// ErrLost is that an agent in another process died or isn't heard any more.
type ErrLost struct{ Agent, Why string }

func (e *ErrLost) Error() string { return "agent " + e.Agent + " was lost: " + e.Why }

// ErrClock is that the clocks of agents could not be related: what was measured between them means nothing.
type ErrClock struct{ Agent, Why string }

func (e *ErrClock) Error() string { return "the clock of agent " + e.Agent + ": " + e.Why }

// Prepared is what is known once an agent has connected.
type Prepared struct {
	TLS string // as negotiated with the broker; "" without it
}

// cleanTime bounds the removal of topics at the end of a point; so many more seconds for each thousand of them.
const cleanTime = 5 * time.Second

// ErrConnect marks a broker that could not be reached at all.
type ErrConnect struct{ error }

func (e ErrConnect) Unwrap() error { return e.error }

// Local is an Agent in this process.
type Local struct {
	Log io.Writer // the client library's own log lines; nil: nowhere
	// Probes are for a plan that shares streams with others.
	Probes *worker.Probes

	driver driver.Driver
	worker *worker.Worker
	plan   worker.Plan
}

// Prepare opens the driver and the worker.
func (l *Local) Prepare(ctx context.Context, p Plan) (Prepared, error) {
	log := l.Log
	if log == nil {
		log = io.Discard
	}
	kind, config, err := p.Broker.Config(log)
	if err != nil {
		return Prepared{}, err
	}
	var negotiated TLS
	negotiated.Watch(config.Target.TLS)
	open, cancel := context.WithTimeout(ctx, p.Worker.Connect)
	defer cancel()
	d, err := kind.Open(open, config)
	if err != nil {
		var explained *driver.ErrConnect
		if !errors.As(err, &explained) { // whose sentence names the broker
			err = fmt.Errorf("connect to %s: %w", p.Broker.Broker, err)
		}
		return Prepared{}, ErrConnect{err}
	}
	w, err := l.prepare(ctx, d, p)
	if err != nil {
		clean(d, p.Worker)
		return Prepared{}, errors.Join(err, d.Close())
	}
	l.driver, l.worker, l.plan = d, w, p.Worker
	return Prepared{negotiated.String()}, nil
}

func (l *Local) prepare(ctx context.Context, d driver.Driver, p Plan) (*worker.Worker, error) {
	switch {
	case p.Worker.Beyond != nil:
		return worker.PrepareShared(ctx, d, p.Worker, l.Probes)
	case p.Consumers == nil:
		return worker.Prepare(ctx, d, p.Worker)
	}
	away, err := p.Consumers.connect(ctx)
	if err != nil {
		return nil, err
	}
	return worker.PrepareApart(ctx, d, p.Worker, away)
}

// Run runs one trial.
func (l *Local) Run(ctx context.Context, load worker.Load) (worker.Outcome, []Part) {
	return l.worker.Run(ctx, load), nil
}

// Used is what this process has used.
func (l *Local) Used() provision.Usage { return provision.SelfUsage() }

// Close ends producers, consumers and connections, and removes from the broker what Prepare made where the driver
// can.
func (l *Local) Close() error {
	if l.worker == nil {
		return nil
	}
	err := l.worker.Close()
	clean(l.driver, l.plan)
	err = errors.Join(err, l.driver.Close())
	l.worker, l.driver = nil, nil
	return err
}

// clean removes what a worker had made, unless that is for another one to do.
func clean(d driver.Driver, p worker.Plan) {
	if p.Beyond != nil && p.Topology.Existing {
		return
	}
	if c, ok := d.(driver.Cleaner); ok {
		ctx, cancel := context.WithTimeout(context.Background(), cleanTime+time.Duration(len(p.Topology.Topics))*cleanTime/1000)
		defer cancel()
		// A broker that died can't be cleaned; whoever stops it removes its data anyway.
		_ = c.Clean(ctx)
	}
}
