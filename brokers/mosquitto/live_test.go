package mosquitto_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func opened(t *testing.T, target driver.Target, g driver.Guarantee, topic map[string]any, subscriptions ...string) *livetest.Rig {
	t.Helper()
	return livetest.Open(t, "mosquitto", livetest.Config(t, "mosquitto", target, g, map[string]any{"mode": driver.Tuned}, topic), livetest.Topic(t.Name(), 1, subscriptions...))
}

// numbers are n payloads from first.
func numbers(first, n int) (list []string) {
	for i := first; i < first+n; i++ {
		list = append(list, fmt.Sprintf("%06d", i))
	}
	return list
}

func TestCredentialsThatNobodyKnowsAreRefusedWhereNoneAreDemanded(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	target.User, target.Password = "ali", "sesame"
	_, err := livetest.Kind(t, "mosquitto").Open(t.Context(), livetest.Config(t, "mosquitto", target, least, nil, nil))
	var refused *driver.ErrConnect
	if !errors.As(err, &refused) || refused.Obstacle != driver.BadLogin {
		t.Errorf("%v; want that the login is refused", err)
	}
}

func TestServerSettingsAreRefusedByNameOrReachTheServer(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"max_inflight_mesages", "5", "Unknown configuration variable"},
		{"max_inflight_messages", "many", "not a whole number"},
		{"listener", "1883", "set by the recipe"},
		{"max_packet_size", "5\nlistener 1", "one line"},
	} {
		livetest.RefusesServer(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"max_connections": 100}}, c.name, c.value, c.says)
	}
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto", Server: map[string]any{"max_inflight_messages": 7, "max_keepalive": 600}})
	// The server takes 7 at a time; a producer that didn't keep to it would be disconnected.
	for _, g := range []driver.Guarantee{least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, target, g, nil, "s")
			r.ConsumeAll(t)
			livetest.Must(t, r.Send(t, numbers(0, 1000)...))
			r.Settled(t)
		})
	}
}

func TestWhatCameWhileAConsumerWasAwayIsDelivered(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	for _, g := range []driver.Guarantee{least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, target, g, nil, "s")
			livetest.Must(t, r.Send(t, numbers(0, 1500)...)) // more than the server's own limit of 1000
			end := r.Consume(t, driver.ConsumerConfig{})
			livetest.Eventually(t, "the first came", func() bool { return len(r.Received(0)) == 1500 })
			end() // what was delivered is acknowledged before the consumer leaves
			livetest.Must(t, r.Send(t, numbers(1500, 500)...))
			r.Consume(t, driver.ConsumerConfig{})
			livetest.Eventually(t, "the others came", func() bool { return len(r.Received(0)) >= 2000 })
			if got := r.Received(0); len(got) != 2000 || !slices.IsSorted(got) {
				t.Errorf("%d messages came, in order: %v; want 2000 in order", len(got), slices.IsSorted(got))
			}
		})
	}
}

func TestPlainSubscriptionHasOneConsumer(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	r := opened(t, target, least, map[string]any{"shared": false}, "a", "b")
	r.ConsumeAll(t)
	err := r.Driver.Consume(t.Context(), driver.ConsumerConfig{ID: 1}, r.Sink(0), func() {})
	var refusal *driver.ErrUnsupported
	if !errors.As(err, &refusal) {
		t.Errorf("a second consumer: %v; want a refusal", err)
	}
	livetest.Must(t, r.Send(t, numbers(0, 10)...))
	r.Settled(t)
	if c := r.Count(); c.Received != 20 || c.Repeated > 0 {
		t.Errorf("%+v; want 10 messages for both, each once", c)
	}
}

func TestProducerAndConsumerComeBackAfterARestart(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	for _, g := range []driver.Guarantee{once, least, exactly} {
		t.Run(string(g.Delivery), func(t *testing.T) {
			r := opened(t, target, g, nil, "s", "nobody's")
			r.Consume(t, driver.ConsumerConfig{})
			livetest.Must(t, r.Send(t, numbers(0, 1)...))
			livetest.Must(t, in.Kill(t.Context(), 1))
			if g.Delivery != driver.AtMostOnce { // what is sent meanwhile waits
				r.Post(t, numbers(1, 300)...)
			}
			livetest.Must(t, in.Restart(t.Context(), 1))
			if g.Delivery == driver.AtMostOnce {
				number := 1
				livetest.Eventually(t, "a message comes after the restart", func() bool {
					number++
					_ = r.Send(t, numbers(number, 1)...)
					return slices.ContainsFunc(r.Received(0), func(p string) bool { return p > "000001" })
				})
				return
			}
			livetest.Must(t, r.Fates(t, numbers(1, 300)...))
			livetest.Must(t, r.Send(t, numbers(301, 300)...))
			livetest.Eventually(t, "all that was acknowledged came", func() bool { return len(r.Received(0)) >= 601 })
			if got := r.Received(0); len(got) != 601 || !slices.IsSorted(got) {
				t.Errorf("%d messages came, in order: %v; want 601 in order", len(got), slices.IsSorted(got))
			}
			// The subscription without a consumer was made again, too.
			r.Consume(t, driver.ConsumerConfig{Subscription: 1})
			livetest.Eventually(t, "the other subscription has what came after the restart", func() bool { return len(r.Received(1)) == 600 })
		})
	}
}

