package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const usualWindow = 2 * time.Minute

// window is how long message IDs are remembered: not longer than the messages. The default follows them, as the server's own does.
func window(topic driver.Values) (time.Duration, error) {
	asked, age := topic.Duration("duplicate_window"), topic.Duration("max_age")
	switch {
	case age == 0 || asked <= age:
		return asked, nil
	case asked == usualWindow:
		return age, nil
	}
	return 0, driver.Unsupported(fmt.Sprintf("topicConfig.duplicate_window: %s", asked), "it can't be longer than max_age, %s", age)
}

// topicSettings are fields of the stream's configuration by their JSON names; storage and num_replicas follow from the
// guarantee.
var topicSettings = []driver.Setting{
	{Scope: driver.TopicScope, Name: "retention", Default: "auto", Allowed: []string{"auto", "limits", "interest", "workqueue"}, Doc: "limits keeps messages until a limit; interest until every subscription has acknowledged; workqueue until one has; auto: interest in memory, unless consumers are ordered, limits in files"},
	{Scope: driver.TopicScope, Name: "discard", Default: "old", Allowed: []string{"old", "new"}, Doc: "what goes when a limit is reached; new refuses what is published"},
	{Scope: driver.TopicScope, Name: "max_bytes", Default: int64(-1), Doc: "most bytes in the stream; -1: no limit"},
	{Scope: driver.TopicScope, Name: "max_msgs", Default: int64(-1), Doc: "most messages in the stream; -1: no limit"},
	{Scope: driver.TopicScope, Name: "max_age", Default: time.Duration(0), Doc: "how long a message is kept; 0: for ever"},
	{Scope: driver.TopicScope, Name: "duplicate_window", Default: usualWindow, Doc: "how long the stream remembers message ids (exactly-once); 2m is lowered to max_age"},
	{Scope: driver.TopicScope, Name: "compression", Default: "none", Allowed: []string{"none", "s2"}, Doc: "of the files"},
}

// keeps implements driver.Kind.Keeps. Messages refused by discard: new are not lost: the producer learns of it. A stream also
// counts the bytes that it stores beside a payload, its subject included.
func keeps(_, topic driver.Values, size int64) driver.Limit {
	const beside = 512
	var limit driver.Limit
	if age := topic.Duration("max_age"); age > 0 {
		limit = driver.OldAge("max_age", age, age)
	}
	if topic.String("discard") != "old" {
		return limit
	}
	return limit.Least(driver.Fullest(topic, 1, map[string]int64{"max_msgs": 1, "max_bytes": size + beside}))
}

var (
	retentions   = map[string]jetstream.RetentionPolicy{"limits": jetstream.LimitsPolicy, "interest": jetstream.InterestPolicy, "workqueue": jetstream.WorkQueuePolicy}
	discards     = map[string]jetstream.DiscardPolicy{"old": jetstream.DiscardOld, "new": jetstream.DiscardNew}
	compressions = map[string]jetstream.StoreCompression{"none": jetstream.NoCompression, "s2": jetstream.S2Compression}
)

const (
	formBudget = 20 * time.Second // for a stream or consumer to get a leader
	tryBudget  = 3 * time.Second  // for one request
	tryPause   = 100 * time.Millisecond

	forgottenAfter = 24 * time.Hour // of a consumer without its client on another application's stream
)

// entityName makes a name for a stream or consumer: the server allows no dots, wildcards, slashes or white space there.
func entityName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(".*>/\\ \t\r\n", r) {
			return '_'
		}
		return r
	}, name)
}

func (s *session) streamConfig(topic, subject string) jetstream.StreamConfig {
	t := s.config.Topic
	storage, auto := jetstream.FileStorage, jetstream.LimitsPolicy
	if s.config.Guarantee.Persistence == driver.Memory {
		storage = jetstream.MemoryStorage
		if len(s.subscriptions) > 0 && !isOrdered(s.config.Client) { // without consumers there is no interest, and nothing would be stored
			auto = jetstream.InterestPolicy
		}
	}
	retention, ok := retentions[t.String("retention")]
	if !ok {
		retention = auto
	}
	duplicates, _ := window(t)
	return jetstream.StreamConfig{
		Name: entityName(topic), Subjects: []string{subject},
		Storage: storage, Replicas: max(1, s.config.Guarantee.Replicas),
		Retention: retention, Discard: discards[t.String("discard")],
		MaxBytes: t.Int("max_bytes"), MaxMsgs: t.Int("max_msgs"), MaxAge: t.Duration("max_age"),
		Duplicates: duplicates, Compression: compressions[t.String("compression")],
	}
}

