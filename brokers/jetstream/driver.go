// Package jetstream drives NATS JetStream: a stream per topic, a durable pull consumer per subscription. It knows
// nothing of core NATS without streams.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without:  map[driver.Class]string{driver.Acknowledging: "one by one", driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:   "github.com/nats-io/nats.go",
		Settings: slices.Concat(clientSettings, natsio.ConnectionSettings(-1), topicSettings),
		Supports: supports,
		Logins:   natsio.Logins,
		Share:    driver.TakeTurns,
		Maps:     natives,
		Server:   served,
		Fits:     fits,
		Keeps:    keeps,
		Redelivers: func(g driver.Guarantee, client driver.Values, _ map[string]any) (time.Duration, string) {
			if !driver.AcksAfter(g, client) {
				return 0, ""
			}
			return client.Duration("AckWait"), "client.AckWait"
		},
		Headers:  driver.Always,
		Keyless:  driver.Never("a stream has neither partitions nor keys"),
		Failover: true,
		Shared:   true,
		Drops:    "PullMaxMessages",
		Open:     open,
		Found:    finds,
		Pasted:   pasted,
	}
}

func supports(g driver.Guarantee) error {
	waits := g.Delivery != driver.AtMostOnce
	switch {
	case waits && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s waits for the stream's acknowledgement", g.Delivery)
	case !waits && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once publishes without asking for an acknowledgement; ask for acks: none")
	case !waits && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "at-most-once asks for no acknowledgement that could come after the flush")
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a stream with %d replicas acknowledges when a quorum has the message, never earlier", g.Replicas)
	case waits && g.Replicas > 1 && g.Ordering == driver.Ordered:
		return driver.Unsupported("ordering: ordered", "a leader that hands over while it lives drops some messages under way without an answer, and the next one accepts the messages behind them, with %d replicas; ask for unordered", g.Replicas)
	case g.Replicas > 5:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "a stream has at most 5")
	}
	return nil
}

type session struct {
	config        driver.Config
	dialer        *natsio.Dialer
	conn          *natsio.Conn // for Setup
	policy        jetstream.AckPolicy
	subjects      []string          // by topic
	streams       map[string]string // by subject, if they belong to another application
	subscriptions []string          // durable names
	mu            sync.Mutex
	seen          map[string]*sequences // by stream and durable; courses, too
	courses       map[string]*course
	remaking      func() // ends it; nil: nothing is remade
}

func open(_ context.Context, c driver.Config) (driver.Driver, error) {
	policy, err := ackPolicy(c.Guarantee, c.Client)
	if err != nil {
		return nil, err
	}
	s := &session{config: c, dialer: natsio.NewDialer(c), policy: policy, streams: map[string]string{}, seen: map[string]*sequences{}, courses: map[string]*course{}}
	s.conn, err = s.dialer.Dial("control", nil, nil)
	return s, err
}

// ackPolicy is the consumer's AckPolicy for the server: none if it acknowledges before delivery.
func ackPolicy(g driver.Guarantee, client driver.Values) (jetstream.AckPolicy, error) {
	asked, after := client.String("AckPolicy"), driver.AcksAfter(g, client)
	refuse := func(reason string) (jetstream.AckPolicy, error) {
		return 0, driver.Unsupported("client.AckPolicy: "+asked, "%s", reason)
	}
	none := asked == "none" || asked == "auto" && !after
	switch {
	case none && g.Delivery != driver.AtMostOnce:
		return refuse("the server forgets a message as soon as it is sent to a consumer, which is at most once")
	case none && after:
		return refuse("consumer.ack: after needs acknowledgements")
	case none:
		return jetstream.AckNonePolicy, nil
	case !after:
		return refuse("the server would deliver again what was not acknowledged; at most once a consumer acknowledges with consumer.ack: after")
	case asked == "all" && g.Delivery == driver.ExactlyOnce:
		return refuse("exactly-once has each acknowledgement confirmed by the server")
	case asked == "all":
		return jetstream.AckAllPolicy, nil
	}
	return jetstream.AckExplicitPolicy, nil
}

