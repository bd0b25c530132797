package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A point may need processes beside its broker and its agent. They are metered apart, so what they use counts as this:
//
//	consumers' process   consumersApart: true   the generator's consuming side; the agent is the producing side
//	relays               relays: 3              neither broker nor generator
//	pipeline's parts     pipeline: {…}          each as a part of its own (pipeline_meters.go)
//
// A relay consumes from a topic and produces to a further one. Consumers' process and relays use topics that exist already.

// startConsumers starts the consumers' own process. It works for the agent, which shows it the secret and makes the topics first.
func (b *bench) startConsumers(ctx context.Context, t driver.Topology, secret string) (*provision.Instance, error) {
	b.announce("starting the consumers' process")
	consumers := agent.Consumers{Broker: b.broker.link, Secret: secret}
	consumers.Broker.Topology = t
	consumers.Broker.Topology.Existing = true
	in, err := b.startProcesses(ctx, provision.Options{Broker: agent.ConsumersPart, Nodes: 1, Server: provision.PartSettings(consumers), Limits: limitsOf(b.spec.Limits.Consumer)})
	if err != nil {
		return nil, fmt.Errorf("start the consumers' process: %w", err)
	}
	return in, nil
}

// startRelays makes the topics and starts the relays, each as a process. It blocks until the broker knows all of them.
func (b *bench) startRelays(ctx context.Context, t driver.Topology) (*provision.Instance, error) {
	b.announce("connecting")
	broker := b.broker.link
	broker.Topology = t
	maker, err := broker.Open(ctx, b.lab.options.Log)
	if err != nil {
		return nil, err
	}
	if err := maker.Close(); err != nil {
		return nil, fmt.Errorf("close the client that made the topics: %w", err)
	}
	b.announce("starting the relays")
	broker.Topology.Existing = true
	relay := agent.Relay{Broker: broker, Config: driver.RelayConfig{MaxBytes: int(b.spec.MessageSize.Largest()) + b.headerBytes}}
	in, err := b.startProcesses(ctx, provision.Options{Broker: agent.RelaysPart, Nodes: b.spec.Relays, Server: provision.PartSettings(relay)})
	if err != nil {
		return nil, fmt.Errorf("start the relays: %w", err)
	}
	return in, nil
}

// startProcesses starts processes that the repetition needs beside the broker, and blocks until they are ready. The caller stops them.
func (b *bench) startProcesses(ctx context.Context, o provision.Options) (*provision.Instance, error) {
	if b.lab.options.Host == nil {
		return nil, errStart{cause: errors.New("there is no directory for processes")}
	}
	o.Keep = b.lab.options.Keep
	return b.lab.options.Host.Start(ctx, o)
}

// relayPauses returns when relays stood still in a load: messages waited for them, and the broker is not to blame. It adds a doubt for each
// relay that does not answer. It returns nil if there are no relays, or if a fault is aimed at one: then its standstill is part of what
// the point measures.
func (b *bench) relayPauses(ctx context.Context, out worker.Outcome) (*worker.Pauses, []store.Doubt) {
	if b.clients.relays == nil || out.Err != nil {
		return nil, nil
	}
	for _, f := range b.spec.Faults {
		if target, _ := b.faultTarget(f.Node); target == b.clients.relays {
			return nil, nil
		}
	}
	var all worker.Pauses
	var doubts []store.Doubt
	for i, address := range b.clients.relays.Addresses() {
		p, err := agent.RelayPauses(ctx, address, out.From, out.Until)
		if err != nil {
			doubts = append(doubts, store.DoubtOf(doubt.Pauses, fmt.Sprintf("relay-%d did not say whether it stood still: %v", i+1, err)))
			continue
		}
		all = all.Union(p)
	}
	return &all, doubts
}

// Processes that a repetition needs may die while it runs: the broker, relays, the parts of a pipeline. guard ends a load when one does,
// and the repetition fails: “the broker died: …”. A fault that ends a process on purpose is no death.

// errDied is the error of a repetition that lost a process which it needs, though no fault had ended it.
type errDied struct {
	process string // theBroker, or a part as faults name it: "relay", "server"
	death   provision.Death
}

// theBroker is the broker among the processes that may die.
const theBroker = "broker"

func (e errDied) Error() string { return fmt.Sprintf("the %s died: %s", e.process, e.death) }

// brokerDied reports whether err says that the broker died.
func brokerDied(err error) bool {
	died, ok := errors.AsType[errDied](err)
	return ok && died.process == theBroker
}

// guard returns a context that ends with ctx, or when the broker or one of parts dies, unless a fault ended it on purpose. The caller
// calls unguard in the end, which returns the death as an errDied, or nil. Further calls of unguard return the same.
func (b *bench) guard(ctx context.Context, parts ...part) (guarded context.Context, unguard func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	var watching sync.WaitGroup
	for _, watched := range append(slices.Clone(parts), part{name: theBroker, instance: b.broker.instance}) {
		if watched.instance == nil { // not started here, or not asked for
			continue
		}
		watching.Go(func() {
			if death, died := awaitDeath(watched.instance.Deaths(), over); died {
				cancel(errDied{process: watched.name, death: death})
			}
		})
	}
	return ctx, sync.OnceValue(func() error {
		close(over)
		watching.Wait()
		cancel(nil)
		return deathOf(ctx)
	})
}

// deathOf returns the death that has ended a guarded context; nil if none has.
func deathOf(guarded context.Context) error {
	if died, ok := errors.AsType[errDied](context.Cause(guarded)); ok {
		return died
	}
	return nil
}

// explainDeath returns the broker's death instead of err if the broker has died: its clients only see broken connections. It is for
// errors outside of guard, which takes the report of a death itself.
func (b *bench) explainDeath(err error) error {
	if errors.As(err, new(*driver.ErrUnsupported)) { // a refusal is an answer of a living broker
		return err
	}
	if death, died := lateDeath(b.broker.instance); died {
		return errDied{process: theBroker, death: death}
	}
	return err
}

// explainLoss adds to the error of a lost consumers' process how that process died. It must be called before close, which ends the
// process itself.
func (b *bench) explainLoss(err error) error {
	if !errors.Is(err, worker.ErrConsumerProcess) {
		return err
	}
	if death, died := lateDeath(b.clients.consumers); died {
		return fmt.Errorf("%w died: %s", worker.ErrConsumerProcess, death)
	}
	return err
}

// deathDelay is how long after its connections broke the death of a process may be reported.
const deathDelay = time.Second

// lateDeath returns the death of an instance, if one has been reported or is reported within deathDelay. in may be nil: the
// death of a broker that was not started here is not reported.
func lateDeath(in *provision.Instance) (death provision.Death, died bool) {
	if in == nil {
		return provision.Death{}, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), deathDelay)
	defer cancel()
	return awaitDeath(in.Deaths(), ctx.Done())
}

// awaitDeath returns the first death that is reported until over is closed. One that has been reported by then counts.
func awaitDeath(deaths <-chan provision.Death, over <-chan struct{}) (death provision.Death, died bool) {
	select {
	case death = <-deaths:
		return death, true
	case <-over:
	}
	select { // if both are ready, select chooses at random
	case death = <-deaths:
		return death, true
	default:
		return provision.Death{}, false
	}
}
