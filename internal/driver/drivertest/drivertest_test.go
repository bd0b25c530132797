package drivertest_test

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/sim"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A defect breaks one promise of a driver that otherwise keeps them all.
type defect struct {
	client   map[string]any
	receipts func(driver.Receipts) driver.Receipts
	driver   func(driver.Driver) driver.Driver
	headers  func(driver.Received) driver.Received
	supports func(driver.Guarantee) error
	asks     driver.Delivery // of the broker, instead of what was asked of the driver
	caught   string          // by this subtest
	says     string
}

var defects = map[string]defect{
	"a message is delivered twice": {
		client: map[string]any{"duplicate.every": 50},
		caught: "at-least-once/delivery/each_subscription_sees_every_message", says: "received again",
	},
	"a payload is corrupted": {
		client: map[string]any{"corrupt.every": 50},
		caught: "at-least-once/delivery/every_payload_arrives", says: "another content",
	},
	"neighbours change places": {
		client: map[string]any{"reorder.every": 50},
		caught: "at-least-once/producers_made_again/the_messages_of_a_producer_arrive_in_order", says: "after a later one",
	},
	"a slot fails": {
		client: map[string]any{"fail.every": 50},
		caught: "at-least-once/delivery/every_slot_is_completed", says: "refused",
	},
	"a slot is completed twice": {
		receipts: func(r driver.Receipts) driver.Receipts { return twice{r} },
		caught:   "at-least-once/delivery/every_slot_is_completed", says: "not lent",
	},
	"an unknown slot is completed": {
		receipts: func(r driver.Receipts) driver.Receipts { return foreign{r} },
		caught:   "at-least-once/delivery/every_slot_is_completed", says: "there are only",
	},
	"a buffer is read after its slot was completed": {
		driver: func(d driver.Driver) driver.Driver { return hasty{Driver: d} },
		caught: "at-least-once/delivery/every_payload_arrives", says: "after its slot was completed",
	},
	"headers don't arrive": {
		headers: func(d driver.Received) driver.Received { return driver.Received{Payload: d.Payload} },
		caught:  "at-least-once/delivery/every_payload_arrives", says: "with the values of 0 headers",
	},
	"a header arrives with another's value": {
		headers: func(d driver.Received) driver.Received {
			if h := d.Headers.Values(); len(h) > 2 && len(h[2]) > 0 {
				h[0] = h[2]
			}
			return d
		},
		caught: "at-least-once/delivery/every_payload_arrives", says: "with the header contentType",
	},
	"a header is delivered that the message has not": {
		headers: func(d driver.Received) driver.Received {
			if h := d.Headers.Values(); len(h) > 1 {
				h[1] = []byte{}
			}
			return d
		},
		caught: "at-least-once/producers_made_again/what_was_acknowledged", says: "with the header absent",
	},
	"Close leaves slots behind": {
		driver: func(d driver.Driver) driver.Driver { return forgetful{Driver: d} },
		caught: "at-least-once/producers_made_again/Close_completes_every_slot", says: "still not completed",
	},
	"Consume ends with the context's error": {
		driver: func(d driver.Driver) driver.Driver { return talkative{d} },
		caught: "at-least-once/delivery/Consume_ends_with_nil", says: "context canceled",
	},
	"a goroutine stays": {
		driver: func(d driver.Driver) driver.Driver { return sticky{d} },
		caught: "at-least-once/delivery/no_goroutine_is_left_behind", says: "left behind",
	},
	"the client writes to the terminal": {
		driver: func(d driver.Driver) driver.Driver { return noisy{d} },
		caught: "at-least-once/delivery/nothing_is_written", says: "instead of Config.Log",
	},
	"Send waits for the acknowledgement": {
		driver: func(d driver.Driver) driver.Driver { return patient{d} },
		caught: "at-least-once/paused_broker/Send_never_waits", says: "had not returned",
	},
	"what finds no connection is given up": {
		asks:   driver.AtMostOnce,
		caught: "restarted_broker/at-least-once/nothing_is_refused_for_good", says: "the connection was lost",
	},
	"what finds no connection is acknowledged": {
		asks:     driver.AtMostOnce,
		receipts: func(r driver.Receipts) driver.Receipts { return careless{r} },
		driver:   func(d driver.Driver) driver.Driver { return unconcerned{d} },
		caught:   "restarted_broker/at-least-once/nothing_acknowledged_is_lost", says: "lost",
	},
	"a consumer ends with its connection": {
		driver: func(d driver.Driver) driver.Driver { return frail{d} },
		caught: "restarted_broker/at-least-once/Consume_goes_on", says: "has to connect again",
	},
	"Setup makes what another process is to make": {
		driver: func(d driver.Driver) driver.Driver { return eager{d} },
		caught: "topologies/what_another_process_is_to_make", says: "only Setup",
	},
	"Supports refuses more than Open": {
		supports: func(g driver.Guarantee) error {
			if g.Acks == driver.AcksQuorum {
				return driver.Unsupported("acks: quorum", "said so")
			}
			return nil
		},
		caught: "what_Supports_refuses", says: "accepted it",
	},
}

