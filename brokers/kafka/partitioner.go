package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/internal/driver"
)

// Partitioners of Java's producer. All but roundRobin choose a key's partition by murmur2.
const (
	uniform    = "uniform"     // without a key: one partition for batch.size bytes; Java's since 3.3
	sticky     = "sticky"      // without a key: one partition until its batch is sent; Java's DefaultPartitioner since 2.4
	default1   = "default-1"   // without a key: the partitions in turn; Java's DefaultPartitioner before 2.4
	roundRobin = "round-robin" // the partitions in turn, with any key; Java's RoundRobinPartitioner
)

// partitioner returns the partitioner of the settings. auto keeps a producer's order if the guarantee requires it, and is
// otherwise franz-go's own default: uniform with 64 KiB.
func partitioner(g driver.Guarantee, v driver.Values, producer int) kgo.Partitioner {
	switch asked := v.String("partitioner"); {
	case asked == uniform:
		return kgo.UniformBytesPartitioner(int(v.Int("batch.size")), false, true, nil)
	case asked == sticky:
		return kgo.StickyKeyPartitioner(nil)
	case asked == default1:
		return inTurn()
	case asked == roundRobin:
		return kgo.RoundRobinPartitioner()
	case g.Ordering == driver.Ordered:
		return pinned(producer)
	}
	return kgo.UniformBytesPartitioner(64<<10, true, true, nil)
}

// keepsOrder refuses a partitioner that spreads a producer's messages over partitions if they must keep their order.
func keepsOrder(g driver.Guarantee, v driver.Values, partitions int) error {
	if asked := v.String("partitioner"); asked != "auto" && g.Ordering == driver.Ordered && partitions > 1 {
		return driver.Unsupported("client.partitioner: "+asked,
			"a producer's messages are in no order over %d partitions; ordering: ordered needs auto, or partitionsPerTopic: 1", partitions)
	}
	return nil
}

// inTurn uses the partitions one after the other for messages without a key.
func inTurn() kgo.Partitioner {
	return keyedOr(func() func(n int) int {
		next := -1
		return func(n int) int {
			next = (next + 1) % n
			return next
		}
	})
}

// pinned keeps the order of each producer's messages: one partition for those without a key, and as usual one per key for the others.
func pinned(producer int) kgo.Partitioner {
	return keyedOr(func() func(n int) int { return func(n int) int { return producer % n } })
}

// keyedOr hashes keys, and calls keyless, made anew for each topic, for messages without a key.
func keyedOr(keyless func() func(n int) int) kgo.Partitioner {
	return kgo.BasicConsistentPartitioner(func(topic string) func(*kgo.Record, int) int {
		byKey, choose := kgo.StickyKeyPartitioner(nil).ForTopic(topic), keyless()
		return func(r *kgo.Record, n int) int {
			if r.Key == nil {
				return choose(n)
			}
			return byKey.Partition(r, n)
		}
	})
}

// buffered bounds the client's buffer; 0: only the run's window bounds it.
func buffered(v driver.Values) []kgo.Opt {
	if n := v.Int("buffer.memory"); n > 0 {
		return []kgo.Opt{kgo.MaxBufferedBytes(int(n))}
	}
	return nil
}

// holds refuses a buffer that is smaller than a message, which would wait for ever.
func holds(v driver.Values, size int) error {
	if n := v.Int("buffer.memory"); n > 0 && int64(size+headroom) > n {
		return driver.Unsupported(fmt.Sprintf("client.buffer.memory: %d", n), "a message of %d bytes needs up to %d", size, size+headroom)
	}
	return nil
}
