package lab

import (
	"context"
	"errors"
	"fmt"

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
	in, err := b.startProcesses(ctx, provision.Options{Broker: agent.ConsumersPart, Nodes: 1, Server: consumers.Settings(), Limits: limitsOf(b.spec.Limits.Consumer)})
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
	in, err := b.startProcesses(ctx, provision.Options{Broker: agent.RelaysPart, Nodes: b.spec.Relays, Server: relay.Settings()})
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