const chosen = "DRIVERTEST_DEFECT"

// eager makes everything itself.
type eager struct{ driver.Driver }

func (e eager) Setup(ctx context.Context, t driver.Topology) error {
	t.Existing = false
	return e.Driver.Setup(ctx, t)
}

// TestDefective is run by TestEveryDefectIsCaught, in a process of its own: it is meant to fail.
func TestDefective(t *testing.T) {
	d, ok := defects[os.Getenv(chosen)]
	if !ok {
		testkit.Without(t, "runs only for a defect")
	}
	kind := sim.Kind()
	open := kind.Open
	kind.Open = func(ctx context.Context, c driver.Config) (driver.Driver, error) {
		if d.asks != "" {
			c.Guarantee.Delivery = d.asks
		}
		inner, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		inner = middle{inner, d.receipts, d.headers}
		if d.driver != nil {
			inner = d.driver(inner)
		}
		return inner, nil
	}
	if d.supports != nil {
		kind.Supports = d.supports
	}
	drivertest.Run(t, drivertest.Suite{
		Kind:   kind,
		Target: func(*testing.T) driver.Target { return driver.Target{Addresses: []string{"x"}} },
		Guarantees: []driver.Guarantee{{
			Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered,
		}},
		Client: d.client,
		Bulk:   200,
		Pause:  func(*testing.T) { sim.Pause("x") },
		Resume: func(*testing.T) { sim.Resume("x") },
		Keeps:  func(driver.Guarantee) bool { return true },
		Restart: func(*testing.T) {
			sim.Cut("x")
			close(cut)
			time.Sleep(100 * time.Millisecond) // messages are sent meanwhile
			sim.Mend("x")
		},
	})
}

func TestEveryDefectIsCaught(t *testing.T) {
	for name, d := range defects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestDefective$/"+upTo(d.caught, 2))
			cmd.Env = append(os.Environ(), chosen+"="+name)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err == nil {
				t.Fatal("the suite passed a driver with this defect")
			}
			if !failed(out.String(), d.caught) || !strings.Contains(out.String(), d.says) {
				t.Errorf("%q didn't fail with %q:\n%s", d.caught, d.says, out.String())
			}
		})
	}
}

// upTo returns the first n elements of a subtest's path.
func upTo(path string, n int) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[:min(n, len(parts))], "/")
}

// failed says whether a subtest whose path has the elements of test in it failed.
func failed(output, test string) bool {
	pattern := "--- FAIL: TestDefective/.*" + strings.ReplaceAll(test, "/", ".*/")
	return regexp.MustCompile(pattern).MatchString(output)
}

type twice struct{ driver.Receipts }

