// Package driver is the contract between the harness and one client library: what a broker is asked to do, in the
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
	// Consume delivers messages to s until ctx ends, then returns nil; any other end is an error. Messages are
	// acknowledged to the broker after Deliver has returned. One call is one consumer, of one topic or, where Kind.Shared,
	// of several; Deliver is never called concurrently for one call of Consume. ready is called once, when the consumer is registered with the broker.
	Consume(ctx context.Context, c ConsumerConfig, s Sink, ready func()) error
	// Close releases the driver's connections and removes nothing from the broker.
	Close() error
}

// Cleaner is a Driver that removes what its Setup made, with the messages in it. Every driver is one whose broker keeps any of that after
// its clients are gone (package drivertest proves it). Clean is called after every Producer has been closed and
// every Consume has returned, before Close; on a broker that serves several points one after the other, what one
// leaves behind would burden the next.
type Cleaner interface {
	Clean(ctx context.Context) error
}

// Relayer is a Driver that can relay: consume every message of each topic and produce it to Topic.Out, as the guarantee demands. Exactly
// once, what is consumed and what is produced become valid together or not at all, also where the process is killed.
type Relayer interface {
	// Relay relays until ctx ends, then returns nil; any other end is an error. Several relays share the messages of every topic, and what one
	// that was killed left undone another does, or itself when it is started again with its ID. ready is called once, when the broker
	// knows the relay. Keys, headers and the order of a stream are kept.
	Relay(ctx context.Context, c RelayConfig, ready func()) error
}

// RelayConfig describes one relay.
type RelayConfig struct {
	ID       int // 1..n; the same after a restart
	MaxBytes int // the largest message that will come, as in ProducerConfig
}

// Dropper is a Driver whose client library drops deliveries inside this process while a consumer doesn't keep up with them (Kind.Drops). The
// broker has delivered them, so they are no loss of its own.
type Dropper interface {
	// Dropped is how many deliveries the client library has dropped since Open, over all consumers. It may be called at any time, from any
	// goroutine, and doesn't block.
	Dropped() int64
}

// Gauge is a Driver that can ask the broker about a subscription's queue. It is called from one goroutine, while others send
// and consume.
type Gauge interface {
	Queue(ctx context.Context, topic, subscription int) (Queue, error)
}

// Queue is what a broker says of a subscription's queue. What it doesn't say is Unknown.
type Queue struct {
	Waiting   int64 // messages that no consumer was given, or where the broker can't tell, that none has acknowledged
	Unacked   int64 // given to a consumer and not acknowledged yet
	Published int64 // messages that came in since the queue was made or the server was started
	Delivered int64 // given to consumers since then, those given again included

	Memory   *int64   // bytes that the broker uses for the queue; 0: it has not counted them yet; nil: it doesn't say
	Capacity *float64 // of consumers: the share of the time in which one could have taken a message at once; nil: the broker doesn't say
}

// Unknown is a count that the broker doesn't tell.
const Unknown = int64(-1)

// Holder is a Driver that can ask the broker how many messages its topics hold.
type Holder interface {
	Holds(ctx context.Context, topic int) (int64, error)
}

// Describer is a Driver that can ask the broker what it is. It is asked once, of a broker that somebody else started, before
// Setup. Describe blocks for an answer of the broker; its error is about the question only, and no reason not to measure.
type Describer interface {
	Describe(ctx context.Context) (Description, error)
}

// Description is what a broker says of itself. What it doesn't tell is empty.
type Description struct {
	Product  string         // the name that it gives itself
	Version  string         // "4.3.1"; where it is inferred from what the broker can do, the words say so: "at least 3.9"
	Settings map[string]any // of the server, by their native names, without secrets: those that it tells of
}

// Announced is the description in what a server of AMQP says of itself when a connection begins: its properties.
func Announced(properties map[string]any) Description {
	text := func(name string) string {
		if v := properties[name]; v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	return Description{Product: text("product"), Version: text("version")}
}

// Producer sends messages. It is owned by one goroutine: no two of its methods run at once.
type Producer interface {
	// Send hands batch to the client. It may block on the client's own back-pressure but never waits for an
	// acknowledgement. batch itself is valid only during the call; each message's Payload, Key and Headers are lent until
	// its slot is Done. If Send returns an error, every slot of batch is still completed exactly once via Receipts.
	Send(ctx context.Context, batch []Message) error
	// Flush pushes out whatever the client still holds back; it doesn't wait for acknowledgements.
	Flush(ctx context.Context) error
	// Close ends the producer. Afterwards every slot ever given to Send has been completed, with an error where
	// the outcome is not known, even when the broker is gone. Close returns within a few seconds.
	Close() error
}

// Message is one message to send. Key, Payload and Headers are lent to the driver until Slot is Done. A consumer gets all of them byte for byte.
type Message struct {
	Slot uint32 // below ProducerConfig.InFlight
	// Resent tells that this producer was given the message before, in the same slot, and completed it with
	// ErrDisconnected: where the broker knows duplicates, it gets the identity that it had then.
	Resent  bool
	Topic   int // index into Topology.Topics
	Key     []byte
	Payload []byte
	Headers *Headers // the values of ProducerConfig.Headers; nil where there are none
}

// Receipts learns the fate of slots. Done may be called from any goroutine, for each slot exactly once; the slices
// are valid only during the call. err nil means: acknowledged as the guarantee demands; with AcksNone, on every broker alike,
// handed over to the client or the operating system, without waiting for any answer. An error that doesn't hold ErrDisconnected
// says that the broker refuses the message for good, and why.
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

// OneAtATime is s for several goroutines of one consumer: its Deliver is never called concurrently.
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
	InFlight int      // slots: no more messages than this are ever outstanding
	MaxBytes int      // the largest message that will be sent: its payload and, by HeaderBytes, its headers
	Headers  []string // the names of the headers that every message carries; none unless Kind.Headers allows them
}

