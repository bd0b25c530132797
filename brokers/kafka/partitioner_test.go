package kafka

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

var (
	keyed   = []string{sticky, default1} // uniform hashes by the same function, and asks the client how full batches are
	spread  = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	inOrder = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
)

func chosen(t *testing.T, name string) kgo.TopicPartitioner {
	t.Helper()
	v := livetest.Values(t, "kafka", driver.ClientScope, map[string]any{"partitioner": name})
	return partitioner(spread, v, 0).ForTopic("t")
}

// The hashes are those of Kafka's own test of murmur2 (UtilsTest); a partition is the positive hash modulo their number.
func TestKeysGoWhereJavasProducerSendsThem(t *testing.T) {
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		for _, name := range keyed {
			for _, n := range []int{1, 3, 8, 100} {
				want := int(hash&0x7fffffff) % n
				if got := chosen(t, name).Partition(&kgo.Record{Key: []byte(key)}, n); got != want {
					t.Errorf("%s: key %q of %d partitions goes to %d, want %d", name, key, n, got, want)
				}
			}
		}
	}
}

func TestRoundRobinTakesPartitionsInTurn(t *testing.T) {
	for name, key := range map[string][]byte{roundRobin: []byte("k"), default1: nil} {
		p, counts, last := chosen(t, name), make([]int, 5), -1
		for range 50 {
			at := p.Partition(&kgo.Record{Key: key}, 5)
			if last >= 0 && at != (last+1)%5 {
				t.Errorf("%s: partition %d comes after %d", name, at, last)
			}
			counts[at]++
			last = at
		}
		if slices.Min(counts) != 10 || slices.Max(counts) != 10 {
			t.Errorf("%s: 50 messages are spread as %v, want 10 each", name, counts)
		}
	}
}

func TestStickyStaysWithAPartitionUntilItsBatchIsSent(t *testing.T) {
	p := chosen(t, sticky)
	first := p.Partition(&kgo.Record{}, 8)
	for range 100 {
		if at := p.Partition(&kgo.Record{}, 8); at != first {
			t.Fatalf("it went from partition %d to %d within a batch", first, at)
		}
	}
	p.(kgo.TopicPartitionerOnNewBatch).OnNewBatch()
	if at := p.Partition(&kgo.Record{}, 8); at == first {
		t.Errorf("a new batch goes to partition %d again", at)
	}
}

func TestPartitionersThatSpreadAProducersMessagesKeepNoOrder(t *testing.T) {
	for _, name := range append(keyed, uniform, roundRobin, "auto") {
		c := livetest.Config(t, "kafka", driver.Target{}, inOrder, map[string]any{"partitioner": name}, nil)
		for _, partitions := range []int{1, 3} {
			err := fits(c, driver.Shape{Topics: 1, Partitions: partitions})
			if refused := errors.As(err, new(*driver.ErrUnsupported)); refused != (name != "auto" && partitions > 1) {
				t.Errorf("%s with %d partitions: %v", name, partitions, err)
			}
		}
	}
}

// The second study kept order with five requests in flight and idempotence, as Kafka does since 1.0.
func TestOrderIsKeptWithFiveRequestsInFlightWhereTheBrokerDeduplicates(t *testing.T) {
	for _, window := range []int{0, 5} {
		c := livetest.Config(t, "kafka", driver.Target{}, inOrder, map[string]any{"max.in.flight.requests.per.connection": window}, nil)
		livetest.Must(t, fits(c, driver.Shape{Topics: 1, Partitions: 1}))
		if !idempotent(c.Guarantee, c.Client) {
			t.Errorf("a window of %d isn't idempotent", window)
		}
	}
}

func TestABufferHoldsAMessageAtLeast(t *testing.T) {
	c := livetest.Config(t, "kafka", driver.Target{}, spread, map[string]any{"buffer.memory": 4096}, nil)
	livetest.Must(t, fits(c, driver.Shape{MaxBytes: 3000}))
	livetest.Says(t, fits(c, driver.Shape{MaxBytes: 5000}), "client.buffer.memory: 4096 is not supported: a message of 5000 bytes needs up to 6024")
}

// Sending waits for the broker while the buffer is full, and goes on when it has answered.
func bufferWaits(t *testing.T, target driver.Target) {
	for _, name := range []string{uniform, sticky, default1, roundRobin} {
		c := livetest.Config(t, "kafka", target, spread, map[string]any{"buffer.memory": 4096, "partitioner": name}, nil)
		r := livetest.Open(t, "kafka", c, livetest.Topic("buffered-"+name, 3, "s"))
		r.ConsumeAll(t)
		var batch []string
		for n := range 500 {
			batch = append(batch, fmt.Sprintf("%0200d", n)) // 100,000 bytes
		}
		livetest.Must(t, r.Send(t, batch...))
		r.Settled(t)
	}
}
