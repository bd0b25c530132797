// Package amqptest is what the live tests of the AMQP 1.0 brokers share beside package livetest.
package amqptest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// The guarantees that every one of these brokers keeps.
var (
	Fast    = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
	Memory  = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered)
	Synced  = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered)
	Ordered = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
)

// Attaching checks that the error for a target that can't work says why.
func Attaching(t *testing.T, broker string, plain driver.Target) {
	t.Run("fsync is refused where it is unknown how the broker stores", func(t *testing.T) {
		unknown := plain
		unknown.Endpoints, unknown.Server = nil, nil
		livetest.OpenSays(t, broker, unknown, Synced, "persistence: fsync is not supported")
	})
}

var rigs atomic.Int32

// catchUp is how many messages may wait for an absent broker: a slow one flushes each of them when it is back.
const catchUp = 1000

// Survives sends at a modest rate while breaks disturbs the broker, and wants every acknowledged message to arrive at every
// subscription, and sending to work again.
func Survives(t *testing.T, broker string, target driver.Target, g driver.Guarantee, breaks func(context.Context) error, subscriptions ...string) {
	t.Helper()
	topology := livetest.Topic(fmt.Sprintf("rig-%d", rigs.Add(1)), 1, subscriptions...)
	// Slots for the messages sent while the broker doesn't answer.
	r := livetest.OpenWith(t, broker, livetest.Config(t, broker, target, g, nil, nil), topology, 1<<16)
	r.ConsumeAll(t)
	send := func(n int) {
		t.Helper()
		if r.Count().Pending >= catchUp {
			return
		}
		var batch []string
		for i := range n {
			batch = append(batch, fmt.Sprintf("%0100d", r.Count().Sent+i))
		}
		r.Post(t, batch...)
	}
	send(100)
	r.Settled(t)
	broken := make(chan error, 1)
	go func() { broken <- breaks(context.Background()) }()
	for done := false; !done; {
		send(20)
		select {
		case err := <-broken:
			livetest.Must(t, err)
			done = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	before := r.Count().Acked
	livetest.Eventually(t, "messages are acknowledged again", func() bool {
		send(20)
		return r.Count().Acked >= before+100
	})
	r.Settled(t)
	t.Logf("%+v", r.Count())
}

// ManualAcknowledgements runs the conformance suite at most once with consumers that accept messages by hand. The exact counts
// of its topologies are of a guarantee that acknowledges: at most once a message may be lost with its producer's connection.
func ManualAcknowledgements(t *testing.T, broker string) {
	s := livetest.Suite(t, provision.Options{Broker: broker}, Fast, Memory)
	s.Client = map[string]any{"consumer.ack": driver.AckAfter, "Credit": 10}
	s.Restart, s.Kill, s.Pause, s.Cost = nil, nil, nil, nil
	s.Bulk = 300
	drivertest.Run(t, s)
}

// OneTooMany comes to a server that takes two clients, which are the driver itself and one of a consumer and a producer.
func OneTooMany(t *testing.T, broker, setting string) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: broker, Server: map[string]any{setting: 2}})
	drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, broker)},
		drivertest.Denial{Name: "one too many", Target: target, Guarantee: Memory, Says: "on clients beyond the server's " + setting})
}
