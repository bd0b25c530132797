// Package driver is the contract between the harness and one client library: it describes what a broker is asked to do, in the
// same words for every broker. It knows nothing of time, histograms, phases, processes or files.
package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Driver drives one running broker through one client library.
//
// Open (see Kind) connects; Setup is called once, before any Producer or Consume; Close is called once, after every
// Producer has been closed and every Consume has returned. All methods may be called from different goroutines.
type Driver interface {
	// Setup creates the topics, queues or streams of t and everything Consume needs to see the first message sent
	// after Setup returned. A setting or guarantee the broker can't honour is refused with *ErrUnsupported, never
	// weakened. Setup blocks until the broker has confirmed.
	Setup(ctx context.Context, t Topology) error
	// Producer makes a producer that owns its own connection or session where the client library has that notion.
	// r receives the fate of every slot that Send accepts.
	Producer(ctx context.Context, c ProducerConfig, r Receipts) (Producer, error)
	// Consume delivers messages to s until ctx ends, then returns nil; any other end is an error. It acknowledges messages to the
	// broker after Deliver has returned. One call is one consumer of one topic or, if Kind.Shared, of several; one call of
	// Consume never calls Deliver concurrently. It calls ready once, when the consumer is registered with the broker.
	Consume(ctx context.Context, c ConsumerConfig, s Sink, ready func()) error
	// Close releases the driver's connections. It removes nothing from the broker.
	Close() error
}

// Cleaner is a Driver that removes what its Setup made, with the messages in it. A driver must be one if its broker keeps any of that
// after the clients are gone (package drivertest checks it). Clean is called after every Producer has been closed and every Consume has
// returned, before Close. Without it, the leftovers of one point would burden the next on a broker that serves several.
type Cleaner interface {
	Clean(ctx context.Context) error
}

// Relayer is a Driver that can relay: consume every message of each topic and produce it to Topic.Out under the guarantee. With
// exactly-once, consumed and produced messages become valid together or not at all, even if the process is killed.
type Relayer interface {
	// Relay relays until ctx ends, then returns nil; any other end is an error. Several relays share the messages of every topic.
	// If a relay is killed, another one, or the same one restarted with its ID, finishes its work. Relay calls ready once, when
	// the broker knows the relay. It keeps keys, headers and the order of a stream.
	Relay(ctx context.Context, c RelayConfig, ready func()) error
}

// RelayConfig describes one relay.
type RelayConfig struct {
	ID       int // 1..n; the same after a restart
	MaxBytes int // the largest message that may come, as in ProducerConfig
}

// Dropper is a Driver whose client library drops deliveries inside this process while a consumer is too slow for them
// (Kind.Drops). The broker has delivered these messages, so it didn't lose them.
type Dropper interface {
	// Dropped is the number of deliveries that the client library has dropped since Open, over all consumers. It may be called at
	// any time from any goroutine, and doesn't block.
	Dropped() int64
}

// Gauge is a Driver that can ask the broker about a subscription's queue. It is called from one goroutine, while others send and consume.
type Gauge interface {
	Queue(ctx context.Context, topic, subscription int) (Queue, error)
}

// Queue is what a broker reports about a subscription's queue. Figures that it doesn't report are Unknown.
type Queue struct {
	Waiting   int64 // messages not given to a consumer or, if the broker can't say, not acknowledged by one
	Unacked   int64 // given to a consumer and not acknowledged yet
	Published int64 // messages that entered the queue since it was made or the server was started
	Delivered int64 // messages given to consumers since then, redeliveries included

	Memory   *int64   // bytes that the broker uses for the queue; 0: not counted yet; nil: not reported
	Capacity *float64 // of consumers: share of the time in which one could have taken a message at once; nil: not reported
}

// Unknown is the value of a count that the broker doesn't report.
const Unknown = int64(-1)

// Holder is a Driver that can ask the broker how many messages its topics hold.
type Holder interface {
	Holds(ctx context.Context, topic int) (int64, error)
}

// Describer is a Driver that can ask the broker for its product, version and settings. It is asked once, before Setup, if another
// program started the broker. Describe waits for the broker's answer. A failed Describe is no reason not to measure.
type Describer interface {
	Describe(ctx context.Context) (Description, error)
}

