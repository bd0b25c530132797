package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// relays names the consumer group of a topology's relays.
func relays(t driver.Topology) string { return groupOf(t, t.Topics[0].Name, "relays") }

// fitsRelay refuses relays that would keep less than the guarantee.
func fitsRelay(c driver.Config, s driver.Shape) error {
	refuse := func(reason string, args ...any) error {
		return driver.Unsupported(fmt.Sprintf("relays: %d", s.Relays), reason, args...)
	}
	switch {
	case s.Relays == 0:
		return nil
	case c.Guarantee.Delivery == driver.AtMostOnce:
		return refuse("at most once a relay that is killed would produce again what it consumed since its last commit; ask for at-least-once or exactly-once")
	case shares(c.Client):
		return refuse("a relay commits offsets, and with group.protocol: share there are none; use classic or consumer")
	case onZooKeeper(c.Target.Version):
		return refuse("Kafka %s has no static members of groups, so a restarted relay would be a new member; 2.4 and later do", c.Target.Version)
	}
	return nil
}

// Relay is a static member of the relays' consumer group: restarted under its name it gets its partitions back at once. With
// exactly-once its transactions, also named after it, hold the produced messages together with the offsets of the consumed ones;
// a process that begins under that name aborts its predecessor's open transaction.
func (k *kafka) Relay(ctx context.Context, c driver.RelayConfig, ready func()) error {
	assigned := sync.OnceFunc(ready)
	for {
		err := k.relay(ctx, c, assigned)
		switch {
		case ctx.Err() != nil:
			return nil
		case final(err):
			return fmt.Errorf("relaying %s: %w", k.topology.Topics[0].Name, err)
		}
		if socket.Pause(ctx, retryPause) != nil { // uncommitted messages are consumed again
			return nil
		}
	}
}

// final reports errors that a new attempt would meet again: the client's settings, missing rights, and another relay of the same name.
func final(err error) bool {
	var refused *driver.ErrUnsupported
	var its *kerr.Error
	switch {
	case errors.As(err, &refused), errors.Is(err, kerr.FencedInstanceID):
		return true
	case errors.Is(err, kgo.ErrRecordTimeout), errors.Is(err, kgo.ErrRecordRetries):
		return false
	}
	return errors.As(err, &its) && !its.Retriable && !slices.Contains(overtaken, its) && !slices.Contains(expelled, its)
}

// relay relays until ctx ends or something fails.
func (k *kafka) relay(ctx context.Context, c driver.RelayConfig, assigned func()) error {
	life, end := context.WithCancel(context.Background())
	defer end()
	opts := append(k.relayOptions(c), kgo.WithContext(life),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned() }))
	v := k.config.Client
	r := &relay{out: map[string]string{}, most: int(v.Int("max.poll.records")), longest: millis(v, "transaction.timeout.ms")}
	for _, t := range k.topology.Topics {
		r.out[t.Name] = t.Out
	}
	if k.config.Guarantee.Delivery == driver.ExactlyOnce {
		session, err := kgo.NewGroupTransactSession(opts...)
		if err != nil {
			return driver.Unsupported("client settings", "franz-go says: %v", err)
		}
		defer closing(session.Client(), end)
		return r.transact(ctx, session, millis(v, "commit.interval.ms"))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return driver.Unsupported("client settings", "franz-go says: %v", err)
	}
	defer closing(client, end)
	return r.copy(ctx, &reader{client: client, background: v.Bool("enable.auto.commit")})
}

// relayOptions are the options of a client that is consumer and producer.
func (k *kafka) relayOptions(c driver.RelayConfig) []kgo.Opt {
	g, v := k.config.Guarantee, k.config.Client
	name := fmt.Sprintf("%s.%d", relays(k.topology), c.ID)
	var from []string
	for _, t := range k.topology.Topics {
		from = append(from, t.Name)
	}
	opts := append(groupOptions(g, v, relays(k.topology), from...), producerOptions(g, v)...)
	opts = append(opts, kgo.InstanceID(name), kgo.RecordPartitioner(partitioner(g, v, c.ID)), batches(v, c.MaxBytes))
	opts = append(append(opts, buffered(v)...), k.common...)
	if g.Delivery == driver.ExactlyOnce {
		return append(opts, kgo.TransactionalID(name), kgo.DisableAutoCommit())
	}
	return append(append(opts, commitOptions(v)...), kgo.BlockRebalanceOnPoll())
}