func (r twice) Done(slots []uint32, err error) {
	r.Receipts.Done(slots, err)
	r.Receipts.Done(slots[:1], err)
}

type foreign struct{ driver.Receipts }

func (r foreign) Done(slots []uint32, err error) {
	r.Receipts.Done(slots, err)
	r.Receipts.Done([]uint32{1 << 20}, err)
}

type silent struct{}

func (silent) Done([]uint32, error) {}

// hasty completes slots before it sends.
type hasty struct{ driver.Driver }

func (d hasty) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p, err := d.Driver.Producer(ctx, c, silent{})
	return &hastyProducer{p, r}, err
}

type hastyProducer struct {
	driver.Producer
	receipts driver.Receipts
}

func (p *hastyProducer) Send(ctx context.Context, batch []driver.Message) error {
	for _, m := range batch {
		p.receipts.Done([]uint32{m.Slot}, nil)
	}
	return p.Producer.Send(ctx, batch)
}

// forgetful doesn't wait for what is in flight when it closes.
type forgetful struct{ driver.Driver }

func (d forgetful) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	gate := &gate{Receipts: r}
	p, err := d.Driver.Producer(ctx, c, gate)
	return &forgetfulProducer{p, gate}, err
}

type gate struct {
	driver.Receipts
	mu     sync.Mutex
	closed bool
}

func (g *gate) Done(slots []uint32, err error) {
	time.Sleep(time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.Receipts.Done(slots, err)
	}
}

type forgetfulProducer struct {
	driver.Producer
	gate *gate
}

func (p *forgetfulProducer) Close() error {
	p.gate.mu.Lock()
	p.gate.closed = true
	p.gate.mu.Unlock()
	return p.Producer.Close()
}

type talkative struct{ driver.Driver }

func (d talkative) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	if err := d.Driver.Consume(ctx, c, s, ready); err != nil {
		return err
	}
	return ctx.Err()
}

// careless calls acknowledged what was lost.
type careless struct{ driver.Receipts }

func (r careless) Done(slots []uint32, _ error) { r.Receipts.Done(slots, nil) }

// unconcerned finds nothing wrong with what it sends.
type unconcerned struct{ driver.Driver }

func (d unconcerned) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p, err := d.Driver.Producer(ctx, c, r)
	return unconcernedProducer{p}, err
}

type unconcernedProducer struct{ driver.Producer }

func (p unconcernedProducer) Send(ctx context.Context, batch []driver.Message) error {
	_ = p.Producer.Send(ctx, batch)
	return nil
}

var cut = make(chan struct{}) // closed when the broker's connections are cut

// frail consumes until the first cut.
type frail struct{ driver.Driver }

func (d frail) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-cut:
			cancel()
		case <-ctx.Done():
		}
	}()
	return d.Driver.Consume(ctx, c, s, ready)
}

type sticky struct{ driver.Driver }

func (d sticky) Close() error {
	go func() { time.Sleep(time.Hour) }()
	return d.Driver.Close()
}

type noisy struct{ driver.Driver }

func (d noisy) Close() error {
	log.Print("closing")
	return d.Driver.Close()
}

// patient waits in Send until every message is acknowledged.
type patient struct{ driver.Driver }

func (d patient) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	w := &counting{Receipts: r}
	p, err := d.Driver.Producer(ctx, c, w)
	return &patientProducer{p, w}, err
}

type counting struct {
	driver.Receipts
	open sync.WaitGroup
}

func (c *counting) Done(slots []uint32, err error) {
	c.Receipts.Done(slots, err)
	c.open.Add(-len(slots))
}

type patientProducer struct {
	driver.Producer
	counting *counting
}

func (p *patientProducer) Send(ctx context.Context, batch []driver.Message) error {
	p.counting.open.Add(len(batch))
	err := p.Producer.Send(ctx, batch)
	p.counting.open.Wait()
	return err
}