// Description is what a broker reports about itself; fields that it doesn't report are empty.
type Description struct {
	Product  string         // the name that it reports
	Version  string         // "4.3.1"; where it is inferred from what the broker can do, the words say so: "at least 3.9"
	Settings map[string]any // of the server, by their native names, without secrets: those that it reports
}

// Announced reads a description from the server properties that an AMQP server sends when a connection begins.
func Announced(properties map[string]any) Description {
	text := func(name string) string {
		if v := properties[name]; v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	return Description{Product: text("product"), Version: text("version")}
}

// Producer sends messages. One goroutine owns it: no two of its methods run at once.
type Producer interface {
	// Send hands batch to the client. It may block on the client's own back-pressure but never waits for an
	// acknowledgement. batch itself is valid only during the call; each message's Payload, Key and Headers are lent until
	// its slot is Done. If Send returns an error, every slot of batch is still completed exactly once via Receipts.
	Send(ctx context.Context, batch []Message) error
	// Flush sends the messages that the client still buffers; it doesn't wait for acknowledgements.
	Flush(ctx context.Context) error
	// Close ends the producer. Afterwards every slot ever given to Send has been completed, with an error if the outcome is not
	// known, even if the broker is gone. Close returns within a few seconds.
	Close() error
}

// Message is one message to send. Key, Payload and Headers are lent to the driver until Slot is Done. A consumer gets all of them byte for byte.
type Message struct {
	Slot uint32 // below ProducerConfig.InFlight
	// Resent reports that this producer was given the message before, in the same slot, and completed it with ErrDisconnected. If
	// the broker detects duplicates, the driver sends it with the same identity again.
	Resent  bool
	Topic   int // index into Topology.Topics
	Key     []byte
	Payload []byte
	Headers *Headers // the values of ProducerConfig.Headers; nil if there are none
}

// Receipts receives the outcome of slots. Done may be called from any goroutine, for each slot exactly once; the slices are valid
// only during the call. A nil err means that the message was acknowledged as the guarantee requires or, with AcksNone, handed to
// the client or the operating system without waiting for an answer. An error that doesn't wrap ErrDisconnected means that the
// broker refuses the message for good, and says why.
type Receipts interface {
	Done(slots []uint32, err error)
}

// Fail completes the slots of batch with err.
func Fail(r Receipts, batch []Message, err error) {
	slots := make([]uint32, len(batch))
	for i := range batch {
		slots[i] = batch[i].Slot
	}
	r.Done(slots, err)
}

// Sink receives messages. Their bytes are valid only during the call; the slice may be reused afterwards.
type Sink interface {
	Deliver(batch []Received)
}

// OneAtATime wraps s for several goroutines of one consumer: its Deliver is never called concurrently.
func OneAtATime(s Sink) Sink { return &oneAtATime{sink: s} }

type oneAtATime struct {
	mu   sync.Mutex
	sink Sink
}

func (o *oneAtATime) Deliver(batch []Received) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sink.Deliver(batch)
}

// ProducerConfig describes one producer.
type ProducerConfig struct {
	ID       int      // 0..n-1 over the whole run
	Topics   []int    // indexes into Topology.Topics that this producer sends to
	InFlight int      // number of slots: at most this many messages are outstanding at any time
	MaxBytes int      // size of the largest message that will be sent: its payload and, by HeaderBytes, its headers
	Headers  []string // the names of the headers that every message carries; none unless Kind.Headers allows them
}

// ConsumerConfig describes one consumer.
type ConsumerConfig struct {
	ID           int      // 0..n-1 within its subscription and topic
	Of           int      // n; 0: not known, so that the consumer reads every partition
	Topic        int      // index into Topology.Topics
	Also         []int    // further topics that it reads over the same connection; only if Kind.Shared
	Subscription int      // index into Topology.Subscriptions
	Headers      []string // names of the headers to deliver; none unless Kind.Headers allows them
	// Delay is the mean time for which the application processes a message. Messages that the consumer prefetches wait that long
	// for each one before them.
	Delay time.Duration
}

// Seat identifies a consumer among those of its first topic.
type Seat struct{ ID, Topic, Subscription int }

// Seat returns the place of c, which no other consumer has.
func (c ConsumerConfig) Seat() Seat { return Seat{c.ID, c.Topic, c.Subscription} }

// Topics are all topics that the consumer reads.
func (c ConsumerConfig) Topics() []int { return append([]int{c.Topic}, c.Also...) }

