// Package agent is a worker as the lab sees it: prepare, run, close. In this process today; the same three calls will
// reach another machine later, so everything that crosses them is plain data.
package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/worker"
)

// Plan is what an agent prepares.
type Plan struct {
	Broker string // name of a registered driver
	Config driver.Config
	Worker worker.Plan
	// Consumers is where the consumers run that Worker plans; nil: in the agent's own process.
	Consumers *Elsewhere
}

// Agent runs one shard of every trial of a point. Its methods are called one after the other.
type Agent interface {
	// Prepare connects and, unless consumers come later, probes. It blocks; an error leaves nothing behind.
	Prepare(ctx context.Context, p Plan) error
	// StartConsumers connects the consumers that Prepare left off.
	StartConsumers(ctx context.Context) error
	// Run runs one trial; see worker.Worker.Run.
	Run(ctx context.Context, l worker.Load) worker.Outcome
	// Close ends everything Prepare made, in bounded time.
	Close() error
}

// cleanTime bounds the removal of topics at the end of a point; so many more seconds for each thousand of them.
const cleanTime = 5 * time.Second

// ErrConnect marks a broker that could not be reached at all.
type ErrConnect struct{ error }

func (e ErrConnect) Unwrap() error { return e.error }

// Local is an Agent in this process.
type Local struct {
	driver   driver.Driver
	worker   *worker.Worker
	topology driver.Topology
}

// Prepare opens the driver and the worker.
func (l *Local) Prepare(ctx context.Context, p Plan) error {
	kind, err := driver.Lookup(p.Broker)
	if err != nil {
		return err
	}
	open, cancel := context.WithTimeout(ctx, p.Worker.Connect)
	defer cancel()
	d, err := kind.Open(open, p.Config)
	if err != nil {
		var explained *driver.ErrConnect
		if !errors.As(err, &explained) { // whose sentence names the broker
			err = fmt.Errorf("connect to %s: %w", p.Broker, err)
		}
		return ErrConnect{err}
	}
	w, err := prepare(ctx, d, p)
	if err != nil {
		clean(d, p.Worker.Topology)
		return errors.Join(err, d.Close())
	}
	l.driver, l.worker, l.topology = d, w, p.Worker.Topology
	return nil
}

func prepare(ctx context.Context, d driver.Driver, p Plan) (*worker.Worker, error) {
	if p.Consumers == nil {
		return worker.Prepare(ctx, d, p.Worker)
	}
	away, err := p.Consumers.connect(ctx)
	if err != nil {
		return nil, err
	}
	return worker.PrepareApart(ctx, d, p.Worker, away)
}

// StartConsumers connects the consumers that were to come later.
func (l *Local) StartConsumers(ctx context.Context) error { return l.worker.StartConsumers(ctx) }

// Run runs one trial.
func (l *Local) Run(ctx context.Context, load worker.Load) worker.Outcome {
	return l.worker.Run(ctx, load)
}

// Close ends producers, consumers and connections, and removes from the broker what Prepare made where the driver
// can.
func (l *Local) Close() error {
	if l.worker == nil {
		return nil
	}
	err := l.worker.Close()
	clean(l.driver, l.topology)
	err = errors.Join(err, l.driver.Close())
	l.worker, l.driver = nil, nil
	return err
}

func clean(d driver.Driver, t driver.Topology) {
	if c, ok := d.(driver.Cleaner); ok {
		ctx, cancel := context.WithTimeout(context.Background(), cleanTime+time.Duration(len(t.Topics))*cleanTime/1000)
		defer cancel()
		// A broker that died can't be cleaned; whoever stops it removes its data anyway.
		_ = c.Clean(ctx)
	}
}