// setupAtOnce is the number of streams created concurrently.
const setupAtOnce = 16

// Setup creates a stream for each topic and on it a durable consumer for each subscription.
func (s *session) Setup(ctx context.Context, t driver.Topology) error {
	if s.config.Guarantee.Persistence == driver.Fsync {
		if err := s.syncsAlways(ctx); err != nil {
			return err
		}
	}
	if err := cmp.Or(fits(s.config, t.Shape()), checkTracking(s.policy, s.config.Guarantee, s.conn.ConnectedServerVersion())); err != nil {
		return err
	}
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return err
	}
	for _, name := range t.Subscriptions {
		s.subscriptions = append(s.subscriptions, entityName(name))
	}
	if s.subjects, err = natsio.Subjects(t.Topics); err != nil {
		return err
	}
	if t.Found {
		return s.find(ctx, js, t)
	}
	if t.Existing {
		return nil
	}
	creating, all := errgroup.WithContext(ctx)
	creating.SetLimit(setupAtOnce)
	for _, subject := range s.subjects {
		creating.Go(func() error { return s.create(all, js, subject, subject) })
	}
	if err := creating.Wait(); err != nil {
		return err
	}
	if s.config.Guarantee.Persistence == driver.Memory {
		s.remaking = s.remake(js)
	}
	return nil
}

// Dropped implements driver.Dropper. The client buffers at most 64 MB for a callback of Consume, however much it has requested:
// 2,000 messages of 33 kB are more. Messages that it drops come again after AckWait, or never without acknowledgements.
func (s *session) Dropped() int64 { return s.dialer.Dropped() }

// Clean removes the streams with their consumers and messages; on streams of another application it only removes the consumers.
func (s *session) Clean(ctx context.Context) error {
	s.endRemaking()
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return err
	}
	if len(s.streams) > 0 {
		return s.unfind(ctx, js)
	}
	removing, all := errgroup.WithContext(ctx)
	removing.SetLimit(setupAtOnce)
	for _, subject := range s.subjects {
		removing.Go(func() error {
			if err := js.DeleteStream(all, entityName(subject)); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
				return fmt.Errorf("remove the stream of topic %s: %w", subject, err)
			}
			return nil
		})
	}
	return removing.Wait()
}

func (s *session) endRemaking() {
	if s.remaking != nil {
		s.remaking()
		s.remaking = nil
	}
}

func (s *session) Close() error {
	s.endRemaking()
	s.conn.Shut()
	return nil
}

func (s *session) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if s.config.Guarantee.Delivery == driver.AtMostOnce {
		return natsio.NewSender(s.dialer, s.subjects, c, r)
	}
	if g := s.config.Guarantee; g.Delivery == driver.ExactlyOnce && g.Persistence == driver.Memory && g.Replicas < 2 {
		// A stream in memory forgets on a restart which messages it has accepted: resent messages could come twice.
		return s.producer(c, r)
	}
	return resend.Producer(s.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) { return s.producer(c, r) })
}

// producer makes a producer that requests acknowledgements.
func (s *session) producer(c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if driver.UsesStock(s.config.Client) {
		return s.newFutures(c, r)
	}
	timeout := s.config.Client.Duration("PublishAsyncTimeout")
	w, err := natsio.NewWindow(s.dialer, fmt.Sprintf("producer %d", c.ID), c.InFlight, timeout, r, (&answers{copies: s.config.Guarantee.Replicas}).parse)
	if err != nil {
		return nil, err
	}
	if err := natsio.CheckSize(w.Conn, sized(s.config.Guarantee, c.MaxBytes)); err != nil {
		w.Close()
		return nil, err
	}
	p := &producer{window: w, watch: socket.NewWatch(w.Conn.Cut), subjects: s.subjects, receipts: r}
	var id nats.Header
	if s.config.Guarantee.Delivery == driver.ExactlyOnce {
		p.ids = newIDs(c.InFlight)
		id = nats.Header{jetstream.MsgIDHeader: p.ids.header}
	}
	p.headers = natsio.NewHeaders(c.Headers, id)
	p.message.Header = p.headers.Map
	return p, nil
}
