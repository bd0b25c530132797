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

	"github.com/brokermark/brokermark/internal/driver"
)

// Consume is one member of the subscription's consumer group. Where the group promises at least once, offsets are
// committed after Deliver has returned; at most once before it is called, unless consumer.ack says otherwise.
func (k *kafka) Consume(ctx context.Context, c driver.ConsumerConfig, s driver.Sink, ready func()) error {
	topic, subscription := k.topology.Topics[c.Topic], k.topology.Subscriptions[c.Subscription]
	name := group(topic.Name, subscription) // of several topics, by the first: all of its members have the same
	names, delivered := make([]string, len(c.Topics())), map[string][]atomic.Int64{}
	for i, t := range c.Topics() {
		names[i] = k.topology.Topics[t].Name
		delivered[names[i]] = k.delivered[group(names[i], subscription)]
	}
	opts := append(consumerOptions(k.config.Guarantee, k.config.Client, name, names...), k.common...)
	assigned := sync.OnceFunc(ready) // the group has answered, even if it has no partition for this member
	opts = append(opts, kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned() }))
	life, end := context.WithCancel(context.Background())
	client, err := kgo.NewClient(append(opts, kgo.WithContext(life), kgo.WithPools(&recordPool{}))...)
	if err != nil {
		end()
		return driver.Unsupported("client settings", "franz-go says: %v", err)
	}
	r := &reader{
		client: client, sink: s, early: !driver.AcksAfter(k.config.Guarantee, k.config.Client),
		background: k.config.Client.Bool("enable.auto.commit"), delivered: delivered,
	}
	defer r.leave(end)
	for {
		fetches := client.PollRecords(ctx, int(k.config.Client.Int("max.poll.records")))
		if ctx.Err() != nil {
			return nil
		}
		if err := fatal(fetches); err != nil {
			return fmt.Errorf("consuming %s as %s: %w", topic.Name, name, err)
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) > 0 && err == nil {
				err = r.deliver(ctx, p)
			}
		})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("committing offsets of %s: %w", name, err)
		}
		client.AllowRebalance()
	}
}

// fatal picks the errors that the client doesn't get over by itself.
func fatal(fetches kgo.Fetches) (worst error) {
	fetches.EachError(func(_ string, _ int32, err error) {
		var loss *kgo.ErrDataLoss
		var session *kgo.ErrGroupSession
		if !errors.As(err, &loss) && !errors.As(err, &session) {
			worst = errors.Join(worst, err)
		}
	})
	return worst
}

type reader struct {
	client     *kgo.Client
	sink       driver.Sink
	payloads   [][]byte
	last       kgo.Record                // the newest delivered, to be committed: the client's own is recycled before
	early      bool                      // commit before Deliver
	background bool                      // commit now and then
	delivered  map[string][]atomic.Int64 // by topic and partition: next offset; nil where a message may be delivered twice
}

func (r *reader) deliver(ctx context.Context, p kgo.FetchTopicPartition) error {
	newest := p.Records[len(p.Records)-1]
	r.last.Topic, r.last.Partition = newest.Topic, newest.Partition
	r.last.Offset, r.last.LeaderEpoch = newest.Offset, newest.LeaderEpoch
	first := p.Records[0].Offset
	if next := r.delivered[p.Topic]; next != nil {
		first = claim(&next[p.Partition], newest.Offset+1)
	}
	if r.early {
		if err := r.commit(ctx); err != nil {
			return err
		}
	}
	r.payloads = r.payloads[:0]
	for _, record := range p.Records {
		if record.Offset >= first {
			r.payloads = append(r.payloads, record.Value)
		}
	}
	if len(r.payloads) > 0 {
		r.sink.Deliver(r.payloads)
	}
	for _, record := range p.Records {
		record.Recycle()
	}
	if r.early {
		return nil
	}
	return r.commit(ctx)
}

// claim moves next on to end, unless it is there, and returns from which offset on messages are the caller's.
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

// commit goes on until a broker that is away has come back.
func (r *reader) commit(ctx context.Context) error {
	if r.background {
		r.client.MarkCommitRecords(&r.last)
		return nil
	}
	for {
		err := r.client.CommitRecords(ctx, &r.last)
		switch {
		case err == nil:
			return nil
		case slices.ContainsFunc(expelled, func(e *kerr.Error) bool { return errors.Is(err, e) }):
			return nil // whoever has the partition now gets once more what was not committed; at most once it is recognised
		case !repeatable(err):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(commitPause):
		}
	}
}

// expelled are what the coordinator says to a member that was away for too long.
var expelled = []*kerr.Error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress}

const commitPause = 100 * time.Millisecond

// leave commits what is marked and leaves the group, or gives up soon when the broker doesn't answer: end is
// what stops a commit under way.
func (r *reader) leave(end context.CancelFunc) {
	r.client.AllowRebalance()
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	_ = r.client.LeaveGroupContext(ctx)
	end()
	r.client.Close()
	r.client.AllowRebalance() // Close leaves once more, in a goroutine that may still wait for polls to be over
}

// recordPool lets the client decode into the records of earlier fetches. They are twice as large as a message of 100
// bytes: making them anew was a fifth of what a consumer cost.
type recordPool struct{ free sync.Pool }

func (p *recordPool) GetRecords(n int) []kgo.Record {
	if records, ok := p.free.Get().(*[]kgo.Record); ok && cap(*records) >= n {
		return (*records)[:n]
	}
	return make([]kgo.Record, n)
}

func (p *recordPool) PutRecords(records []kgo.Record) { p.free.Put(&records) }
