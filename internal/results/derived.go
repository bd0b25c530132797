package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
)

// ifStored reads a figure that older records don't have: it is NaN if nothing was stored.
func ifStored(of func(*store.Result) *int64) func(*store.Result) float64 {
	return func(r *store.Result) float64 {
		if v := of(r); v != nil {
			return float64(*v)
		}
		return math.NaN()
	}
}

// publishRate and receiveRate are unknown if nothing was measured: a search may end before any rate was confirmed.
func publishRate(r *store.Result) float64 { return measuredRate(r, r.PublishRate) }
func receiveRate(r *store.Result) float64 { return measuredRate(r, r.ReceiveRate) }

func measuredRate(r *store.Result, rate float64) float64 {
	if rate == 0 && r.Seconds == 0 && r.Books == (store.Books{}) {
		return math.NaN()
	}
	return rate
}

// megabytes is a rate of messages in 10^6 bytes of payload per second.
func megabytes(rate func(*store.Result) float64) func(*store.Result) float64 {
	return func(r *store.Result) float64 {
		if r.PayloadSize <= 0 {
			return math.NaN()
		}
		return rate(r) * r.PayloadSize / 1e6
	}
}

// throughput is how many messages came through per second: in a closed loop until 99 % had come; under other loads, and in older
// records, in the measured phase.
func throughput(r store.Record) float64 {
	switch s := r.Result; {
	case s == nil:
		return math.NaN()
	case s.Throughput > 0:
		return s.Throughput
	case r.Spec.SubscriptionsPerTopic == 0:
		return publishRate(s)
	default:
		return min(publishRate(s), receiveRate(s)/float64(r.Spec.SubscriptionsPerTopic))
	}
}

// producerRate is the mean rate of one producer.
func producerRate(r store.Record) float64 {
	return per(r, r.Spec.Topics*r.Spec.ProducersPerTopic, publishRate)
}

// consumerRate is the mean rate of one consumer.
func consumerRate(r store.Record) float64 {
	return per(r, r.Spec.Topics*r.Spec.ConsumersPerTopic(), receiveRate)
}

// per is a rate divided by n; NaN if n is 0.
func per(r store.Record, n int, rate func(*store.Result) float64) float64 {
	if r.Result == nil || n == 0 {
		return math.NaN()
	}
	return rate(r.Result) / float64(n)
}

// brokerPercent is a part of the broker's processor time in the measured phase, in percent of one core. It is NaN in older records,
// which have only the sum of the parts.
func brokerPercent(of func(*store.Shares) float64) func(store.Record) float64 {
	return fromResult(func(r *store.Result) float64 {
		s := r.Cost.Shares
		if s == nil || !r.Cost.BrokerKnown || s.Broker > 0 && s.BrokerUser == 0 && s.BrokerSystem == 0 {
			return math.NaN()
		}
		return 100 * of(s)
	})
}

func corrected(of func(*store.Corrected) float64) func(store.Record) float64 {
	return fromResult(func(r *store.Result) float64 {
		if r.Corrected == nil {
			return math.NaN()
		}
		return of(r.Corrected)
	})
}

// meanOfSeconds is the mean of the mean latencies of each second of the measured phase, in nanoseconds, however many messages came in a
// second. That is what one gets from the lines that RabbitMQ's PerfTest prints. Seconds in which nothing came have no mean. Ticks that
// are further apart than a second, in runs of more than an hour, stand for a second each.
func meanOfSeconds(r store.Record) float64 {
	if r.Result == nil {
		return math.NaN()
	}
	type second struct{ sum, messages float64 }
	seconds := map[int64]second{} // by their number since the start of the phase
	for _, t := range r.Result.Series {
		if t.Phase != "measure" || t.FromSendCount == 0 {
			continue
		}
		// A tick belongs to the second in which most of it lies: it ends some milliseconds after its offset.
		number := (t.OffsetNs - tickLength/2) / 1e9
		s := seconds[number]
		s.sum += t.FromSendNs * float64(t.FromSendCount)
		s.messages += float64(t.FromSendCount)
		seconds[number] = s
	}
	if len(seconds) == 0 {
		return math.NaN()
	}
	sumOfMeans := 0.0
	for _, number := range sortedKeys(seconds) { // in order, so that rounding is the same every time
		sumOfMeans += seconds[number].sum / seconds[number].messages
	}
	return sumOfMeans / float64(len(seconds))
}

// tickLength is how far ticks are apart, in nanoseconds, in runs of less than half an hour.
const tickLength = 500e6

func kneeRate(r *store.Result) float64 {
	if r.Knee == nil {
		return math.NaN()
	}
	return r.Knee.Rate
}

// flushesPerMessage is how many calls flushed to disk, per message: 1 if each message is flushed by itself.
func flushesPerMessage(r *store.Result) float64 {
	if c := r.Cost; c.BrokerFlushes != nil && c.Messages != 0 {
		return float64(*c.BrokerFlushes) / float64(c.Messages)
	}
	return math.NaN()
}
