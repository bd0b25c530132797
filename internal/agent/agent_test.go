package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/worker"
)

// plan is one producer and one consumer on a sim of the test's own.
func plan(t *testing.T, client map[string]any) agent.Plan {
	t.Helper()
	t.Cleanup(func() { sim.Remove(t.Name()) })
	return agent.Plan{
		Broker: link.Broker{
			Broker: "sim", Addresses: []string{t.Name()}, Client: client,
			Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered},
		},
		Worker: worker.Plan{
			Topology:  driver.Topology{Topics: []driver.Topic{{Name: "t", Partitions: 1}}, Subscriptions: []string{"s"}},
			Producers: []worker.Producer{{}}, Consumers: []driver.ConsumerConfig{{}},
			Payload:  worker.Payload{Sizes: []worker.Size{{Bytes: 100, Weight: 1}}, Random: 1, Pool: 1},
			InFlight: 100, Bytes: 1 << 20, Connect: 5 * time.Second,
		},
	}
}

func TestWhatCannotBePreparedLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, c := range map[string]struct {
		client map[string]any
		edit   func(*agent.Plan)
		want   string
	}{
		"unknown broker": {nil, func(p *agent.Plan) { p.Broker.Broker = "simm" }, "simm"},
		"no address":     {nil, func(p *agent.Plan) { p.Broker.Addresses = nil }, "connect to sim: sim: no address"},
		"refused":        {nil, func(p *agent.Plan) { p.Broker.Guarantee.Replicas = 3 }, "replicas is not supported"},
		"too small":      {nil, func(p *agent.Plan) { p.Worker.Payload.Sizes[0].Bytes = 1 }, "message size 1"},
		"never seen":     {map[string]any{"latency": "1h"}, func(p *agent.Plan) { p.Worker.Connect = 200 * time.Millisecond }, "1 of 1 producers were not seen"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, c.client)
			c.edit(&p)
			var a agent.Local
			_, err := a.Prepare(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			if refused := name == "refused"; errors.As(err, new(*driver.ErrUnsupported)) != refused {
				t.Errorf("%v: a refusal must stay one, and nothing else become one", err)
			}
			if err := a.Close(); err != nil {
				t.Errorf("Close of an agent that isn't prepared: %v", err)
			}
			if s, ok := sim.Stats(t.Name()); ok && s.Waiting > 0 {
				t.Errorf("%d deliveries were left on the broker", s.Waiting)
			}
		})
	}
}

// uncleanable is a sim from which topics can't be removed.
type uncleanable struct{ driver.Driver }

func (uncleanable) Clean(context.Context) error { return errors.New("not allowed") }

func init() {
	kind := sim.Kind()
	kind.Name = "uncleanable"
	open := kind.Open
	kind.Open = func(ctx context.Context, c driver.Config) (driver.Driver, error) {
		d, err := open(ctx, c)
		return uncleanable{d}, err
	}
	driver.Register(kind)
}

// A broker that is stopped next is removed with its topics. One that goes on running keeps them.
func TestTopicsLeftOnABrokerThatGoesOnRunningAreAnError(t *testing.T) {
	const want = "remove topics from the broker: not allowed"
	for _, outlives := range []bool{false, true} {
		for _, prepared := range []bool{false, true} {
			p := plan(t, nil)
			p.Broker.Broker, p.Outlives = "uncleanable", outlives
			if !prepared {
				p.Worker.Payload.Sizes[0].Bytes = 1
			}
			var a agent.Local
			_, err := a.Prepare(t.Context(), p)
			if prepared != (err == nil) {
				t.Fatalf("prepared: %v; want %v", err, prepared)
			}
			if prepared {
				err = a.Close()
			}
			if told := err != nil && strings.Contains(err.Error(), want); told != outlives {
				t.Errorf("outlives %v, prepared %v: %v", outlives, prepared, err)
			}
		}
	}
}

func TestAnAgentRunsTrialsOneAfterTheOther(t *testing.T) {
	defer goleak.VerifyNone(t)
	var a agent.Local
	for range 2 { // it can be prepared again after Close
		if _, err := a.Prepare(t.Context(), plan(t, nil)); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{10, 1000} {
			if out, _ := a.Run(t.Context(), worker.Load{Messages: n, Drain: 5 * time.Second}); out.Measured.Sent != n || out.Measured.Received != n || out.Measured.Stale != 0 {
				t.Errorf("%+v; want %d", out.Measured, n)
			}
		}
		for range 2 {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