func TestMessageWhoseSubscriptionIsGoneFails(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	r := opened(t, target, least, nil, "s")
	livetest.Must(t, r.Driver.(driver.Cleaner).Clean(t.Context()))
	for range 3 { // the slot, and with it the packet's identifier, is used again
		livetest.Says(t, r.Send(t, "for nobody"), "no subscription")
	}
	// If a topic has no subscriptions, no consumer was to have it.
	for _, g := range []driver.Guarantee{least, exactly} {
		livetest.Must(t, opened(t, target, g, nil).Send(t, "published only"))
	}
}

// cutter passes connections on to address, and cuts all of them when asked to.
type cutter struct {
	net.Listener
	mu   sync.Mutex
	open map[net.Conn]bool
	had  int  // connections when they were cut last
	shut bool // no connection is passed on
}

func newCutter(t *testing.T, address string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	livetest.Must(t, err)
	c := &cutter{Listener: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := c.dial(address)
			if err != nil {
				_ = near.Close()
				continue
			}
			c.mu.Lock()
			c.open[near], c.open[far] = true, true
			c.mu.Unlock()
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
					c.mu.Lock()
					delete(c.open, pair[0])
					c.mu.Unlock()
				}()
			}
		}
	}()
	return c
}

func (c *cutter) dial(address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return nil, net.ErrClosed
	}
	return net.Dial("tcp", address)
}

// hold lets no connection through until it is called with false.
func (c *cutter) hold(shut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = shut
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.had = len(c.open)
	for conn := range c.open {
		_ = conn.Close()
	}
	clear(c.open)
}

// whole reports whether there are as many connections as before they were cut.
func (c *cutter) whole() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) >= c.had
}

// The producers' process comes back later than the consumers' from a restart in which the server forgot all sessions: it makes
// those anew that nobody has made, and no other, because a server cuts the connection of a client whose name connects again.
func TestAProducerThatComesBackCutsNoConsumerOfAnotherProcess(t *testing.T) {
	for name, client := range map[string]map[string]any{"tuned": {"mode": "tuned"}, "stock": nil} {
		t.Run(name, func(t *testing.T) {
			in, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
			topology := livetest.Topic("apart", 1, "s", "nobody's")
			gate := newCutter(t, target.Addresses[0])
			held := target
			held.Addresses = []string{gate.Addr().String()}
			producers := livetest.Open(t, "mosquitto", livetest.Config(t, "mosquitto", held, least, client, nil), topology)
			topology.Existing = true
			config := livetest.Config(t, "mosquitto", target, least, client, nil)
			said := config.Log.(*livetest.Log)
			consumers := livetest.Open(t, "mosquitto", config, topology)
			consumers.Consume(t, driver.ConsumerConfig{})
			livetest.Must(t, producers.Send(t, numbers(0, 10)...))
			livetest.Eventually(t, "they arrive", func() bool { return len(consumers.Received(0)) == 10 })
			gate.hold(true)
			livetest.Must(t, in.Kill(t.Context(), 1))
			livetest.Must(t, in.Restart(t.Context(), 1))
			livetest.Must(t, consumers.Send(t, "from their own process"))
			livetest.Eventually(t, "the consumer is back", func() bool { return len(consumers.Received(0)) == 11 })
			gate.hold(false)
			livetest.Must(t, producers.Send(t, numbers(10, 10)...))
			livetest.Eventually(t, "what was sent after the restart arrives", func() bool { return len(consumers.Received(0)) == 21 })
			n := strings.Count(said.Last(), "connecting again")
			n -= strings.Count(said.Last(), "connection refused") // while the broker was down, once for each attempt
			if n != 1 {
				t.Errorf("the consumer lost its connection %d times, want once, by the kill; its client said:\n%s", n, said.Last())
			}
			consumers.Consume(t, driver.ConsumerConfig{Subscription: 1})
			livetest.Eventually(t, "the subscription that nobody consumed has it, too", func() bool { return len(consumers.Received(1)) == 11 })
		})
	}
}

func TestExactlyOnceHoldsThroughCutConnections(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "mosquitto"})
	c := newCutter(t, target.Addresses[0])
	target.Addresses = []string{c.Addr().String()}
	r := opened(t, target, exactly, nil, "s")
	r.ConsumeAll(t)
	const n, cuts = 4000, 8
	all := numbers(0, n)
	for i, number := range all {
		r.Post(t, number)
		if i%(n/cuts) == n/cuts/2 {
			livetest.Eventually(t, "a message arrives between two cuts", func() bool {
				got := r.Received(0)
				return len(got) > 0 && got[len(got)-1] >= all[i-n/cuts/4]
			})
			c.cut()
			livetest.Eventually(t, "they connect again", c.whole)
		}
	}
	livetest.Must(t, r.Fates(t, all...))
	livetest.Eventually(t, "all arrive", func() bool { return len(r.Received(0)) >= n })
	got := r.Received(0)
	if slices.Sort(got); len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d messages arrived, want each of %d once", len(got), n)
	}
}
