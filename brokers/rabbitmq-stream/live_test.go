package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func config(t *testing.T, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	c, err := driver.Decode(settings, driver.ClientScope, client)
	must(t, err)
	v, err := driver.Decode(settings, driver.TopicScope, topic)
	must(t, err)
	return driver.Config{Target: target, Guarantee: g, Client: c, Topic: v}
}

// book takes down what was delivered and how every slot ended.
type book struct {
	mu        sync.Mutex
	delivered []string
	fates     map[uint32]error
}

func (b *book) Deliver(batch [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range batch {
		b.delivered = append(b.delivered, string(p))
	}
}

func (b *book) Done(slots []uint32, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range slots {
		b.fates[s] = err
	}
}

func (b *book) counts() (delivered, settled int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.delivered), len(b.fates)
}

// eventually waits for something that a healthy broker does within a moment.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

// consuming starts consumers of the first subscription and returns what ends them.
func consuming(t *testing.T, drv driver.Driver, ids []int, sinks ...driver.Sink) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, sink := range sinks {
		up := make(chan struct{})
		all.Go(func() {
			if err := drv.Consume(ctx, driver.ConsumerConfig{ID: ids[i]}, sink, func() { close(up) }); err != nil {
				t.Errorf("consume: %v", err)
			}
		})
		select {
		case <-up:
		case <-time.After(20 * time.Second):
			t.Fatal("a consumer was not ready after 20 s")
		}
	}
	return func() { cancel(); all.Wait() }
}

var topics int

// topology is a new topic with one subscription.
func topology(partitions int) driver.Topology {
	topics++
	return driver.Topology{Topics: []driver.Topic{{Name: fmt.Sprintf("live-%d", topics), Partitions: partitions}}, Subscriptions: []string{"s"}}
}

func TestOneServer(t *testing.T) {
	_, target := started(t, provision.Options{})
	t.Run("settings reach the server", func(t *testing.T) { settingsReachTheServer(t, target) })
	t.Run("consumers take over from each other", func(t *testing.T) { consumersTakeOver(t, target) })
}

func settingsReachTheServer(t *testing.T, target driver.Target) {
	t.Run("the number of copies has to be that of the nodes", func(t *testing.T) {
		g := logged
		g.Replicas, g.Acks = 3, driver.AcksQuorum
		requireError(t, setup(t, config(t, target, g, nil, nil), topology(1)), "replicas: 3 is not supported")
	})
	t.Run("a stream that is there already is not taken over", func(t *testing.T) {
		there := topology(1)
		must(t, setup(t, config(t, target, logged, nil, nil), there))
		requireError(t, setup(t, config(t, target, logged, nil, nil), there), "exists already")
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
			_, err := kind(t).Open(t.Context(), config(t, target, c.g, c.client, nil))
			requireError(t, err, "client."+name+" is not supported")
		}
	})
	t.Run("a message that fits in no frame is refused", func(t *testing.T) {
		drv := opened(t, config(t, target, logged, map[string]any{"frame.max": 4096}, nil), topology(1))
		_, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 1, MaxBytes: 4096}, &book{})
		requireError(t, err, "frame.max is not supported")
	})
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run("sub-entries, compression "+codec, func(t *testing.T) {
			drv := opened(t, config(t, target, logged, map[string]any{"sub.entry.size": 10, "compression": codec}, nil), topology(1))
			b := &book{fates: map[uint32]error{}}
			end := consuming(t, drv, []int{0}, b)
			sendAll(t, drv, b, 95, nil)
			eventually(t, "all were delivered", func() bool { n, _ := b.counts(); return n >= 95 })
			end()
			requireOnce(t, b, 95)
		})
	}
	t.Run("retention by size drops the oldest segments, acknowledged or not", func(t *testing.T) {
		limits := map[string]any{"max-length-bytes": 40_000, "stream-max-segment-size-bytes": 20_000}
		drv := opened(t, config(t, target, logged, nil, limits), topology(1))
		b := &book{fates: map[uint32]error{}}
		for range 4 { // retention is looked at when a segment is full
			sendAll(t, drv, b, 60, func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("x", 1000) })
		}
		end := consuming(t, drv, []int{0}, b)
		last := fmt.Sprintf("%04d", 59)
		eventually(t, "the last message", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return strings.HasPrefix(strings.Join(b.delivered[max(0, len(b.delivered)-1):], ""), last)
		})
		end()
		if n, _ := b.counts(); n == 0 || n >= 240 {
			t.Errorf("%d of 240 messages of 1 kB came out of a stream of 40 kB", n)
		}
	})
}

