package rabbitmq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	fast    = livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
	sure    = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	logged  = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	ordered = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	synced  = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksQuorum, driver.Unordered)
	three   = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
)

func TestDriverKeepsThePromisesOnEveryVersion(t *testing.T) {
	for i, version := range []string{"4.0.5", "3.10.8"} {
		t.Run(version, func(t *testing.T) {
			if i > 0 {
				testkit.Long(t)
			}
			s := livetest.Suite(t, provision.Options{Broker: "rabbitmq", Version: version}, [][]driver.Guarantee{{fast, logged, ordered, synced}, {ordered, synced}}[i]...)
			s.StoredApart = rabbitserver.StoredApart
			start := s.Target
			s.Target = func(t *testing.T) driver.Target {
				target := start(t)
				t.Run("features", func(t *testing.T) { features(t, version, target) })
				return target
			}
			if i == 0 {
				s.Guarded = livetest.GuardedBroker(provision.Options{Broker: "rabbitmq"})
			}
			drivertest.Run(t, s)
		})
	}
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Tuned(t, provision.Options{Broker: "rabbitmq"}, fast, logged, ordered)
	s.StoredApart = rabbitserver.StoredApart
	drivertest.Run(t, s)
}

// Publishers wait for confirms or don't, consumers acknowledge by themselves or not: each without the other.
func TestConfirmsAndAcknowledgementsAreIndependent(t *testing.T) {
	for name, c := range map[string]struct {
		g    driver.Guarantee
		when string
	}{
		"no confirms, manual acknowledgements": {fast, driver.AckAfter},
		"confirms, automatic acknowledgements": {sure, driver.AckBefore},
	} {
		t.Run(name, func(t *testing.T) {
			s := livetest.Suite(t, provision.Options{Broker: "rabbitmq"}, c.g)
			s.Client = map[string]any{"consumer.ack": c.when}
			if c.when == driver.AckAfter {
				s.Client["prefetch"] = 1
			}
			s.Restart, s.Kill, s.Pause, s.Cost = nil, nil, nil, nil
			s.Bulk = 300
			drivertest.Run(t, s)
		})
	}
}

// The fourth study publishes through 20 channels of one connection.
func TestProducersAndConsumersShareConnections(t *testing.T) {
	s := livetest.Suite(t, provision.Options{Broker: "rabbitmq"}, fast, logged)
	s.Client = map[string]any{"channels": 3}
	s.Restart, s.Kill, s.Cost = nil, nil, nil
	s.Bulk = 300
	start := s.Target
	s.Target = func(t *testing.T) driver.Target {
		target := start(t)
		t.Run("20 producers on one connection", func(t *testing.T) { oneConnection(t, target) })
		return target
	}
	drivertest.Run(t, s)
}

func oneConnection(t *testing.T, target driver.Target) {
	c := livetest.Config(t, "rabbitmq", target, fast, map[string]any{"channels": 20}, nil)
	drv := livetest.SetUp(t, "rabbitmq", c, livetest.Topic("shared", 1, "s"))
	connections := map[*amqp.Connection]int{}
	var producers []driver.Producer
	for id := range 21 {
		p, err := drv.Producer(t.Context(), driver.ProducerConfig{ID: id, Topics: []int{0}, InFlight: 10, MaxBytes: 100}, livetest.NewBook(t, 10, 1))
		livetest.Must(t, err)
		connections[p.(*producer).link.conn]++
		producers = append(producers, p)
	}
	first := producers[0].(*producer).link.conn
	if len(connections) != 2 || connections[first] != 20 {
		t.Errorf("21 producers have %d connections, and %d of them share the first; want 2 and 20", len(connections), connections[first])
	}
	for i, p := range producers {
		if first.IsClosed() != (i >= 20) {
			t.Errorf("the connection is closed: %v, when %d producers have left", first.IsClosed(), i)
		}
		livetest.Must(t, p.Close())
	}
}

func TestDriverKeepsThePromisesOverTLSOnAClusterOfThree(t *testing.T) {
	testkit.Long(t)
	s := livetest.Suite(t, provision.Options{Broker: "rabbitmq", Nodes: 3, TLS: true}, three)
	s.Bulk = 300
	drivertest.Run(t, s)
}

func config(t *testing.T, target driver.Target, client, topic map[string]any) driver.Config {
	t.Helper()
	return livetest.Config(t, "rabbitmq", target, logged, client, topic)
}

func TestSingleBroker(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq"})
	t.Run("limits", func(t *testing.T) { limits(t, target) })
	t.Run("a lazy queue is refused where the server would ignore it", func(t *testing.T) {
		lazy := config(t, target, nil, map[string]any{"x-queue-mode": "lazy"})
		livetest.Says(t, livetest.SetupError(t, "rabbitmq", lazy, livetest.Topic("t", 1, "s")), "x-queue-mode is not supported")
	})
	t.Run("a message that a full queue rejects fails", func(t *testing.T) {
		limits := map[string]any{"x-max-length": 1, "x-overflow": "reject-publish"}
		r := livetest.Open(t, "rabbitmq", config(t, target, map[string]any{"prefetch": 1, "ack.every": 2, "ack.delay": "1h"}, limits), livetest.Topic("full", 1, "idle"))
		r.ConsumeAll(t)
		var batch []string
		for n := range 64 {
			batch = append(batch, fmt.Sprint(n))
		}
		r.Post(t, batch...)
		livetest.Eventually(t, "a rejected message", func() bool { return errors.Is(r.Count().LastErr, errFull) })
	})
	t.Run("messages of one key keep their order over several queues", func(t *testing.T) {
		r := livetest.Open(t, "rabbitmq", config(t, target, nil, map[string]any{"exchange": "direct"}), livetest.Topic("parts", 4, "s"))
		r.ConsumeAll(t)
		r.KeysKeepTheirOrder(t)
	})
	t.Run("every subscription gets every message, from several queues each", func(t *testing.T) {
		r := livetest.Open(t, "rabbitmq", config(t, target, nil, nil), livetest.Topic("fan", 2, "a", "b", "c"))
		r.ConsumeAll(t)
		livetest.Must(t, r.Send(t, "a", "b", "c", "d"))
		livetest.Eventually(t, "12 deliveries", func() bool { return r.Count().Received == 12 })
		for s := range 3 {
			got := r.Received(s)
			slices.Sort(got)
			if got := strings.Join(got, ""); got != "abcd" {
				t.Errorf("subscription %d received %s", s, got)
			}
		}
	})
	t.Run("an unroutable mandatory message fails", func(t *testing.T) {
		c := config(t, target, map[string]any{"mandatory": true}, map[string]any{"exchange": "fanout"})
		if err := livetest.Open(t, "rabbitmq", c, livetest.Topic("nowhere", 1)).Send(t, "lost"); !errors.Is(err, errReturned) {
			t.Errorf("the fate of an unroutable message is %v, want %v", err, errReturned)
		}
	})
}