// Partitions returns the indices of the partitions, of n, that c reads if clients and not the broker assign them. Each partition
// is read by one consumer of a subscription or, if there are more consumers than partitions, shared by several.
func (c ConsumerConfig) Partitions(n int) (own []int) {
	switch n = max(1, n); {
	case c.Of > n:
		return []int{c.ID % n}
	case c.Of == 0:
		c.ID, c.Of = 0, 1
	}
	for p := c.ID; p < n; p += c.Of {
		own = append(own, p)
	}
	return own
}

// Topology is what has to exist on the broker: every topic has every subscription. Each subscription receives every message of
// its topic once; the consumers of one subscription share its messages.
type Topology struct {
	Topics        []Topic
	Subscriptions []string
	// Existing reports that another process has made the topology. Setup then makes nothing, touches no message, and only
	// prepares to use it. The producers' IDs must differ from those of the other process.
	Existing bool
	// Found reports that the topics existed before and belong to another application (Kind.Found). Setup then makes only the
	// subscriptions, whose names are unique, and refuses topics that don't match the topology and the guarantee. Clean removes
	// only the subscriptions.
	Found bool
	// Past makes the subscriptions begin with the oldest message of a found topic, instead of with the next one.
	Past bool
}

// Topic is a destination: a Kafka topic, a RabbitMQ exchange with its queues, a NATS subject, a stream.
type Topic struct {
	Name       string
	Partitions int
	Out        string // topic made beside it with as many partitions, to which relays produce and which consumers read; empty: no relays
}

// Outlet is the topic that consumers read.
func (t Topic) Outlet() string { return cmp.Or(t.Out, t.Name) }

// Target is the address of a running broker, and how to log in to it.
type Target struct {
	Addresses []string          // host:port, one per node
	TLS       *tls.Config       // nil: plain
	Login     Login             // the kind of User and Password
	User      string            // empty: the broker's own default
	Password  string            // never stored in a record
	OAuth     OAuth             // the source of the token of ByOAuth
	Version   string            // as provisioned; empty when attached
	Endpoints map[string]string // further addresses by role, e.g. "management": "http://127.0.0.1:15672"
	// Server are the settings that the broker was, or would be, started with; nil: another program started it.
	Server map[string]any
}

// Config is everything Open needs.
type Config struct {
	Target    Target
	Guarantee Guarantee
	Client    Values    // decoded client settings, defaults filled in
	Topic     Values    // decoded topic/queue/stream settings, defaults filled in
	Log       io.Writer // receives the client library's log lines, which must never reach the terminal; safe for concurrent use
}

