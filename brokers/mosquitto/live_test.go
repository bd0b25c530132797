package mosquitto_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

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

func (b *book) arrived() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.delivered)
}

func (b *book) fate(slot uint32) (err error, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err, known = b.fates[slot]
	return err, known
}

// eventually waits for something that a healthy broker does within a moment.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func config(t *testing.T, target driver.Target, g driver.Guarantee, client, topic map[string]any) driver.Config {
	t.Helper()
	c, err := driver.Decode(kind(t).Settings, driver.ClientScope, client)
	must(t, err)
	v, err := driver.Decode(kind(t).Settings, driver.TopicScope, topic)
	must(t, err)
	return driver.Config{Target: target, Guarantee: g, Client: c, Topic: v}
}

// rig is one driver with a producer; consume adds consumers.
type rig struct {
	*book
	drv      driver.Driver
	producer driver.Producer
}

func opened(t *testing.T, c driver.Config, subscriptions ...string) *rig {
	t.Helper()
	drv, err := kind(t).Open(t.Context(), c)
	must(t, err)
	r := &rig{book: &book{fates: map[uint32]error{}}, drv: drv}
	must(t, drv.Setup(t.Context(), driver.Topology{Topics: []driver.Topic{{Name: t.Name(), Partitions: 1}}, Subscriptions: subscriptions}))
	r.producer, err = drv.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: 4096, MaxBytes: 1000}, r)
	must(t, err)
	t.Cleanup(func() {
		must(t, r.producer.Close())
		must(t, drv.Close())
	})
	return r
}

// consume starts a consumer and returns what ends it.
func (r *rig) consume(t *testing.T, c driver.ConsumerConfig) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.drv.Consume(ctx, c, r, func() { close(up) }) }()
	select {
	case <-up:
	case err := <-ended:
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		cancel()
		must(t, <-ended)
	})
	t.Cleanup(end)
	return end
}

// send sends messages and waits for the fates of all.
func (r *rig) send(t *testing.T, first, n int) (failed error) {
	t.Helper()
	must(t, r.producer.Send(t.Context(), messages(first, n)))
	return r.settled(t, first, n)
}

// settled waits for the fates of messages that were sent.
func (r *rig) settled(t *testing.T, first, n int) (failed error) {
	t.Helper()
	for slot := uint32(first); slot < uint32(first+n); slot++ {
		eventually(t, fmt.Sprintf("the fate of %06d", slot), func() bool { _, known := r.fate(slot); return known })
		err, _ := r.fate(slot)
		failed = errors.Join(failed, err)
	}
	return failed
}

func messages(first, n int) (batch []driver.Message) {
	for i := first; i < first+n; i++ {
		batch = append(batch, driver.Message{Slot: uint32(i), Payload: fmt.Appendf(nil, "%06d", i)})
	}
	return batch
}

func TestCredentialsThatNobodyKnowsAreRefusedWhereNoneAreDemanded(t *testing.T) {
	_, target := started(t, provision.Options{})
	target.User, target.Password = "ali", "sesame"
	_, err := kind(t).Open(t.Context(), config(t, target, least, nil, nil))
	var refused *driver.ErrConnect
	if !errors.As(err, &refused) || refused.Obstacle != driver.BadLogin {
		t.Errorf("%v; want that the login is refused", err)
	}
}

func TestServerSettingsAreRefusedByNameOrReachTheServer(t *testing.T) {
	_, target := started(t, provision.Options{Server: map[string]any{"max_inflight_messages": 7, "max_keepalive": 600}})
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	must(t, err)
	for _, c := range []struct{ name, value, says string }{
		{"max_inflight_mesages", "5", "Unknown configuration variable"},
		{"max_inflight_messages", "many", "not a whole number"},
		{"listener", "1883", "set by the recipe"},
		{"max_packet_size", "5\nlistener 1", "one line"},
	} {
		_, err := host.Start(t.Context(), provision.Options{Broker: "mosquitto", Server: map[string]any{"max_connections": 100, c.name: c.value}})
		var setting *provision.ErrSetting
		if !errors.As(err, &setting) || setting.Name != c.name || !strings.Contains(setting.Reason, c.says) {
			t.Errorf("%s: %q: %v; want it refused by name with %q", c.name, c.value, err, c.says)
		}
	}
	// The server takes 7 at a time; a producer that didn't keep to it would be disconnected.
	for _, g := range []driver.Guarantee{least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, config(t, target, g, nil, nil), "s")
			r.consume(t, driver.ConsumerConfig{})
			must(t, r.send(t, 0, 1000))
			eventually(t, "all came", func() bool { return len(r.arrived()) == 1000 })
		})
	}
}

