package lab

import (
	"context"
	"errors"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers/nats"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// uncleanable is a driver that can't remove topics from its broker.
type uncleanable struct{ driver.Driver }

func (uncleanable) Clean(context.Context) error { return errors.New("not allowed") }
func (uncleanable) Close() error                { return nil }

func TestTopicsLeftOnABrokerThatGoesOnRunningAreADoubt(t *testing.T) {
	for name, c := range map[string]struct {
		spec     study.Spec
		outlives bool
	}{
		"fresh":    {study.Spec{Broker: "nats", Isolation: "fresh"}, false},
		"attached": {study.Spec{Broker: "nats", Attach: []string{"127.0.0.1:4222"}}, true},
		"shared":   {study.Spec{Broker: "nats", Isolation: "shared"}, true},
	} {
		b := &bench{record: &store.Record{PointID: "0a1b2c3d4e"}, spec: c.spec}
		if got := b.agentPlan().Outlives; got != c.outlives {
			t.Errorf("%s: the agent's plan says that the broker goes on running: %v", name, got)
		}
		p := &pipeline{bench: b, admin: uncleanable{}}
		p.close(nil)
		doubted := len(b.record.Doubts) == 1 && b.record.Doubts[0].Code == "unclean-close" && strings.Contains(b.record.Doubts[0].Text, "not allowed")
		if doubted != c.outlives {
			t.Errorf("%s: a pipeline whose topic is left has the doubts %v", name, b.record.Doubts)
		}
	}
}
