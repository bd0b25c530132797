package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// rateMetrics say how many messages came through per second, and which rates a search found.
var rateMetrics = []Metric{
	{Key: KeyPublishRate, Name: "published", Unit: unit.PerSecond, Better: Higher, measured: publishRate},
	{Key: KeyReceiveRate, Name: "received", Unit: unit.PerSecond, Better: Higher, measured: receiveRate},
	{Key: KeyThroughput, Name: "throughput", Unit: unit.PerSecond, Better: Higher, Doc: "of a closed loop until 99 % had come", measured: throughput},
	{Key: "publish_mb_s", Name: "published MB/s", Unit: unit.None, Better: Higher, Doc: "10^6 bytes of payload per second", measured: publishedMegabytes},
	{Key: "receive_mb_s", Name: "received MB/s", Unit: unit.None, Better: Higher, Doc: "10^6 bytes of payload per second", measured: receivedMegabytes},
	{Key: "producer_rate", Name: "per producer", Unit: unit.PerSecond, Better: Higher, Doc: "publish_rate over the number of producers", measured: producerRate},
	{Key: "consumer_rate", Name: "per consumer", Unit: unit.PerSecond, Better: Higher, Doc: "receive_rate over the number of consumers", measured: consumerRate},
	{Key: "backlog_max", Name: "largest backlog", Unit: unit.None, Better: Lower, Doc: "from the start of the measured phase on", measured: largestBacklog},
	{Key: KeySustainableLow, Name: "sustainable", Unit: unit.PerSecond, Better: Higher, Doc: "0: no rate passed", measured: sustainableLow, most: sustainableMost, searched: true},
	{Key: KeySustainableHigh, Name: "sustainable, failing", Unit: unit.PerSecond, Better: Higher, Doc: "null also when no rate failed", measured: sustainableHigh},
	{Key: KeySustainableHeld, Name: "held", Unit: unit.Seconds, Doc: "for how many seconds sustainable_low was held in one trial", measured: sustainableHeld},
	{Key: KeyKneeRate, Name: "before the knee", Unit: unit.PerSecond, Better: Higher, Doc: "of a curve: what came through before its mean latency jumps", measured: kneeRate, most: kneeMost, searched: true},
}

func publishRate(r store.Record) float64 { return measuredRate(r, r.Result.PublishRate) }
func receiveRate(r store.Record) float64 { return measuredRate(r, r.Result.ReceiveRate) }

// measuredRate is a rate, or NaN if nothing was measured at all: a search may end before it confirms any rate.
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
	default:
		return min(publishRate(r), receiveRate(r)/float64(r.Spec.SubscriptionsPerTopic))
	}
}

func publishedMegabytes(r store.Record) float64 { return megabytes(r, publishRate(r)) }
func receivedMegabytes(r store.Record) float64  { return megabytes(r, receiveRate(r)) }

// megabytes is a rate of messages in 10^6 bytes of payload per second.
func megabytes(r store.Record, rate float64) float64 {
	if r.Result.PayloadSize <= 0 {
		return math.NaN()
	}
	return rate * r.Result.PayloadSize / 1e6
}

// producerRate is the mean rate of one producer.
func producerRate(r store.Record) float64 {
	return divided(publishRate(r), r.Spec.Topics*r.Spec.ProducersPerTopic)
}

// consumerRate is the mean rate of one consumer.
func consumerRate(r store.Record) float64 {
	return divided(receiveRate(r), r.Spec.Topics*r.Spec.ConsumersPerTopic())
}

// largestBacklog is the most messages that were sent and not yet received, from the start of the measured phase on.
func largestBacklog(r store.Record) float64 { return orNaN(r.Result.BacklogMax) }

// sustainableLow is the highest rate that passed. It is 0, which is a known value, if none did.
func sustainableLow(r store.Record) float64 {
	if b, found := searchOf(r); found {
		return b.passed
	}
	return math.NaN()
}

// sustainableMost is what the sustainable rate is at most: the lowest rate that failed.
func sustainableMost(r store.Record) float64 {
	if b, found := searchOf(r); found {
		return max(b.passed, b.failed) // a rate may pass although a lower one failed
	}
	return math.NaN()
}

// sustainableHeld is for how many seconds the highest rate that passed was held in one trial; not known if none passed.
func sustainableHeld(r store.Record) float64 {
	if r.Result.Sustainable == nil || r.Result.Sustainable.HeldNs == 0 {
		return math.NaN()
	}
	return float64(r.Result.Sustainable.HeldNs) / 1e9
}

// sustainableHigh is the lowest rate that failed; not known if none did.
func sustainableHigh(r store.Record) float64 {
	if b, found := searchOf(r); found && !math.IsInf(b.failed, 1) {
		return b.failed
	}
	return math.NaN()
}

// kneeRate is the highest rate of a curve that came through before latency jumped.
func kneeRate(r store.Record) float64 {
	if r.Result.Knee == nil {
		return math.NaN()
	}
	return r.Result.Knee.Rate
}

// kneeMost is the rate at which latency had jumped.
func kneeMost(r store.Record) float64 {
	if r.Result.Knee == nil {
		return math.NaN()
	}
	return max(r.Result.Knee.Rate, r.Result.Knee.JumpedAt)
}

// durationMetrics say how long a fixed number of messages took, and how fast consumers emptied a backlog.
var durationMetrics = []Metric{
	{Key: KeyTotalSeconds, Name: "total time", Head: "total\ntime", Unit: unit.Seconds, Better: Lower, Doc: "of a count: first send to last delivery", measured: totalSeconds},
	{Key: KeyDrainRate, Name: "drained", Unit: unit.PerSecond, Better: Higher, Doc: "of a backlog", measured: drainRate},
}

// totalSeconds is from the first send to the last delivery of a fixed number of messages.
func totalSeconds(r store.Record) float64 {
	if r.Result.Count == nil {
		return math.NaN()
	}
	return r.Result.Count.TotalSeconds
}

// drainRate is how fast consumers emptied what had piled up while they were off.
func drainRate(r store.Record) float64 {
	if r.Result.Backlog == nil {
		return math.NaN()
	}
	return r.Result.Backlog.DrainRate
}