// Kind is a registered driver.
type Kind struct {
	Name     string
	Client   string    // Go module path of the client library, for the version in the record
	Settings []Setting // every client and topic setting it understands
	// Transient reports that a message is lost if no consumer is connected, so that no backlog can be built.
	Transient bool
	// Drops names the client setting that bounds the messages waiting in the client for a consumer, if the client library drops
	// messages beyond that bound: the driver is then a Dropper. Empty: the library drops nothing, but makes the broker wait.
	Drops string
	// Keyless says, as a clause, that topics have no partitions and message keys have no effect under these client settings;
	// empty, or nil, if the broker uses keys. If not empty, several partitions and a keyDistributor are refused with it.
	Keyless func(client Values) string
	// Headers says, as a clause, why messages carry no headers under these settings; empty if they do. Nil: the protocol has none.
	Headers func(g Guarantee, client Values) string
	// Procs is the best number of threads of Go code for one connection of this client; 0: no preference. A client that passes
	// every message through several goroutines spends more on waking threads than on its work if it gets more threads. It applies
	// to points with at most one producer and one consumer and a tuned client.
	Procs int
	// Share refuses, without a connection, this many consumers of one subscription on a topic with this many partitions. Nil: any
	// number may share.
	Share func(g Guarantee, topic Values, consumers, partitions int) error
	// Fits refuses, without a connection, settings that contradict each other, the guarantee, the shape, the server's settings or
	// its version. c.Target holds only what a spec has: the number of addresses, login and user and, unless another program
	// started the server, the version and the settings. Open calls it with an empty shape (see Register), and Setup with the
	// shape of its topology, so that both refuse early whatever can be refused early. Nil: it refuses nothing.
	Fits func(c Config, s Shape) error
	// Keeps returns how many messages, and for how long, a queue or stream keeps under these settings, for payloads of this size.
	// Nil: no setting limits it.
	Keeps func(client, topic Values, size int64) Limit
	// ServerKeeps returns the same limit by settings that a server is started with (brokers/internal/drops lists them), together
	// with the topic settings of a spec. Nil: no server setting limits it.
	ServerKeeps func(server, topic map[string]any, size int64) Limit
	// Redelivers returns the time after which, under these settings, the broker redelivers an unacknowledged message while the
	// connection lives. Nil, or 0: it redelivers only when the connection ends. setting names the setting that decides; it is
	// empty if messages in work are never redelivered.
	Redelivers func(g Guarantee, client Values, server map[string]any) (after time.Duration, setting string)
	// Found refuses, without a connection, a topic s.Topic of another application (Topology.Found), or reading it from its start
	// (s.Past). Nil: the driver supports no such topics.
	Found func(c Config, s Shape) error
	// Marks are the characters that a topic's name may begin with (Shape.Prefix) beside letters, digits and ".", "_", "-".
	Marks string
	// Shared reports that the topics of a producer, and those of a consumer (ConsumerConfig.Also), share a connection, so that
	// applications with many topics need few connections. If false, a spec with fewer connections than topics is refused.
	Shared bool
	// Relays reports that the driver is a Relayer.
	Relays bool
	// Logins are the ways to log in beside user and password.
	Logins []Login
	// Failover reports that a cluster of this product continues by itself when its leader is gone.
	Failover bool
	// Nodes is the number of nodes that a cluster needs for this number of copies. Nil: the same number.
	Nodes func(replicas int) int
	// Supports returns, without a connection, nil if g can be honoured, else an *ErrUnsupported.
	Supports func(g Guarantee) error
	// Without explains, as a clause, the behaviour for a class of settings that the driver doesn't have.
	Without map[Class]string
	// Maps returns the native settings that implement a supported guarantee, with the other settings at their defaults. It calls
	// the same code that applies them.
	Maps func(g Guarantee) []Native
	// Pasted returns client settings, for messages of up to largest bytes, in the form of several client libraries. g and client
	// must be supported. Nil: they can't be translated.
	Pasted func(g Guarantee, client Values, largest int) []Pasted
	// Server completes the settings, by their native names, of a server that is started for g: it adds what the guarantee needs
	// of the server itself. It returns *ErrUnsupported if settings contradict g. It doesn't change settings. Nil: a guarantee
	// needs no server settings.
	Server func(g Guarantee, settings map[string]any) (map[string]any, error)
	// Watched completes the settings of a server whose queues are to be asked for (Gauge), so that it reports more. Nil: it needs
	// no settings for that.
	Watched func(settings map[string]any) map[string]any
	// Attaching returns the settings, as path=value, that a spec needs beside the addresses to attach to a server with these
	// settings and with the addresses and endpoints of t. Nil: the defaults are enough.
	Attaching func(settings map[string]any, t Target) []string
	// Open connects and returns a driver, or an error that says what failed (unreachable, refused credentials, TLS mismatch),
	// within a few seconds. For a registered kind it is called only with what Supports and Fits allow.
	Open func(ctx context.Context, c Config) (Driver, error)
}

// ErrDisconnected is wrapped by the error of a slot whose connection was lost before the outcome was known, that found no connection, or
// that the broker refused for a temporary reason. Package resend sends such messages again if the guarantee requires it. A driver reports
// all slots that a lost connection has left open before it sends on the next one; otherwise resent messages would come after later ones.
var ErrDisconnected = errors.New("the connection was lost before the outcome was known")

// ErrUnanswered completes a slot whose message may or may not have been taken: no answer came in time, but the connection lives.
// Package resend sends it again, with a longer pause each time.
var ErrUnanswered = fmt.Errorf("no acknowledgement came in time; the message may have been stored all the same: %w", ErrDisconnected)

// Lates is implemented by Receipts that take back a slot completed with ErrUnanswered if its acknowledgement comes before the
// message is sent again. Late reports whether it took the slot back. It calls still under its own lock, to check that the
// acknowledgement is for the message in the slot.
type Lates interface {
	Late(slot uint32, still func() bool) bool
}

// Resends is implemented by Receipts that want to know which messages are sent again. Resent is called before that, from any
// goroutine; the slice is valid only during the call.
type Resends interface {
	Resent(slots []uint32)
}
