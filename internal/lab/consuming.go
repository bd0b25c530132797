package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// apart starts the process of the consumers where the spec asks for one; nil: they run in this process.
func (b *bench) apart(ctx context.Context, c driver.Config, t driver.Topology) (*agent.Elsewhere, error) {
	if !b.spec.ConsumersApart {
		return nil, nil
	}
	if b.lab.Host == nil {
		return nil, errStart{errors.New("the consumers' process can't be started: there is no directory for it")}
	}
	to, err := b.link(c)
	if err != nil {
		return nil, err
	}
	to.Topology = t
	to.Topology.Existing = true
	b.stage(Event{Kind: Staged, Stage: "starting the consumers' process"})
	secret := rand.Text()
	b.consuming, err = b.lab.Host.Start(ctx, provision.Options{
		Broker: agent.ConsumersPart, Nodes: 1, Keep: b.lab.Keep, Server: agent.Consumers{Broker: to, Secret: secret}.Settings(),
	})
	if err != nil {
		return nil, fmt.Errorf("start the consumers' process: %w", err)
	}
	return &agent.Elsewhere{Address: b.consuming.Addresses()[0], Secret: secret}, nil
}

// link is the broker as another process needs to know it; its topology is left to the caller.
func (b *bench) link(c driver.Config) (link.Broker, error) {
	if len(b.spec.Attach) > 0 {
		to, err := Link(b.spec)
		to.Version = c.Target.Version
		return to, err
	}
	s := b.spec
	to := link.Broker{
		Broker: s.Broker, Version: c.Target.Version, Addresses: c.Target.Addresses, Endpoints: c.Target.Endpoints, Server: c.Target.Server,
		Guarantee: c.Guarantee, Client: s.Client, Topic: s.Topic,
	}
	if b.instance == nil { // in this process
		return to, nil
	}
	if f := b.instance.TLSFiles(); f != nil {
		to.TLS, to.CA = true, f.CA
		if f.Mutual {
			to.Cert, to.Key = f.ClientCert, f.ClientKey
		}
	}
	return to, nil
}

// separable refuses consumers in a process of their own where there can be none.
func separable(s study.Spec) error {
	if _, ok := catalog.Started(s.Broker); s.ConsumersApart && !ok {
		return driver.Unsupported("consumersApart: true", "%s runs in this process, and no other one reaches it", s.Broker)
	}
	return nil
}

// deathTime is how long after the end of its connection the death of a process may be reported.
const deathTime = time.Second

// whyLost is err, and where the consumers' process was lost how it died. It is asked before anything is stopped: what ends
// then ends because it is told to.
func (b *bench) whyLost(err error) error {
	if b.consuming == nil || !errors.Is(err, worker.ErrApart) {
		return err
	}
	select {
	case d := <-b.consuming.Deaths():
		return fmt.Errorf("%w died: %s", worker.ErrApart, d)
	case <-time.After(deathTime):
		return err
	}
}