// closing closes a relay's client, or gives up soon if the broker doesn't answer. A static member leaves its place in the group
// to its next start.
func closing(client *kgo.Client, end context.CancelFunc) {
	stop := time.AfterFunc(leavePatience, end)
	defer stop.Stop()
	client.CloseAllowingRebalance()
}

// relay is one client that consumes and produces.
type relay struct {
	out  map[string]string // by consumed topic
	most int               // messages of a poll; 0: all messages of a fetch
	// longest is the time after which the broker aborts a transaction.
	longest time.Duration

	under  sync.WaitGroup // produced and unanswered messages
	mu     sync.Mutex
	failed error // their first error
}

// produce produces the messages of a poll, even if its context has ended, and returns errors that the client doesn't recover from.
func (r *relay) produce(client *kgo.Client, fetches kgo.Fetches) error {
	fetches.EachRecord(func(in *kgo.Record) {
		r.under.Add(1)
		client.Produce(context.Background(), &kgo.Record{Topic: r.out[in.Topic], Key: in.Key, Value: in.Value, Headers: in.Headers}, r.answered)
	})
	for _, f := range fetches.Errors() {
		if errors.Is(f.Err, kerr.FencedInstanceID) {
			return f.Err
		}
	}
	if err := fatal(fetches); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (r *relay) answered(_ *kgo.Record, err error) {
	if err != nil {
		r.mu.Lock()
		r.failed = errors.Join(r.failed, err)
		r.mu.Unlock()
	}
	r.under.Done()
}

// answers waits until all produced messages are answered, and returns their errors.
func (r *relay) answers(ctx context.Context, client *kgo.Client) error {
	if err := client.Flush(ctx); err != nil {
		return err
	}
	r.under.Wait() // Flush doesn't know of records that were refused at once
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// copy relays at least once: it commits offsets when the messages up to them have been acknowledged.
func (r *relay) copy(ctx context.Context, from *reader) error {
	for {
		fetches := from.client.PollRecords(ctx, r.most)
		err := r.produce(from.client, fetches)
		if err == nil {
			err = r.answers(ctx, from.client)
		}
		if err == nil && from.note(fetches) {
			err = from.commit(ctx)
		}
		if err != nil {
			return err
		}
		from.client.AllowRebalance()
	}
}

// transact relays exactly once, in one transaction after the other, each with the messages of an interval.
func (r *relay) transact(ctx context.Context, s *kgo.GroupTransactSession, every time.Duration) error {
	client := s.Client()
	if _, _, err := client.ProducerID(ctx); err != nil { // this aborts the transaction of a killed relay
		return err
	}
	for {
		first := s.PollRecords(ctx, r.most)
		if err := errors.Join(ctx.Err(), s.Begin()); err != nil {
			return err
		}
		if err := r.transaction(ctx, s, first, every); err != nil {
			return err
		}
	}
}

// transaction produces the waiting messages and those of an interval, and commits both ends. It lasts no longer than the broker allows.
func (r *relay) transaction(ctx context.Context, s *kgo.GroupTransactSession, first kgo.Fetches, every time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, r.longest)
	defer cancel()
	if err := r.gather(ctx, s, first, every); err != nil {
		return err
	}
	if err := r.answers(ctx, s.Client()); err != nil {
		return err
	}
	_, err := s.End(ctx, kgo.TryCommit) // if the session aborts it, the client reads again from the last committed offsets
	return err
}

// gather produces the waiting messages, and those that come within an interval.
func (r *relay) gather(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches, every time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	for {
		if err := r.produce(s.Client(), fetches); err != nil {
			return err
		}
		if limited.Err() != nil {
			return ctx.Err()
		}
		fetches = s.PollRecords(limited, r.most)
	}
}

// stays reports whether a relays' group still has a member: it ends with that member's session.
func stays(name string, t driver.Topology, err error) bool {
	return len(t.Topics) > 0 && name == relays(t) && errors.Is(err, kerr.NonEmptyGroup)
}