// ConsumerConfig describes one consumer.
type ConsumerConfig struct {
	ID           int      // 0..n-1 within its subscription and topic
	Of           int      // n; 0: not known, and the consumer reads every partition
	Topic        int      // index into Topology.Topics
	Also         []int    // further topics that it reads by the same connection; only where Kind.Shared
	Subscription int      // index into Topology.Subscriptions
	Headers      []string // the names of the headers that are delivered; none unless Kind.Headers allows them
	// Delay is how long the application works on a message, on average: what it asks for ahead waits for so long, one after the other.
	Delay time.Duration
}

// Seat is a consumer's place among those of its first topic.
type Seat struct{ ID, Topic, Subscription int }

// Seat is what tells c from every other consumer.
func (c ConsumerConfig) Seat() Seat { return Seat{c.ID, c.Topic, c.Subscription} }

// Topics are all topics that the consumer reads.
func (c ConsumerConfig) Topics() []int { return append([]int{c.Topic}, c.Also...) }

// Partitions are those of n that c reads, where clients and not the broker divide them: each is read by one of a
// subscription's consumers, or where these are more by several that share it.
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

// Topology is what has to exist on the broker: every topic carries every subscription. Each subscription receives
// every message of its topic once; the consumers of one subscription share its messages.
type Topology struct {
	Topics        []Topic
	Subscriptions []string
	// Existing tells that another process has made all of it: Setup makes nothing, touches no message, and only gets ready
	// to use it. The producers' IDs must differ from those of the other process.
	Existing bool
	// Found tells that the topics were on the broker before and are somebody else's (Kind.Found). Setup makes the subscriptions only, whose names
	// are unique, and refuses topics that are not as the topology and the guarantee say. Clean removes the subscriptions only.
	Found bool
	// Past has the subscriptions begin with the oldest message of a topic that was found, instead of with the next.
	Past bool
}

// Topic is a destination: a Kafka topic, a RabbitMQ exchange with its queues, a NATS subject, a stream.
type Topic struct {
	Name       string
	Partitions int
	Out        string // made beside it, with as many partitions: relays produce to it and consumers read it; empty: there are no relays
}

// Outlet names what consumers read.
func (t Topic) Outlet() string { return cmp.Or(t.Out, t.Name) }

// Target says where a running broker is and how to reach it.
type Target struct {
	Addresses []string          // host:port, one per node
	TLS       *tls.Config       // nil: plain
	Login     Login             // what User and Password are
	User      string            // empty: the broker's own default
	Password  string            // never stored in a record
	OAuth     OAuth             // where ByOAuth gets its token
	Version   string            // as provisioned; empty when attached
	Endpoints map[string]string // further addresses by role, e.g. "management": "http://127.0.0.1:15672"
	// Server are the settings that it was, or would be, started with; nil: somebody else started it.
	Server map[string]any
}

// Config is everything Open needs.
type Config struct {
	Target    Target
	Guarantee Guarantee
	Client    Values    // decoded client settings, defaults filled in
	Topic     Values    // decoded topic/queue/stream settings, defaults filled in
	Log       io.Writer // the client library's own log lines go here, never to the terminal; safe for concurrent use
}

