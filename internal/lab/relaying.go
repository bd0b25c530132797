package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// relay makes the topics and starts the relays, each a process of its own; it blocks until the broker knows all of them.
func (b *bench) relay(ctx context.Context, c driver.Config, t driver.Topology) error {
	if b.lab.Host == nil {
		return errStart{errors.New("the relays' processes can't be started: there is no directory for them")}
	}
	to, err := b.link(c)
	if err != nil {
		return err
	}
	to.Topology = t
	b.stage(Event{Kind: Staged, Stage: "connecting"})
	maker, err := to.Open(ctx, b.lab.Log)
	if err != nil {
		return err
	}
	if err := maker.Close(); err != nil {
		return fmt.Errorf("close what made the topics: %w", err)
	}
	to.Topology.Existing = true
	b.stage(Event{Kind: Staged, Stage: "starting the relays"})
	one := agent.Relay{Broker: to, Config: driver.RelayConfig{MaxBytes: int(b.spec.MessageSize.Largest())}}
	b.relays, err = b.lab.Host.Start(ctx, provision.Options{
		Broker: agent.RelaysPart, Nodes: b.spec.Relays, Keep: b.lab.Keep, Server: one.Settings(),
	})
	if err != nil {
		return fmt.Errorf("start the relays: %w", err)
	}
	return nil
}

// askRelays asks the relays how they stood still: they are processes of ours, and messages waited for them. What a fault does to
// a relay is what the point is about, so then nobody is asked.
func (b *bench) askRelays(ctx context.Context, t *trial) {
	onRelay := func(f study.Fault) bool { in, _ := b.faultTarget(f.Node); return in == b.relays }
	if b.relays == nil || t.Err != nil || slices.ContainsFunc(b.spec.Faults, onRelay) {
		return
	}
	t.relayed = new(worker.Pauses)
	for i, address := range b.relays.Addresses() {
		p, err := agent.RelayPauses(ctx, address, t.From, t.Until)
		if err != nil {
			t.Doubts = append(t.Doubts, doubtOf(store.DoubtPauses, remark.Of("relay-%d did not say whether it stood still: %s", i+1, err.Error())))
			continue
		}
		*t.relayed = t.relayed.With(p)
	}
}

// relayable refuses relays where no process of their own could be.
func relayable(s study.Spec) error {
	if _, ok := catalog.Started(s.Broker); s.Relays > 0 && !ok {
		return driver.Unsupported(fmt.Sprintf("relays: %d", s.Relays), "%s runs in this process, and no other one reaches it", s.Broker)
	}
	return nil
}

// errRelay is the death of a relay that nobody asked for.
type errRelay struct{ provision.Death }

func (e errRelay) Error() string { return fmt.Sprintf("relay-%d died: %s", e.Node, e.Death) }