func TestWhatCameWhileAConsumerWasAwayIsDelivered(t *testing.T) {
	_, target := started(t, provision.Options{})
	for _, g := range []driver.Guarantee{least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, config(t, target, g, nil, nil), "s")
			must(t, r.send(t, 0, 1500)) // more than the server's own limit of 1000
			end := r.consume(t, driver.ConsumerConfig{})
			eventually(t, "the first came", func() bool { return len(r.arrived()) == 1500 })
			end() // what was delivered is acknowledged before the consumer leaves
			must(t, r.send(t, 1500, 500))
			r.consume(t, driver.ConsumerConfig{})
			eventually(t, "the others came", func() bool { return len(r.arrived()) >= 2000 })
			if got := r.arrived(); len(got) != 2000 || !slices.IsSorted(got) {
				t.Errorf("%d messages came, in order: %v; want 2000 in order", len(got), slices.IsSorted(got))
			}
		})
	}
}

func TestPlainSubscriptionHasOneConsumer(t *testing.T) {
	_, target := started(t, provision.Options{})
	r := opened(t, config(t, target, least, nil, map[string]any{"shared": false}), "a", "b")
	r.consume(t, driver.ConsumerConfig{})
	r.consume(t, driver.ConsumerConfig{Subscription: 1})
	err := r.drv.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, r, func() {})
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) {
		t.Errorf("a second consumer: %v; want a refusal", err)
	}
	must(t, r.send(t, 0, 10))
	eventually(t, "both have all", func() bool { return len(r.arrived()) == 20 })
}

func TestProducerAndConsumerComeBackAfterARestart(t *testing.T) {
	in, target := started(t, provision.Options{})
	for _, g := range []driver.Guarantee{once, least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, config(t, target, g, nil, nil), "s", "nobody's")
			r.consume(t, driver.ConsumerConfig{})
			must(t, r.send(t, 0, 1))
			must(t, in.Kill(t.Context(), 1))
			if g.Delivery != driver.AtMostOnce { // what is sent meanwhile waits
				must(t, r.producer.Send(t.Context(), messages(1, 300)))
			}
			must(t, in.Restart(t.Context(), 1))
			if g.Delivery == driver.AtMostOnce {
				slot := 1
				eventually(t, "a message comes after the restart", func() bool {
					slot++
					_ = r.send(t, slot, 1)
					return slices.ContainsFunc(r.arrived(), func(p string) bool { return p > "000001" })
				})
				return
			}
			must(t, r.settled(t, 1, 300))
			must(t, r.send(t, 301, 300))
			eventually(t, "all that was acknowledged came", func() bool { return len(r.arrived()) >= 601 })
			if got := r.arrived(); len(got) != 601 || !slices.IsSorted(got) {
				t.Errorf("%d messages came, in order: %v; want 601 in order", len(got), slices.IsSorted(got))
			}
			// The subscription that nobody consumes was made again, too.
			r.consume(t, driver.ConsumerConfig{Subscription: 1})
			eventually(t, "the other subscription has what came after the restart", func() bool { return len(r.arrived()) == 1201 })
		})
	}
}

func TestMessageThatNobodySubscribedFails(t *testing.T) {
	_, target := started(t, provision.Options{})
	r := opened(t, config(t, target, least, nil, nil))
	for range 3 { // the slot, and with it the packet's identifier, is used again
		r.mu.Lock()
		clear(r.fates)
		r.mu.Unlock()
		if err := r.send(t, 5, 1); err == nil || !strings.Contains(err.Error(), "no subscription") {
			t.Errorf("%v; want that the server has no subscription", err)
		}
	}
}

// cutter passes connections on to address, and cuts all of them when asked to.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func newCutter(t *testing.T, address string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cutter{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
	return c
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func TestExactlyOnceHoldsThroughCutConnections(t *testing.T) {
	_, target := started(t, provision.Options{})
	c := newCutter(t, target.Addresses[0])
	target.Addresses = []string{c.Addr().String()}
	r := opened(t, config(t, target, exactly, nil, nil), "s")
	r.consume(t, driver.ConsumerConfig{})
	const n, cuts = 4000, 8
	for i := range n {
		must(t, r.producer.Send(t.Context(), []driver.Message{{Slot: uint32(i), Payload: fmt.Appendf(nil, "%06d", i)}}))
		if i%(n/cuts) == n/cuts/2 {
			eventually(t, "a message arrives between two cuts", func() bool {
				got := r.arrived()
				return len(got) > 0 && got[len(got)-1] >= fmt.Sprintf("%06d", i-n/cuts/4)
			})
			c.cut()
			time.Sleep(300 * time.Millisecond) // until they have connected again
		}
	}
	must(t, r.settled(t, 0, n))
	eventually(t, "all arrive", func() bool { return len(r.arrived()) >= n })
	got := r.arrived()
	if slices.Sort(got); len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d messages arrived, want each of %d once", len(got), n)
	}
}
