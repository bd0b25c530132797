// Package agent is a worker as the lab sees it: prepare, run, close. What crosses these calls is plain data, so that they reach
// another process, or another machine, as well as this one.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/worker"
)

// Plan is what an agent prepares.
type Plan struct {
	Broker link.Broker // its topology is the Worker's
	Worker worker.Plan
	// Consumers is where the consumers run that Worker plans; nil: in the agent's own process.
	Consumers *Elsewhere
}

// Agent runs one shard of every trial of a point. Its methods are called one after the other.
type Agent interface {
	// Prepare connects and, unless consumers come later, probes. It blocks; an error leaves nothing behind.
	Prepare(ctx context.Context, p Plan) (Prepared, error)
	// Run runs one trial; see worker.Worker.Run. The Hooks of the load are called in this process.
	Run(ctx context.Context, l worker.Load) worker.Outcome
	// Close ends everything Prepare made, in bounded time.
	Close() error
}

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

	driver   driver.Driver
	worker   *worker.Worker
	topology driver.Topology
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
	w, err := prepare(ctx, d, p)
	if err != nil {
		clean(d, p.Worker.Topology)
		return Prepared{}, errors.Join(err, d.Close())
	}
	l.driver, l.worker, l.topology = d, w, p.Worker.Topology
	return Prepared{negotiated.String()}, nil
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
