package drivertest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

const (
	drawn     = 400              // specs passed to Kind.Refusal
	attempts  = 40               // number of those accepted that are tried on the broker
	fitsBound = 30 * time.Second // for all attempts
	few       = 5                // divisor of both in short tests
)

// whatFitsIsAccepted draws settings and shapes at random and tries those that Kind.Refusal accepts on the running broker: Open,
// Setup, producers and consumers must refuse none of them.
func (r *run) whatFitsIsAccepted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 22))
	most, bound := attempts, fitsBound
	if !testkit.Thorough() {
		most, bound = most/few, bound/few
	}
	end, tried := time.Now().Add(bound), 0
	for range drawn {
		if tried == most || time.Now().After(end) {
			break
		}
		c := r.config(t, r.suite.Guarantees[rnd.IntN(len(r.suite.Guarantees))], r.target)
		vary(r.suite.Kind.Settings, c, rnd)
		s := driver.Shape{
			Topics: 1, Partitions: 1 + rnd.IntN(3), Subscriptions: rnd.IntN(3), Producers: 1, Consumers: 1 + rnd.IntN(2), MaxBytes: 1000, InFlight: 10, Headers: rnd.IntN(2) == 1,
		}
		if r.suite.Kind.Refusal(c, s) == nil {
			tried++
			if err := r.use(c, s); refused(err) {
				t.Errorf("%+v, %+v, client %v, topic %v: accepted, and then: %v", c.Guarantee, s, c.Client, c.Topic, err)
			}
		}
	}
	if tried == 0 {
		t.Error("nothing fits")
	}
	t.Logf("%d specs were accepted and used", tried)
}

// vary changes up to three settings: to another allowed word, the other boolean, or a number nearby.
func vary(settings []driver.Setting, c driver.Config, rnd *rand.Rand) {
	for range rnd.IntN(4) {
		s := settings[rnd.IntN(len(settings))]
		values := c.Client
		if s.Scope == driver.TopicScope {
			values = c.Topic
		}
		switch def := s.Default.(type) {
		case bool:
			values[s.Name] = !def
		case string:
			if len(s.Allowed) > 0 {
				values[s.Name] = s.Allowed[rnd.IntN(len(s.Allowed))]
			}
		case int64:
			values[s.Name] = def - def/2 // a server may reduce higher values
			if s.Least != nil && def < s.Least.(int64) {
				values[s.Name] = s.Least.(int64) + 1 // -1 for unset
			}
		case time.Duration:
			values[s.Name] = def + time.Second
		}
	}
}

// use opens the driver, sets up topics, and makes a producer and consumers.
func (r *run) use(c driver.Config, s driver.Shape) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	drv, err := r.suite.Kind.Open(ctx, c)
	if err != nil {
		return err
	}
	defer drv.Close()
	err = drv.Setup(ctx, newTopology(shape{topics: s.Topics, subscriptions: s.Subscriptions, partitions: s.Partitions}))
	if err != nil {
		return err
	}
	if cleaner, ok := drv.(driver.Cleaner); ok {
		defer func() { _ = cleaner.Clean(ctx) }()
	}
	p, err := drv.Producer(ctx, driver.ProducerConfig{Topics: []int{0}, InFlight: s.InFlight, MaxBytes: s.MaxBytes, Headers: sentHeaders[:carried(s)]}, nobody{})
	if err != nil {
		return err
	}
	defer p.Close()
	for id := range s.Consumers * min(1, s.Subscriptions) {
		if err := attends(ctx, drv, driver.ConsumerConfig{ID: id}); err != nil {
			return err
		}
	}
	return nil
}

// carried is the number of headers of a message.
func carried(s driver.Shape) int {
	if s.Headers {
		return len(sentHeaders)
	}
	return 0
}

// attends consumes until the consumer is ready.
func attends(ctx context.Context, drv driver.Driver, c driver.ConsumerConfig) error {
	ctx, cancel := context.WithTimeout(ctx, patience/4)
	defer cancel()
	return drv.Consume(ctx, c, nobody{}, cancel)
}

// nobody discards receipts and messages.
type nobody struct{}

func (nobody) Done([]uint32, error)      {}
func (nobody) Deliver([]driver.Received) {}
