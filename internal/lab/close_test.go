package lab

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// uncleanable is a driver that can't remove topics from its broker.
type uncleanable struct{ driver.Driver }

func (uncleanable) Clean(context.Context) error { return errors.New("not allowed") }
func (uncleanable) Close() error                { return nil }

func TestTopicsLeftOnAnAttachedBrokerAreADoubt(t *testing.T) {
	for _, attach := range [][]string{nil, {"127.0.0.1:4222"}} {
		attached := attach != nil
		b := &bench{record: &store.Record{PointID: "0a1b2c3d4e"}, spec: study.Spec{Attach: attach}}
		if got := b.agentPlan().Attached; got != attached {
			t.Errorf("the agent's plan says that the broker is attached: %v; want %v", got, attached)
		}
		p := &pipeline{bench: b, admin: uncleanable{}}
		p.close(nil)
		doubted := len(b.record.Doubts) == 1 && b.record.Doubts[0].Code == "unclean-close" && strings.Contains(b.record.Doubts[0].Text, "not allowed")
		if doubted != attached {
			t.Errorf("attached %v: a pipeline whose topic is left has the doubts %v", attached, b.record.Doubts)
		}
	}
}
