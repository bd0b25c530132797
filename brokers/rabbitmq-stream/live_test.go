package rabbitmqstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func config(t *testing.T, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	return livetest.Config(t, "rabbitmq-stream", target, g, client, topic)
}

var topics int

// topology is a new topic with one subscription.
func topology(partitions int) driver.Topology {
	topics++
	return livetest.Topic(fmt.Sprintf("live-%d", topics), partitions, "s")
}

func opened(t *testing.T, c driver.Config, partitions int) *livetest.Rig {
	t.Helper()
	return livetest.Open(t, "rabbitmq-stream", c, topology(partitions))
}

func TestOneServer(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq-stream"})
	t.Run("settings reach the server", func(t *testing.T) { settingsReachTheServer(t, target) })
	t.Run("consumers take over from each other", func(t *testing.T) { consumersTakeOver(t, target) })
	t.Run("limits", func(t *testing.T) { limits(t, target) })
}

func settingsReachTheServer(t *testing.T, target driver.Target) {
	setUp := func(g driver.Guarantee, topology driver.Topology) error {
		return livetest.SetupError(t, "rabbitmq-stream", config(t, target, g, nil, nil), topology)
	}
	t.Run("the number of copies has to be that of the nodes", func(t *testing.T) {
		g := logged
		g.Replicas, g.Acks = 3, driver.AcksQuorum
		livetest.Says(t, setUp(g, topology(1)), "replicas: 3 is not supported")
		two := target // as of a cluster, whose second copy would come while it is measured
		two.Addresses = append(slices.Clone(target.Addresses), target.Addresses[0])
		livetest.Says(t, livetest.SetupError(t, "rabbitmq-stream", config(t, two, logged, nil, nil), topology(1)),
			"replicas: 1 is not supported: the client declares streams with a copy on every node of the cluster; there are 2")
	})
	t.Run("a stream that is there already is not taken over", func(t *testing.T) {
		there := topology(1)
		livetest.Must(t, setUp(logged, there))
		livetest.Says(t, setUp(logged, there), "exists already")
	})
	t.Run("settings that exclude each other are refused", func(t *testing.T) {
		for name, c := range map[string]struct {
			g      driver.Guarantee
			client map[string]any
		}{
			"compression":     {logged, map[string]any{"compression": "gzip"}},
			"sub.entry.size":  {once, map[string]any{"sub.entry.size": 10}},
			"heartbeat":       {logged, map[string]any{"heartbeat": "1s"}},
			"initial.credits": {logged, map[string]any{"initial.credits": 0}},
		} {
			_, err := livetest.Kind(t, "rabbitmq-stream").Open(t.Context(), config(t, target, c.g, c.client, nil))
			livetest.Says(t, err, "client."+name+" is not supported")
		}
	})
	t.Run("a message that fits in no frame is refused", func(t *testing.T) {
		drv := livetest.SetUp(t, "rabbitmq-stream", config(t, target, logged, map[string]any{"frame.max": 4096}, nil), topology(1))
		_, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 1, MaxBytes: 4096}, fates{})
		livetest.Says(t, err, "frame.max is not supported")
	})
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run("sub-entries, compression "+codec, func(t *testing.T) {
			r := opened(t, config(t, target, logged, map[string]any{"sub.entry.size": 10, "compression": codec}, nil), 1)
			end := r.Consume(t, driver.ConsumerConfig{})
			sendNumbers(t, r, 0, 95)
			requireOnce(t, r, 95, end)
		})
	}
	t.Run("retention by size drops the oldest segments, acknowledged or not", func(t *testing.T) {
		limits := map[string]any{"max-length-bytes": 40_000, "stream-max-segment-size-bytes": 20_000}
		r := opened(t, config(t, target, logged, nil, limits), 1)
		const n = 240
		for i := range n { // one at a time: retention is looked at when a segment is full
			livetest.Must(t, r.Send(t, fmt.Sprintf("%04d", i)+strings.Repeat("x", 900)))
		}
		r.Consume(t, driver.ConsumerConfig{})
		livetest.Eventually(t, "the last message", func() bool {
			got := r.Received(0)
			return len(got) > 0 && strings.HasPrefix(got[len(got)-1], fmt.Sprintf("%04d", n-1))
		})
		if got := len(r.Received(0)); got >= n {
			t.Errorf("%d of %d messages of 900 B came out of a stream of 40 kB", got, n)
		}
	})
}

