package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// rateMetrics are rates of messages that came through, and the rates that a search found.
var rateMetrics = []Metric{
	{Key: KeyPublishRate, Name: "published", Unit: unit.PerSecond, Better: Higher, measured: publishRate},
	{Key: KeyReceiveRate, Name: "received", Unit: unit.PerSecond, Better: Higher, measured: receiveRate},
	{Key: KeyThroughput, Name: "throughput", Unit: unit.PerSecond, Better: Higher, Doc: "of a closed loop until 99 % had come", measured: throughput},
	{Key: "publish_mb_s", Name: "published MB/s", Unit: unit.None, Better: Higher, Doc: "10^6 bytes of payload per second", measured: megabytes(publishRate)},
	{Key: "receive_mb_s", Name: "received MB/s", Unit: unit.None, Better: Higher, Doc: "10^6 bytes of payload per second", measured: megabytes(receiveRate)},
	{
		Key: "producer_rate", Name: "per producer", Unit: unit.PerSecond, Better: Higher, Doc: "publish_rate over the number of producers",
		measured: func(r store.Record) float64 { return divided(publishRate(r), r.Spec.Topics*r.Spec.ProducersPerTopic) },
	},
	{
		Key: "consumer_rate", Name: "per consumer", Unit: unit.PerSecond, Better: Higher, Doc: "receive_rate over the number of consumers",
		measured: func(r store.Record) float64 { // unknown if the rate is that of consumers with a backlog
			return knownIf(!r.Spec.Tails(), divided(receiveRate(r), r.Spec.Topics*r.Spec.ConsumersPerTopic()))
		},
	},
	{
		Key: "backlog_max", Name: "largest backlog", Unit: unit.None, Better: Lower, Doc: "from the start of the measured phase on",
		measured: func(r store.Record) float64 { return orNaN(r.Result.BacklogMax) }, // messages that were sent and not yet received
	},
	{
		Key: KeySustainableLow, Name: "sustainable", Unit: unit.PerSecond, Better: Higher, Doc: "0: no rate passed", searched: true,
		measured: ofSearch(func(b *searchBounds) float64 { return b.passed }),
		most:     ofSearch(func(b *searchBounds) float64 { return max(b.passed, b.failed) }), // a rate may pass although a lower one failed
	},
	{
		Key: KeySustainableHigh, Name: "sustainable, failing", Unit: unit.PerSecond, Better: Higher, Doc: "null also when no rate failed",
		measured: ofSearch(func(b *searchBounds) float64 { return knownIf(!math.IsInf(b.failed, 1), b.failed) }),
	},
	{
		Key: KeySustainableHeld, Name: "held", Unit: unit.Seconds, Doc: "for how many seconds sustainable_low was held in one trial",
		measured: func(r store.Record) float64 {
			return known(r.Result.Sustainable, func(s *store.Sustainable) float64 { return knownIf(s.HeldNs != 0, float64(s.HeldNs)/1e9) })
		},
	},
	{
		Key: KeyKneeRate, Name: "before the knee", Unit: unit.PerSecond, Better: Higher, Doc: "of a curve: what came through before its mean latency jumps",
		searched: true,
		measured: func(r store.Record) float64 {
			return known(r.Result.Knee, func(k *store.Knee) float64 { return k.Rate })
		},
		most: func(r store.Record) float64 {
			return known(r.Result.Knee, func(k *store.Knee) float64 { return max(k.Rate, k.JumpedAt) })
		},
	},
}

func publishRate(r store.Record) float64 {
	if r.Result.Read != nil { // other programs published
		return math.NaN()
	}
	return measuredRate(r, r.Result.PublishRate)
}

func receiveRate(r store.Record) float64 { return measuredRate(r, r.Result.ReceiveRate) }

// measuredRate is a rate; NaN if nothing was measured at all: a search may end before it confirms any rate.
func measuredRate(r store.Record, rate float64) float64 {
	if rate == 0 && r.Result.Seconds == 0 && r.Result.Books == (store.Books{}) {
		return math.NaN()
	}
	return rate
}

// throughput is how many messages came through per second: in a closed loop until 99 % had come, as its record says; under
// other loads, which have a Throughput of 0, in the measured phase.
func throughput(r store.Record) float64 {
	switch {
	case r.Result.Throughput > 0:
		return r.Result.Throughput
	case r.Spec.SubscriptionsPerTopic == 0:
		return publishRate(r)
	}
	return min(publishRate(r), perSubscription(r, receiveRate(r)))
}

// megabytes is a rate of messages in 10^6 bytes of payload per second.
func megabytes(rate func(store.Record) float64) func(store.Record) float64 {
	return func(r store.Record) float64 {
		return knownIf(r.Result.PayloadSize > 0, rate(r)*r.Result.PayloadSize/1e6)
	}
}

// ofSearch reads a figure from the bounds of a record's search.
func ofSearch(figure func(*searchBounds) float64) func(store.Record) float64 {
	return func(r store.Record) float64 { return known(searchOf(r), figure) }
}

// durationMetrics are the times for a fixed number of messages, and the rates at which consumers drained a backlog.
var durationMetrics = []Metric{
	{
		Key: KeyTotalSeconds, Name: "total time", Head: "total\ntime", Unit: unit.Seconds, Better: Lower, Doc: "of a count: first send to last delivery",
		measured: func(r store.Record) float64 {
			return known(r.Result.Count, func(c *store.Count) float64 { return c.TotalSeconds })
		},
	},
	{
		Key: KeyDrainRate, Name: "drained", Unit: unit.PerSecond, Better: Higher, Doc: "of a backlog",
		measured: func(r store.Record) float64 {
			return known(r.Result.Backlog, func(b *store.Backlog) float64 { return b.DrainRate })
		},
	},
}