// Kind is a registered driver.
type Kind struct {
	Name     string
	Client   string    // Go module path of the client library, for the version in the record
	Settings []Setting // every client and topic setting it understands
	// Transient tells that a message is gone when no consumer is connected: no backlog can be built.
	Transient bool
	// Drops names the client setting that bounds what may wait in the client for a consumer, where the client library drops what comes
	// then: the driver is a Dropper. Empty: the library drops nothing, it makes the broker wait instead.
	Drops string
	// Keyless says, as a clause, that topics have no partitions and a message's key would go nowhere under these client
	// settings; empty, or nil, where the broker has a use for keys. Several partitions and a keyDistributor are refused with it.
	Keyless func(client Values) string
	// Headers says, as a clause, why messages carry no headers under these settings; empty where they do. Nil: the protocol has none.
	Headers func(g Guarantee, client Values) string
	// Procs is how many threads of Go code serve one connection of this client best, 0 for no preference. A client
	// that passes every message through several goroutines spends more on waking threads than on its work when it
	// is given more. It is applied where a point has one producer and one consumer at most, and the client is tuned.
	Procs int
	// Share refuses, without a connection, so many consumers of one subscription on a topic of so many partitions. Nil:
	// they may always share it.
	Share func(g Guarantee, topic Values, consumers, partitions int) error
	// Fits refuses, without a connection, settings that contradict each other, the guarantee, the shape, the server's settings
	// or its version. Of c.Target it has what a spec says: the number of addresses, login and user, and unless somebody else
	// started the server the version and the settings. Opening asks it with an empty shape (see Register), and Setup with that
	// of its topology, so that nothing is refused only then that could be told before. Nil: there is nothing of that kind.
	Fits func(c Config, s Shape) error
	// Keeps is the limit, under these settings, on what a queue or stream holds, and for how long, for payloads of this size.
	// Nil: there is no such setting.
	Keeps func(client, topic Values, size int64) Limit
	// ServerKeeps is the same by settings that a server is started with (brokers/internal/drops lists them), beside those of the topic that
	// a spec gives. Nil: there is none.
	ServerKeeps func(server, topic map[string]any, size int64) Limit
	// Redelivers is after what time, under these settings, the broker delivers a message again whose acknowledgement it never got, though the
	// connection stands. Nil, or 0: only when a connection ends. setting says so; empty where what a consumer works on doesn't come again.
	Redelivers func(g Guarantee, client Values, server map[string]any) (after time.Duration, setting string)
	// Found refuses, without a connection, the topic s.Topic that is somebody else's (Topology.Found), or to read it from its start (s.Past).
	// Nil: the driver uses no such topics.
	Found func(c Config, s Shape) error
	// Marks are what a topic's name may begin with (Shape.Prefix) beside letters, digits and ".", "_", "-".
	Marks string
	// Shared tells that the topics of a producer, and those of a consumer (ConsumerConfig.Also), share its connection: so
	// that applications with many topics need few. Otherwise a spec with fewer connections than topics is refused.
	Shared bool
	// Relays tells that the driver is a Relayer.
	Relays bool
	// Logins are the ways in beside user and password.
	Logins []Login
	// Failover tells that a cluster of this product goes on by itself when the node that leads is gone.
	Failover bool
	// Nodes is how many nodes a cluster needs that keeps so many copies. Nil: as many.
	Nodes func(replicas int) int
	// Supports tells, without a connection, whether g can be honoured: nil or *ErrUnsupported.
	Supports func(g Guarantee) error
	// Without says, as a clause, how it is with a class of which it has no setting.
	Without map[Class]string
	// Maps names the native settings by which a guarantee that is supported is kept, with the other settings at
	// their defaults. It asks the same code that applies them.
	Maps func(g Guarantee) []Native
	// Pasted are supported client settings, for messages of up to so many bytes, as they are pasted into clients of several libraries. Nil:
	// there are no words for that.
	Pasted func(g Guarantee, client Values, largest int) []Pasted
	// Server completes the settings, by their native names, of a server that is started for g: what the guarantee
	// needs of the server itself, beside what the spec asks for. Where that contradicts g it is *ErrUnsupported. Nil:
	// a guarantee needs nothing of the server that Setup couldn't do. It doesn't change settings.
	Server func(g Guarantee, settings map[string]any) (map[string]any, error)
	// Watched completes the settings of a server whose queues are to be asked for (Gauge): with what it can say more. Nil:
	// it says what it can.
	Watched func(settings map[string]any) map[string]any
	// Attaching is what a spec has to say, beside the addresses, to attach to a server that was started with these
	// settings and has the addresses and endpoints of t: path=value, where the defaults don't do. Nil: nothing.
	Attaching func(settings map[string]any, t Target) []string
	// Open connects and returns a driver, within a few seconds or with an error that says what failed
	// (unreachable, refused credentials, TLS mismatch). Of a registered kind it is asked only for what Supports and Fits allow.
	Open func(ctx context.Context, c Config) (Driver, error)
}

// ErrDisconnected is in the error of a slot whose connection was lost before the outcome was known, or that found no
// connection, or that the broker didn't take for a reason that passes: package resend sends such messages again where the
// guarantee demands it. A driver reports all that a lost connection has left open before it sends anything on the next
// one; else what is sent again would come after what was sent later.
var ErrDisconnected = errors.New("the connection was lost before the outcome was known")

// ErrUnanswered completes a slot whose message may or may not have been taken: no answer came in time on a connection that lives. Package
// resend sends it again, the later the more often that has happened.
var ErrUnanswered = fmt.Errorf("no acknowledgement came in time; the message may have been stored all the same: %w", ErrDisconnected)

// Lates is implemented by Receipts that take back a slot which was completed with ErrUnanswered if its acknowledgement comes after all,
// before the message is sent again. Late reports whether it did. It asks still, under its own lock, whether the acknowledgement is of the
// message that the slot carries.
type Lates interface {
	Late(slot uint32, still func() bool) bool
}

// Resends is implemented by Receipts that want to know which messages are sent again. Resent is called before that,
// from any goroutine; the slice is valid only during the call.
type Resends interface {
	Resent(slots []uint32)
}