func consumersTakeOver(t *testing.T, target driver.Target) {
	for _, g := range []driver.Guarantee{fast, logged, once} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, config(t, target, g, nil, nil), 1)
			first := r.Consume(t, driver.ConsumerConfig{})
			second := r.Consume(t, driver.ConsumerConfig{ID: 1})
			sendNumbers(t, r, 0, 100)
			livetest.Eventually(t, "the first hundred", func() bool { return len(r.Received(0)) == 100 })
			first() // the other becomes active, behind what was stored
			sendNumbers(t, r, 100, 200)
			requireOnce(t, r, 200, second)
		})
	}
	t.Run("the partitions of a super stream are shared out", func(t *testing.T) {
		r := opened(t, config(t, target, once, nil, nil), 4)
		one, two := livetest.NewBook(t, 0, 1), livetest.NewBook(t, 0, 1)
		both := func(b *livetest.Book) driver.Sink { return sinks{b.Sink(0), r.Sink(0)} }
		first := livetest.Consume(t, r.Driver, driver.ConsumerConfig{}, both(one))
		second := livetest.Consume(t, r.Driver, driver.ConsumerConfig{ID: 1}, both(two))
		sendNumbers(t, r, 0, 200)
		requireOnce(t, r, 200, func() { first(); second() })
		if n, m := len(one.Received(0)), len(two.Received(0)); n == 0 || m == 0 {
			t.Errorf("the consumers got %d and %d messages of 4 partitions", n, m)
		}
	})
}

// sinks all get what is delivered.
type sinks []driver.Sink

func (all sinks) Deliver(batch []driver.Received) {
	for _, s := range all {
		s.Deliver(batch)
	}
}

func TestOldServerRefusesWhatItLacks(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "rabbitmq-stream", Version: "3.10.8"})
	four := livetest.SetupError(t, "rabbitmq-stream", config(t, target, logged, nil, nil), topology(4))
	livetest.Says(t, four, "RabbitMQ 3.10.8 has no super streams that a client can declare (since 3.13)")
	r := opened(t, config(t, target, once, nil, nil), 1)
	end := r.Consume(t, driver.ConsumerConfig{})
	err := r.Driver.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, r.Sink(0), func() { t.Error("a second consumer was let in") })
	livetest.Says(t, err, "RabbitMQ 3.10.8 has no single active consumer for streams (since 3.11)")
	sendNumbers(t, r, 0, 100)
	requireOnce(t, r, 100, end)
}

// sendNumbers sends the numbers from..to, each with itself as the key, and waits until all are acknowledged.
func sendNumbers(t *testing.T, r *livetest.Rig, from, to int) {
	t.Helper()
	var sent []string
	for i := from; i < to; i++ {
		text := fmt.Sprint(i)
		livetest.Must(t, r.Book.Send(t.Context(), r.Producer, driver.Message{Payload: []byte(text), Key: []byte(text)}))
		sent = append(sent, text)
	}
	livetest.Must(t, r.Fates(t, sent...))
}

// requireOnce waits until all has arrived, ends the consumers and wants the numbers below n, each once.
func requireOnce(t *testing.T, r *livetest.Rig, n int, end func()) {
	t.Helper()
	livetest.Eventually(t, "all were delivered", func() bool { return len(r.Received(0)) >= n })
	end()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
	}
	got := r.Received(0)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("delivered %d messages: %.300v; want the numbers below %d, each once", len(got), got, n)
	}
}

// A stream drops its oldest segments whether they were delivered or not.
func limits(t *testing.T, target driver.Target) {
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq-stream")}, target, logged, drivertest.Limit{
		Name: "max-length-bytes", Topic: map[string]any{"max-length-bytes": 100_000, "stream-max-segment-size-bytes": 50_000}, Full: drivertest.DropsOldest,
	})
}
