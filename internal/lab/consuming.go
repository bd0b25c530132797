package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// startConsumers starts a process of their own for the consumers and returns how the agent reaches it. The agent makes the topics
// before the process uses them.
func (b *bench) startConsumers(ctx context.Context, t driver.Topology) (*agent.Elsewhere, error) {
	if b.lab.Host == nil {
		return nil, errStart{errors.New("the consumers' process can't be started: there is no directory for it")}
	}
	broker := b.broker
	broker.Topology = t
	broker.Topology.Existing = true
	b.stage(Event{Kind: Staged, Stage: "starting the consumers' process"})
	secret := rand.Text()
	var err error
	b.consuming, err = b.lab.Host.Start(ctx, provision.Options{
		Broker: agent.ConsumersPart, Nodes: 1, Keep: b.lab.Keep, Server: agent.Consumers{Broker: broker, Secret: secret}.Settings(),
	})
	if err != nil {
		return nil, fmt.Errorf("start the consumers' process: %w", err)
	}
	return &agent.Elsewhere{Address: b.consuming.Addresses()[0], Secret: secret}, nil
}
