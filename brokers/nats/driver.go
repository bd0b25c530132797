// Package natscore drives core NATS: subjects and queue groups, at most once. It knows nothing of streams.
package natscore

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "none", driver.Publishing: "none, since the server confirms nothing", driver.Threading: "by the load"},
		Client:  "github.com/nats-io/nats.go",
		Settings: append([]driver.Setting{
			driver.ModeSetting("subscriptions are read in batches from a channel instead of by callbacks, and subjects are checked once instead of for each message"),
			{Scope: driver.ClientScope, Name: "PendingMsgsLimit", Class: driver.Prefetching, Default: int64(nats.DefaultSubPendingMsgsLimit), Doc: "messages that may wait in the client per consumer; the client drops further ones"},
		}, natsio.ClientSettings...),
		Transient: true, // a subject has no memory
		Drops:     "PendingMsgsLimit",
		Headers:   driver.Always,
		Keyless:   driver.Never("a subject has neither partitions nor keys"),
		Supports:  supports,
		Fits:      fits,
		Logins:    natsio.Logins,
		Share:     driver.TakeTurns,
		Shared:    true,
		Maps:      natives, ServerKeeps: drops.By("nats"),
		Open: open, Found: finds,
	}
}

func supports(g driver.Guarantee) error {
	switch {
	case g.Delivery != driver.AtMostOnce:
		return driver.Unsupported("delivery: "+string(g.Delivery), "core NATS keeps no copy of a message and confirms none; jetstream does")
	case g.Persistence != driver.Memory:
		return driver.Unsupported("persistence: "+string(g.Persistence), "core NATS writes nothing to a disk; jetstream does")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "nodes of a NATS cluster route messages, they keep no copies; jetstream does")
	case g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "no server confirms a message of core NATS; ask for acks: none")
	}
	return nil
}

type session struct {
	config        driver.Config
	dialer        *natsio.Dialer
	conn          *natsio.Conn // proves that the server is there; producers and consumers have their own
	pending       int
	subjects      []string
	subscriptions []string
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	if n := c.Client.Int("PendingMsgsLimit"); n < 1 {
		return driver.Unsupported("client.PendingMsgsLimit", "%d is not at least 1", n)
	}
	if s.Partitions > 1 {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "a subject has no partitions; more topics are more subjects")
	}
	return natsio.FitsSize(c.Target, s.MaxBytes)
}

// finds implements driver.Kind.Found: a subject exists while it is used.
func finds(_ driver.Config, s driver.Shape) error {
	if err := natsio.CheckSubject(s.Topic); err != nil {
		return driver.Unsupported("topicName: "+s.Topic, "%v", err)
	}
	if s.Past {
		return driver.Unsupported("read.from: start", "a subject keeps nothing; a stream does (broker jetstream)")
	}
	return nil
}

func open(_ context.Context, c driver.Config) (driver.Driver, error) {
	s := &session{config: c, dialer: natsio.NewDialer(c), pending: int(c.Client.Int("PendingMsgsLimit"))}
	var err error
	s.conn, err = s.dialer.Dial("control", nil, nil)
	return s, err
}

// Setup creates nothing: a subject exists while it has subscribers.
func (s *session) Setup(_ context.Context, t driver.Topology) error {
	if err := fits(s.config, t.Shape()); err != nil {
		return err
	}
	var err error
	if s.subjects, err = natsio.Subjects(t.Topics); err != nil {
		return err
	}
	for _, name := range t.Subscriptions {
		if name == "" || strings.ContainsAny(name, " \t\r\n") {
			return fmt.Errorf("subscription %q can't be a queue group: empty or with white space", name)
		}
	}
	s.subscriptions = t.Subscriptions
	return nil
}

// Consume is one member of the queue group that its subscription is.
func (s *session) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	if err := s.config.Guarantee.TakingTurns(c); err != nil {
		return err
	}
	name := fmt.Sprintf("consumer %d of %s", c.ID, s.subjects[c.Topic])
	var intake intake = newBatches(s.pending, sink, c.Headers)
	if driver.UsesStock(s.config.Client) {
		intake = newCallbacks(s.pending, sink, c.Headers)
	}
	conn, err := s.dialer.Dial(name, nil, intake.end)
	if err != nil {
		return err
	}
	defer conn.Shut()
	conn.WhenDenied(func(error) { intake.end() })
	for _, topic := range c.Topics() {
		if err := intake.subscribe(conn, s.subjects[topic], s.subscriptions[c.Subscription]); err != nil {
			return fmt.Errorf("subscribe to %s: %w", s.subjects[topic], err)
		}
	}
	if err := s.dialer.Announced(ctx, conn); ctx.Err() != nil {
		return nil
	} else if err != nil {
		return fmt.Errorf("subscribe to %s: %w", s.subjects[c.Topic], err)
	}
	defer context.AfterFunc(ctx, intake.end)()
	ready()
	intake.run()
	if ctx.Err() == nil {
		return fmt.Errorf("%s: %w", name, cmp.Or(conn.Denial(), nats.ErrConnectionClosed))
	}
	return nil
}

func (s *session) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	return natsio.NewSender(s.dialer, s.subjects, c, r)
}

// Dropped implements driver.Dropper.
func (s *session) Dropped() int64 { return s.dialer.Dropped() }

func (s *session) Close() error {
	s.conn.Shut()
	return nil
}

// Describe implements driver.Describer, by the server's data from the beginning of a connection.
func (s *session) Describe(context.Context) (driver.Description, error) {
	return s.conn.Describe(), nil
}
