package livetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// inFlight is how many messages of a rig may be without a fate where a test doesn't ask for fewer.
const inFlight = 4096

// Rig is one driver with the topology of a test, one producer for its first topic, and the book of both.
type Rig struct {
	*Book
	Driver   driver.Driver
	Producer driver.Producer
}

// Open makes a rig that is closed after the test, which fails where it can't be made.
func Open(t *testing.T, broker string, c driver.Config, topology driver.Topology) *Rig {
	t.Helper()
	return OpenWith(t, broker, c, topology, inFlight)
}

// OpenWith makes a rig with that many slots: Send waits while none is free.
func OpenWith(t *testing.T, broker string, c driver.Config, topology driver.Topology, slots int) *Rig {
	t.Helper()
	r := &Rig{Book: NewBook(t, slots, len(topology.Subscriptions)), Driver: SetUp(t, broker, c, topology)}
	var err error
	r.Producer, err = r.Driver.Producer(t.Context(), driver.ProducerConfig{Topics: []int{0}, InFlight: slots, MaxBytes: 1000}, r)
	Must(t, err)
	t.Cleanup(func() {
		if err := r.Producer.Close(); err != nil {
			t.Errorf("close the producer: %v", err)
		}
	})
	return r
}

// SetUp returns a driver with topology set up, and closes it after the test. A refused topology fails the test.
func SetUp(t *testing.T, broker string, c driver.Config, topology driver.Topology) driver.Driver {
	t.Helper()
	drv, err := Kind(t, broker).Open(t.Context(), c)
	Must(t, err)
	t.Cleanup(func() {
		if err := drv.Close(); err != nil {
			t.Errorf("close the driver: %v", err)
		}
		if said, ok := c.Log.(*Log); ok && t.Failed() {
			t.Logf("the client said:\n%s", said.Last())
		}
	})
	Must(t, drv.Setup(t.Context(), topology))
	return drv
}

// Consume starts a consumer of drv and waits until the broker knows it. end ends it, at the end of the test at the latest.
func Consume(t *testing.T, drv driver.Driver, c driver.ConsumerConfig, s driver.Sink) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- drv.Consume(ctx, c, s, func() { close(up) }) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("consume: %v", err)
		}
	})
	select {
	case <-up:
	case err := <-ended:
		cancel()
		t.Fatalf("consume: it ended at once: %v", err)
	case <-time.After(Patience):
		cancel()
		t.Fatalf("a consumer was not ready after %v", Patience)
	}
	t.Cleanup(end)
	return end
}

// Consume starts a consumer that the book is kept of.
func (r *Rig) Consume(t *testing.T, c driver.ConsumerConfig) (end func()) {
	t.Helper()
	return Consume(t, r.Driver, c, r.Sink(c.Subscription))
}

// ConsumeAll starts a consumer of every subscription.
func (r *Rig) ConsumeAll(t *testing.T) {
	t.Helper()
	for s := range r.received {
		r.Consume(t, driver.ConsumerConfig{Subscription: s})
	}
}

// Post sends one message for each payload, together.
func (r *Rig) Post(t *testing.T, payloads ...string) {
	t.Helper()
	batch := make([]driver.Message, len(payloads))
	for i, p := range payloads {
		batch[i].Payload = []byte(p)
	}
	Must(t, r.Book.Send(t.Context(), r.Producer, batch...))
}

// Send posts payloads, waits for their fates and joins the errors.
func (r *Rig) Send(t *testing.T, payloads ...string) (failed error) {
	t.Helper()
	r.Post(t, payloads...)
	return r.Fates(t, payloads...)
}

// Settled waits until the fates of all messages are known and every subscription has received the acknowledged ones.
func (r *Rig) Settled(t *testing.T) {
	t.Helper()
	Eventually(t, "all is settled, and what was acknowledged has arrived", func() bool {
		c := r.Count()
		return c.Pending == 0 && c.Lost == 0
	})
}

// KeysKeepTheirOrder sends messages of three keys and wants those of one key to arrive in order. Nothing else may have
// been sent; the first subscription has a consumer.
func (r *Rig) KeysKeepTheirOrder(t *testing.T) {
	t.Helper()
	const keys, each = 3, 20
	var batch []driver.Message
	for n := range byte(keys * each) {
		batch = append(batch, driver.Message{Key: []byte{n % keys}, Payload: []byte{n}})
	}
	Must(t, r.Book.Send(t.Context(), r.Producer, batch...))
	Eventually(t, "all were delivered", func() bool { return len(r.Received(0)) == keys*each })
	last := map[byte]byte{}
	for _, p := range r.Received(0) {
		if key := p[0] % keys; p[0] < last[key] {
			t.Errorf("message %d came after message %d of the same key", p[0], last[key])
		}
		last[p[0]%keys] = p[0]
	}
}
