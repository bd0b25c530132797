package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// A point may ask for processes of their own for its consumers (consumersApart, decision 027) and for relays (decision 046). Both
// reach the broker by the same link as the agent, and use topics that exist already.

// startConsumers starts a process of their own for the consumers and returns how the agent reaches it. The agent makes the topics
// before the process uses them.
func (b *bench) startConsumers(ctx context.Context, t driver.Topology) (*agent.ConsumerHost, error) {
	if b.lab.Host == nil {
		return nil, errStart{errors.New("the consumers' process can't be started: there is no directory for it")}
	}
	broker := b.broker.link
	broker.Topology = t
	broker.Topology.Existing = true
	b.announce("starting the consumers' process")
	secret := rand.Text()
	var err error
	b.clients.consumers, err = b.lab.Host.Start(ctx, provision.Options{
		Broker: agent.ConsumersPart, Nodes: 1, Keep: b.lab.Keep, Server: agent.Consumers{Broker: broker, Secret: secret}.Settings(),
	})
	if err != nil {
		return nil, fmt.Errorf("start the consumers' process: %w", err)
	}
	return &agent.ConsumerHost{Address: b.clients.consumers.Addresses()[0], Secret: secret}, nil
}

// startRelays makes the topics and starts the relays, each as a process. It blocks until the broker knows all of them.
func (b *bench) startRelays(ctx context.Context, t driver.Topology) error {
	if b.lab.Host == nil {
		return errStart{errors.New("the relays' processes can't be started: there is no directory for them")}
	}
	broker := b.broker.link
	broker.Topology = t
	b.announce("connecting")
	maker, err := broker.Open(ctx, b.lab.Log)
	if err != nil {
		return err
	}
	if err := maker.Close(); err != nil {
		return fmt.Errorf("close the client that made the topics: %w", err)
	}
	broker.Topology.Existing = true
	b.announce("starting the relays")
	relay := agent.Relay{Broker: broker, Config: driver.RelayConfig{MaxBytes: int(b.spec.MessageSize.Largest())}}
	b.clients.relays, err = b.lab.Host.Start(ctx, provision.Options{
		Broker: agent.RelaysPart, Nodes: b.spec.Relays, Keep: b.lab.Keep, Server: relay.Settings(),
	})
	if err != nil {
		return fmt.Errorf("start the relays: %w", err)
	}
	return nil
}

// askRelays adds to a trial how the relays stood still in it: messages waited for them, and the broker is not to blame. If a
// fault is aimed at a relay, its standing still is what the point measures, so none is asked.
func (b *bench) askRelays(ctx context.Context, t *trial) {
	onRelay := func(f study.Fault) bool { target, _ := b.faultTarget(f.Node); return target == b.clients.relays }
	if b.clients.relays == nil || t.Err != nil || slices.ContainsFunc(b.spec.Faults, onRelay) {
		return
	}
	t.relayed = new(worker.Pauses)
	for i, address := range b.clients.relays.Addresses() {
		p, err := agent.RelayPauses(ctx, address, t.From, t.Until)
		if err != nil {
			t.Doubts = append(t.Doubts, doubtOf(store.DoubtPauses, remark.Of("relay-%d did not say whether it stood still: %s", i+1, err.Error())))
			continue
		}
		*t.relayed = t.relayed.Union(p)
	}
}
