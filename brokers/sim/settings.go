package sim

import (
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Latency distributions.
const (
	constant    = "constant"
	exponential = "exponential"
	lognormal   = "lognormal"
)

// What happens to a message that finds the queue at its limit.
const (
	fullBlocks  = "block"
	fullRejects = "reject"
	fullDrops   = "drop"
)

// settings are the broker's whole behaviour. Two drivers that open the same address must ask for the same.
type settings struct {
	capacity     int64
	warming      int64
	latency      time.Duration
	distribution string
	sigma        float64
	ackLatency   time.Duration
	stallAt      time.Duration
	stallFor     time.Duration
	stallEvery   time.Duration
	loss         int64
	duplicate    int64
	again        time.Duration // from a delivery to its duplicate
	reorder      int64
	corrupt      int64
	fail         int64
	window       int64
	queueLimit   int64
	queueFull    string
	memory       int64
	work         time.Duration
	seed         int64
}

func declared() []driver.Setting {
	client := func(name string, def any, doc string, allowed ...string) driver.Setting {
		return driver.Setting{Scope: driver.ClientScope, Name: name, Default: def, Allowed: allowed, Doc: doc}
	}
	needs := func(name string, off any, s driver.Setting) driver.Setting {
		s.Idle = func(_ driver.Guarantee, v driver.Values) string {
			if v[name] == off {
				return fmt.Sprintf("%s is %v", name, off)
			}
			return ""
		}
		return s
	}
	return []driver.Setting{
		driver.OneMode(driver.Stock, "the model is called directly: there is no client library to tune"),
		client("capacity", int64(0), "published messages served per second, by one server for all topics; 0: unlimited"),
		needs("capacity", int64(0), client("warming", int64(0), "the first message takes five times as long as 1/capacity, and each of so many a little less than the one before; 0: none")),
		client("latency", time.Duration(0), "from departure to delivery: the constant, the mean (exponential) or the median (lognormal)"),
		needs("latency", time.Duration(0), client("latency.distribution", constant, "how the latencies of messages differ", constant, exponential, lognormal)),
		{
			Scope: driver.ClientScope, Name: "latency.sigma", Default: 0.5, Doc: "sigma of the lognormal distribution",
			Idle: func(_ driver.Guarantee, v driver.Values) string {
				if v.String("latency.distribution") != lognormal {
					return "only the lognormal distribution has one"
				}
				return ""
			},
		},
		client("ack.latency", time.Duration(0), "from departure to acknowledgement"),
		needs("stall.for", time.Duration(0), client("stall.at", time.Duration(0), "the first freeze begins this long after the first message")),
		client("stall.for", time.Duration(0), "the broker freezes this long: it serves, delivers and acknowledges nothing; 0: never"),
		needs("stall.for", time.Duration(0), client("stall.every", time.Duration(0), "freezes begin again after this long; 0: one freeze")),
		client("loss.every", int64(0), "every n-th message of the broker is acknowledged but not delivered; 0: none"),
		client("duplicate.every", int64(0), "every n-th message is delivered twice; 0: none"),
		needs("duplicate.every", int64(0), client("duplicate.after", time.Duration(0), "how long after the first the second delivery comes; 0: at once")),
		client("reorder.every", int64(0), "every n-th message changes places with the next one of its producer and topic; 0: none"),
		client("corrupt.every", int64(0), "one bit of the last byte of every n-th message is flipped; 0: none"),
		client("fail.every", int64(0), "every n-th message is refused: not delivered, and acknowledged with an error; 0: none"),
		client("window", int64(0), "Send blocks while this many messages of the producer are unacknowledged; 0: unlimited"),
		client("queue.limit", int64(0), "most messages waiting in one topic of one subscription; 0: unlimited"),
		needs("queue.limit", int64(0), client("queue.full", fullBlocks, "what a message meets at queue.limit: block Send, be rejected with an error, or be dropped silently", fullBlocks, fullRejects, fullDrops)),
		client("memory", int64(512<<20), "bytes that messages may take up before Send blocks"),
		client("work", time.Duration(0), "processor time that the client's reading thread uses up for each delivery, before the application has it"),
		client("seed", int64(1), "of the random latencies"),
	}
}

func newSettings(v driver.Values) (settings, error) {
	s := settings{
		capacity: v.Int("capacity"), warming: v.Int("warming"), latency: v.Duration("latency"), distribution: v.String("latency.distribution"),
		sigma: v.Float("latency.sigma"), ackLatency: v.Duration("ack.latency"), stallAt: v.Duration("stall.at"),
		stallFor: v.Duration("stall.for"), stallEvery: v.Duration("stall.every"), loss: v.Int("loss.every"),
		duplicate: v.Int("duplicate.every"), again: v.Duration("duplicate.after"), reorder: v.Int("reorder.every"), corrupt: v.Int("corrupt.every"),
		fail: v.Int("fail.every"), window: v.Int("window"), queueLimit: v.Int("queue.limit"),
		queueFull: v.String("queue.full"), memory: v.Int("memory"), work: v.Duration("work"), seed: v.Int("seed"),
	}
	for name, n := range map[string]int64{
		"capacity": s.capacity, "warming": s.warming, "loss.every": s.loss, "duplicate.every": s.duplicate, "reorder.every": s.reorder,
		"corrupt.every": s.corrupt, "fail.every": s.fail, "window": s.window, "queue.limit": s.queueLimit,
	} {
		if n < 0 {
			return s, driver.Unsupported("client."+name, "%d is negative; 0 turns it off", n)
		}
	}
	if s.capacity > second {
		return s, driver.Unsupported("client.capacity", "%d/s is more than one per nanosecond; 0 is unlimited", s.capacity)
	}
	if s.stallEvery > 0 && s.stallEvery <= s.stallFor {
		return s, driver.Unsupported("client.stall.every", "%v is not longer than stall.for, %v: the broker would never run", s.stallEvery, s.stallFor)
	}
	if s.sigma < 0 {
		return s, driver.Unsupported("client.latency.sigma", "%v is negative", s.sigma)
	}
	if s.memory < 8*chunkBytes {
		return s, driver.Unsupported("client.memory", "%d bytes are less than %d", s.memory, 8*chunkBytes)
	}
	return s, nil
}

func supports(g driver.Guarantee) error {
	switch {
	case g.Delivery != driver.AtMostOnce && g.Delivery != driver.AtLeastOnce:
		return driver.Unsupported("delivery: "+string(g.Delivery), "sim neither deduplicates nor has transactions")
	case g.Persistence != driver.Memory:
		return driver.Unsupported("persistence: "+string(g.Persistence), "sim keeps messages in memory only")
	case g.Replicas > 1:
		return driver.Unsupported("replicas", "sim is a single broker in this process")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once needs acknowledgements")
	}
	return nil
}
