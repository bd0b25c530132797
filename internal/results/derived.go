package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
)

// ifStored is NaN if nothing was stored, as in older records.
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

// throughput is how many messages came through per second: of a closed loop until 99 % had come; elsewhere, and in older
// records, what came through in the measured phase. Published results have it if the paper has.
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

func per(r store.Record, n int, rate func(*store.Result) float64) float64 {
	if r.Result == nil || n == 0 {
		return math.NaN()
	}
	return rate(r.Result) / float64(n)
}

// brokerPercent is a part of the broker's processor time in the measured phase, of one core. Older records have the sum
// alone.
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

// meanOfSeconds is the mean of the means of each second of the measured phase, however many messages came in it, as one
// gets from the lines that PerfTest prints. Seconds in which nothing came have no mean. Ticks that are further apart
// than a second, in runs of more than an hour, stand for a second each.
func meanOfSeconds(r store.Record) float64 {
	if r.Result == nil {
		return math.NaN()
	}
	var of, sum, n, seconds float64
	second := int64(0)
	end := func() {
		if n > 0 {
			of, seconds = of+sum/n, seconds+1
		}
		sum, n = 0, 0
	}
	for _, t := range r.Result.Series {
		if t.Phase != "measure" {
			continue
		}
		// A tick belongs to the second in which most of it lies: it ends some milliseconds after its offset.
		if at := (t.OffsetNs - tickLength/2) / 1e9; at != second {
			end()
			second = at
		}
		sum, n = sum+t.FromSendNs*float64(t.FromSendCount), n+float64(t.FromSendCount)
	}
	end()
	if seconds == 0 {
		return math.NaN()
	}
	return of / seconds
}

// tickLength is how far ticks are apart in runs of less than half an hour.
const tickLength = 500e6

func kneeRate(r *store.Result) float64 {
	if r.Knee == nil {
		return math.NaN()
	}
	return r.Knee.Rate
}

// flushesPerMessage is 1 if each message is flushed to disk by itself, and next to nothing if none is.
func flushesPerMessage(r *store.Result) float64 {
	if c := r.Cost; c.BrokerFlushes != nil && c.Messages != 0 {
		return float64(*c.BrokerFlushes) / float64(c.Messages)
	}
	return math.NaN()
}
