package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// Consume is one member of the subscription's consumer group or share group. With at-least-once, offsets are committed after
// Deliver has returned; with at-most-once, before it is called, unless consumer.ack says otherwise.
func (k *kafka) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	topic, subscription := k.topology.Topics[c.Topic].Outlet(), k.topology.Subscriptions[c.Subscription]
	name := groupOf(k.topology, topic, subscription) // with several topics, named by the first: all its members read the same topics
	names, delivered := make([]string, len(c.Topics())), map[string][]atomic.Int64{}
	for i, t := range c.Topics() {
		names[i] = k.topology.Topics[t].Outlet()
		delivered[names[i]] = k.delivered[groupOf(k.topology, names[i], subscription)]
	}
	opts := append(consumerOptions(k.config.Guarantee, k.config.Client, name, names...), k.common...)
	assigned := sync.OnceFunc(ready) // the group has answered, even if it has no partition for this member
	if shares(k.config.Client) {
		opts = append(opts, kgo.WithHooks(answered(assigned)))
	} else {
		opts = append(opts, kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned() }))
	}
	life, end := context.WithCancel(context.Background())
	opts = append(opts, kgo.WithContext(life))
	if !driver.UsesStock(k.config.Client) {
		opts = append(opts, kgo.WithPools(&recordPool{}))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		end()
		return driver.Unsupported("client settings", "franz-go says: %v", err)
	}
	r := &reader{
		client: client, sink: s, batch: driver.NewBatch(c.Headers, 0), early: !driver.AcksAfter(k.config.Guarantee, k.config.Client),
		background: k.config.Client.Bool("enable.auto.commit"), shared: shares(k.config.Client), delivered: delivered,
	}
	defer r.leave(end)
	for {
		fetches := client.PollRecords(ctx, int(k.config.Client.Int("max.poll.records")))
		if ctx.Err() != nil {
			return nil
		}
		if err := fatal(fetches); err != nil {
			return fmt.Errorf("consuming %s as %s: %w", topic, name, err)
		}
		if err := r.deliver(ctx, fetches); err != nil && ctx.Err() == nil {
			return fmt.Errorf("committing offsets of %s: %w", name, err)
		}
		client.AllowRebalance()
	}
}

// fatal returns the worst error that the client doesn't recover from by itself.
func fatal(fetches kgo.Fetches) (worst error) {
	fetches.EachError(func(_ string, _ int32, err error) {
		var loss *kgo.ErrDataLoss
		var session *kgo.ErrGroupSession
		if denied(err) || !errors.As(err, &loss) && !errors.As(err, &session) {
			worst = errors.Join(worst, err)
		}
	})
	return worst
}

type reader struct {
	client     *kgo.Client
	sink       driver.Sink
	batch      driver.Batch
	newest     []kgo.Record              // newest record of each partition of a poll, to be committed: the client recycles its own before
	commits    []*kgo.Record             // pointers into newest
	early      bool                      // commit before Deliver
	background bool                      // commit at intervals
	shared     bool                      // acknowledge each record, and commit nothing
	delivered  map[string][]atomic.Int64 // next offset by topic and partition; nil if a message may be delivered twice
}

// deliver delivers the messages of a poll and commits all of them at once, as applications do: before or after.
func (r *reader) deliver(ctx context.Context, fetches kgo.Fetches) error {
	if r.shared {
		fetches.EachPartition(r.hand)
		return nil
	}
	if !r.note(fetches) {
		return nil
	}
	if r.early {
		if err := r.commit(ctx); err != nil {
			return err
		}
	}
	fetches.EachPartition(r.hand)
	if r.early {
		return nil
	}
	return r.commit(ctx)
}

// note records the newest offsets of a poll, and reports whether it has messages.
func (r *reader) note(fetches kgo.Fetches) bool {
	r.newest = r.newest[:0]
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if n := len(p.Records); n > 0 {
			last := p.Records[n-1]
			r.newest = append(r.newest, kgo.Record{Topic: last.Topic, Partition: last.Partition, Offset: last.Offset, LeaderEpoch: last.LeaderEpoch})
		}
	})
	return len(r.newest) > 0
}

// hand delivers the messages of a partition that were not delivered before.
func (r *reader) hand(p kgo.FetchTopicPartition) {
	if len(p.Records) == 0 {
		return
	}
	first := p.Records[0].Offset
	if next := r.delivered[p.Topic]; next != nil {
		first = claim(&next[p.Partition], p.Records[len(p.Records)-1].Offset+1)
	}
	for _, record := range p.Records {
		if record.Offset >= first {
			r.batch.Add(record.Value, func(name string) []byte { return header(record, name) })
		}
	}
	r.batch.Deliver(r.sink)
	for _, record := range p.Records {
		if r.shared {
			record.Ack(kgo.AckAccept)
		}
		record.Recycle()
	}
}

// header returns the value of a header of a record; nil if there is none of that name.
func header(r *kgo.Record, name string) []byte {
	for i := range r.Headers {
		if r.Headers[i].Key == name {
			return r.Headers[i].Value
		}
	}
	return nil
}

// claim raises next to end if it is lower, and returns the offset from which on messages belong to the caller.
func claim(next *atomic.Int64, end int64) int64 {
	for {
		from := next.Load()
		if from >= end {
			return end
		}
		if next.CompareAndSwap(from, end) {
			return from
		}
	}
}

// commit sends one request for all partitions, or marks offsets for the client's own commits. It repeats the request until an
// unreachable broker is back.
func (r *reader) commit(ctx context.Context) error {
	r.commits = r.commits[:0]
	for i := range r.newest {
		r.commits = append(r.commits, &r.newest[i])
	}
	if r.background {
		r.client.MarkCommitRecords(r.commits...)
		return nil
	}
	for {
		err := r.client.CommitRecords(ctx, r.commits...)
		switch {
		case err == nil:
			return nil
		case slices.ContainsFunc(expelled, func(e *kerr.Error) bool { return errors.Is(err, e) }):
			return nil // the partition's new consumer gets uncommitted messages again; with at-most-once they are recognised
		case !repeatable(err):
			return err
		}
		if err := socket.Pause(ctx, commitPause); err != nil {
			return err
		}
	}
}

// expelled are the coordinator's errors for a member that was away for too long.
var expelled = []*kerr.Error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress}

const commitPause = 100 * time.Millisecond

// leave commits marked offsets and leaves the group. It gives up soon if the broker doesn't answer: end stops a commit under way.
func (r *reader) leave(end context.CancelFunc) {
	r.client.AllowRebalance()
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	_ = r.client.LeaveGroupContext(ctx) // this also sends a share group's last acknowledgements
	end()
	r.client.Close()
	r.client.AllowRebalance() // Close leaves again, in a goroutine that may still wait for the end of polls
}

// recordPool lets the client decode into the records of earlier fetches. A record is twice as large as a message of 100 bytes:
// allocating them took a fifth of a consumer's processor time.
type recordPool struct{ free sync.Pool }

func (p *recordPool) GetRecords(n int) []kgo.Record {
	if records, ok := p.free.Get().(*[]kgo.Record); ok && cap(*records) >= n {
		return (*records)[:n]
	}
	return make([]kgo.Record, n)
}

func (p *recordPool) PutRecords(records []kgo.Record) { p.free.Put(&records) }
