package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Local is an Agent in this process: a driver that is connected to the broker, and a worker that sends and receives through it. The
// zero Local is ready for Prepare, and so is one that was closed.
type Local struct {
	Log    io.Writer      // gets the log lines of the broker's client library; nil: they are dropped
	Probes *worker.Probes // for a plan that shares streams with other workers (worker.Plan.Peers)

	driver driver.Driver
	worker *worker.Worker // nil unless prepared
	plan   Plan
}

// Prepare connects to the broker and prepares the worker.
func (l *Local) Prepare(ctx context.Context, p Plan) (Prepared, error) {
	var negotiated TLS
	d, err := l.open(ctx, p, &negotiated)
	if err != nil {
		return Prepared{}, err
	}
	w, err := l.prepareWorker(ctx, d, p)
	if err != nil {
		if errors.As(err, new(*driver.ErrConnect)) { // of another of the broker's addresses, which only Setup learns
			err = &ErrConnect{Why: err}
		}
		return Prepared{}, errors.Join(err, clean(d, p), d.Close())
	}
	l.driver, l.worker, l.plan = d, w, p
	return Prepared{TLS: negotiated.String()}, nil
}

// open connects the driver to the broker, within the time that the plan allows for connecting. It has negotiated note what
// the driver's TLS handshakes negotiate, those of later connections as well.
func (l *Local) open(ctx context.Context, p Plan, negotiated *TLS) (driver.Driver, error) {
	log := l.Log
	if log == nil {
		log = io.Discard
	}
	kind, config, err := p.Broker.Config(log)
	if err != nil {
		return nil, err
	}
	negotiated.Watch(config.Target.TLS)
	ctx, cancel := context.WithTimeout(ctx, p.Worker.Connect)
	defer cancel()
	d, err := kind.Open(ctx, config)
	if err == nil {
		return d, nil
	}
	if namesBroker := errors.As(err, new(*driver.ErrConnect)); !namesBroker {
		err = fmt.Errorf("connect to %s: %w", p.Broker.Broker, err)
	}
	return nil, &ErrConnect{Why: err}
}

// prepareWorker connects producers and consumers. The consumers run in another process if p.Consumers says so.
func (l *Local) prepareWorker(ctx context.Context, d driver.Driver, p Plan) (*worker.Worker, error) {
	switch {
	case p.Worker.Peers != nil:
		return worker.PrepareShared(ctx, d, p.Worker, l.Probes)
	case p.Consumers == nil:
		return worker.Prepare(ctx, d, p.Worker)
	}
	conn, err := p.Consumers.connect(ctx)
	if err != nil {
		return nil, err
	}
	return worker.PrepareApart(ctx, d, p.Worker, conn)
}

// Run runs one trial. The outcome is an error if nothing is prepared.
func (l *Local) Run(ctx context.Context, load worker.Load) (worker.Outcome, []Part) {
	if l.worker == nil {
		return worker.Outcome{Err: errors.New("nothing is prepared for a load")}, nil
	}
	return l.worker.Run(ctx, load), nil
}

// Used returns what this process has used.
func (l *Local) Used() provision.Usage { return provision.SelfUsage() }

// Close ends producers, consumers and connections. If the driver can, it also removes from the broker what Prepare made there. A second
// call does nothing.
func (l *Local) Close() error {
	if l.worker == nil {
		return nil
	}
	err := l.worker.Close()
	err = errors.Join(err, clean(l.driver, l.plan), l.driver.Close())
	l.worker, l.driver = nil, nil
	return err
}

// The removal of topics from a broker may take cleanTime, and cleanTimePerTopic more for each topic.
const (
	cleanTime         = 5 * time.Second
	cleanTimePerTopic = 5 * time.Millisecond
)

// clean removes from the broker what a worker made there, unless another worker that shares it removes it. It returns an error only if
// the broker goes on running: one that is stopped next is removed with all its data.
func clean(d driver.Driver, p Plan) error {
	topology := p.Worker.Topology
	anotherCleans := p.Worker.Peers != nil && topology.Existing
	cleaner, canClean := d.(driver.Cleaner)
	if anotherCleans || !canClean {
		return nil
	}
	timeout := cleanTime + time.Duration(len(topology.Topics))*cleanTimePerTopic
	// Not the caller's context: that has ended after Ctrl-C, but the broker has to be cleaned.
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := cleaner.Clean(ctx); err != nil && p.Outlives {
		return fmt.Errorf("remove topics from the broker: %w", err)
	}
	return nil
}