func (s *session) consumerConfig(durable string) jetstream.ConsumerConfig {
	c := jetstream.ConsumerConfig{
		Durable: durable, DeliverPolicy: jetstream.DeliverAllPolicy, AckPolicy: s.policy,
		MemoryStorage: s.config.Guarantee.Persistence == driver.Memory,
	}
	if s.policy != jetstream.AckNonePolicy {
		c.AckWait, c.MaxAckPending = s.config.Client.Duration("AckWait"), int(s.config.Client.Int("MaxAckPending"))
	}
	return c
}

// create creates the stream of topic, on subject, and its consumers and waits until all of them answer: a cluster that has just
// started refuses or loses requests even if it reports itself healthy.
func (s *session) create(ctx context.Context, js jetstream.JetStream, topic, subject string) error {
	var stream jetstream.Stream
	err := s.untilFormed(ctx, s.conn, func(ctx context.Context) (err error) {
		stream, err = js.CreateStream(ctx, s.streamConfig(topic, subject))
		if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == notClustered {
			return driver.Unsupported(fmt.Sprintf("replicas: %d", s.config.Guarantee.Replicas), "the server is no cluster")
		}
		if err != nil {
			return err
		}
		return caughtUp(ctx, stream)
	})
	if err != nil {
		return fmt.Errorf("create the stream of topic %s: %w", topic, err)
	}
	if isOrdered(s.config.Client) {
		return nil
	}
	for _, durable := range s.subscriptions {
		if err := s.consumerOf(ctx, stream, s.consumerConfig(durable)); err != nil {
			return fmt.Errorf("create the consumer %s of topic %s: %w", durable, topic, err)
		}
	}
	return nil
}

// consumerOf creates a consumer of a stream and waits until it answers.
func (s *session) consumerOf(ctx context.Context, stream jetstream.Stream, config jetstream.ConsumerConfig) error {
	return s.untilFormed(ctx, s.conn, func(ctx context.Context) error {
		consumer, err := stream.CreateOrUpdateConsumer(ctx, config)
		if err != nil || config.FilterSubject != "" { // asking a stream that is not empty would take a message
			return err
		}
		batch, err := consumer.FetchNoWait(1)
		if err != nil {
			return err
		}
		for range batch.Messages() { //nolint:revive // drain it
		}
		return batch.Error()
	})
}

// Error codes of the server's API that the client library has no name for.
const (
	noPeers      jetstream.ErrorCode = 10005 // no suitable peers for placement (yet)
	noResources  jetstream.ErrorCode = 10023 // insufficient resources: max_file_store, or the like of an account
	notClustered jetstream.ErrorCode = 10074 // replicas > 1 not supported in non-clustered mode
)

// errForming asks to try again.
var errForming = errors.New("not all replicas have caught up")

func caughtUp(ctx context.Context, stream jetstream.Stream) error {
	info, err := stream.Info(ctx)
	if err != nil || info.Cluster == nil {
		return err
	}
	if info.Cluster.Leader == "" {
		return errForming
	}
	for _, peer := range info.Cluster.Replicas {
		if !peer.Current {
			return errForming
		}
	}
	return nil
}

// untilFormed repeats a request over conn while it fails for a temporary reason.
func (s *session) untilFormed(ctx context.Context, conn *natsio.Conn, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, formBudget)
	defer cancel()
	for {
		once, done := context.WithTimeout(ctx, tryBudget)
		err := try(once)
		done()
		if denial := conn.Denial(); err != nil && denial != nil {
			return denial
		}
		if err == nil || !s.passing(err) || ctx.Err() != nil {
			return err
		}
		s.dialer.Logf("setup: %v; trying again", err)
		if socket.Pause(ctx, tryPause) != nil {
			return err
		}
	}
}

// passing reports whether err may be temporary. An API error other than "unavailable" is not, and a single server without room
// won't find any.
func (s *session) passing(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		alone := s.config.Guarantee.Replicas < 2
		return api.Code == http.StatusServiceUnavailable && (api.ErrorCode != noResources || !alone) || api.ErrorCode == noPeers
	}
	return errors.Is(err, errForming) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, jetstream.ErrNoHeartbeat) || errors.Is(err, context.DeadlineExceeded)
}