func consumersTakeOver(t *testing.T, target driver.Target) {
	for _, g := range []driver.Guarantee{fast, logged, once} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			drv := opened(t, config(t, target, g, nil, nil), topology(1))
			b := &book{fates: map[uint32]error{}}
			first := consuming(t, drv, []int{0}, b)
			second := consuming(t, drv, []int{1}, b)
			sendAll(t, drv, b, 100, nil)
			eventually(t, "the first hundred", func() bool { n, _ := b.counts(); return n == 100 })
			first() // the other becomes active, behind what was stored
			sendAll(t, drv, b, 100, func(i int) string { return fmt.Sprint(100 + i) })
			eventually(t, "the second hundred", func() bool { n, _ := b.counts(); return n >= 200 })
			second()
			requireOnce(t, b, 200)
		})
	}
	t.Run("the partitions of a super stream are shared out", func(t *testing.T) {
		drv := opened(t, config(t, target, once, nil, nil), topology(4))
		one, two := &book{fates: map[uint32]error{}}, &book{fates: map[uint32]error{}}
		end := consuming(t, drv, []int{0, 1}, one, two)
		sendAll(t, drv, one, 200, nil)
		eventually(t, "two hundred", func() bool {
			n, _ := one.counts()
			m, _ := two.counts()
			return n+m >= 200
		})
		end()
		n, _ := one.counts()
		m, _ := two.counts()
		if n == 0 || m == 0 {
			t.Errorf("the consumers got %d and %d messages of 4 partitions", n, m)
		}
		one.delivered = append(one.delivered, two.delivered...)
		requireOnce(t, one, 200)
	})
}

func TestOldServerRefusesWhatItLacks(t *testing.T) {
	_, target := started(t, provision.Options{Version: "3.10.8"})
	requireError(t, setup(t, config(t, target, logged, nil, nil), topology(4)), "RabbitMQ 3.10.8 has no super streams that a client can declare (since 3.13)")
	drv := opened(t, config(t, target, once, nil, nil), topology(1))
	b := &book{fates: map[uint32]error{}}
	end := consuming(t, drv, []int{0}, b)
	err := drv.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, b, func() { t.Error("a second consumer was let in") })
	requireError(t, err, "RabbitMQ 3.10.8 has no single active consumer for streams (since 3.11)")
	sendAll(t, drv, b, 100, nil)
	eventually(t, "all", func() bool { n, _ := b.counts(); return n >= 100 })
	end()
	requireOnce(t, b, 100)
}

// sendAll sends n messages with a producer of its own, numbered unless text says otherwise, and waits until all are
// acknowledged.
func sendAll(t *testing.T, drv driver.Driver, b *book, n int, text func(int) string) {
	t.Helper()
	if text == nil {
		text = func(i int) string { return fmt.Sprint(i) }
	}
	b.mu.Lock()
	clear(b.fates)
	b.mu.Unlock()
	p, err := drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: n, MaxBytes: 2000}, b)
	must(t, err)
	for i := range n {
		text := text(i)
		must(t, p.Send(t.Context(), []driver.Message{{Slot: uint32(i), Payload: []byte(text), Key: []byte(text)}}))
	}
	eventually(t, "every message is acknowledged", func() bool { _, settled := b.counts(); return settled == n })
	must(t, p.Close())
	for slot, err := range b.fates {
		if err != nil {
			t.Errorf("message %d: %v", slot, err)
		}
	}
}

// requireOnce wants the numbers below n, each once.
func requireOnce(t *testing.T, b *book, n int) {
	t.Helper()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
	}
	got := slices.Clone(b.delivered)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("delivered %d messages: %.300v; want the numbers below %d, each once", len(got), got, n)
	}
}

func opened(t *testing.T, c driver.Config, topo driver.Topology) driver.Driver {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	must(t, drv.Setup(t.Context(), topo))
	t.Cleanup(func() { must(t, drv.Close()) })
	return drv
}

func setup(t *testing.T, c driver.Config, topo driver.Topology) error {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	return errors.Join(drv.Setup(t.Context(), topo), drv.Close())
}

func requireError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v; want one that says %q", err, part)
	}
}
