package lab

import (
	"slices"

	"github.com/brokermark/brokermark/internal/worker"
)

// How many messages per second came through in a trial? It depends on what the trial is for:
//
//   - A load at a rate: what became of the messages that were due in the measured phase (phaseThroughput).
//   - A closed loop: what the counters rose by in the measured phase, whichever phase the messages belong to (sampledThroughput).
//   - A search, which compares with the rate offered: likewise, but the slower of confirming and receiving (throughputWhileSending).
//   - A closed loop that nothing holds back: what came from the begin of the measured phase to the end of the drain
//     (throughputUntilArrived).

// throughput is how many messages per second were confirmed and received. With two subscriptions, each message is
// received twice.
type throughput struct{ acked, received float64 }

// through returns how many messages per second came through: the slower of confirming and, per subscription, receiving.
func (t throughput) through(subscriptions int) float64 {
	if subscriptions == 0 {
		return t.acked
	}
	return min(t.acked, t.received/float64(subscriptions))
}

// phaseThroughput returns the throughput of the measured phase's messages. If the broker fell behind, only those that
// arrived during the phase count, not those that arrived in the drain. For example, of 10,000 messages due in 10 s all
// arrived, but 4,000 of them in the drain: 600/s were received.
func (t trial) phaseThroughput() throughput {
	length := t.phaseSeconds()
	phase := throughput{acked: perSecond(t.Measured.Acked, length), received: perSecond(t.Measured.Received, length)}
	sampled, ok := t.sampledThroughput()
	if !ok {
		return phase
	}
	// If the samples show clearly less, the rest came in the drain. If not, the counts are exact, and samples are not.
	if missed(sampled.acked, phase.acked, length) {
		phase.acked = sampled.acked
	}
	if missed(sampled.received, phase.received, length) {
		phase.received = sampled.received
	}
	return phase
}

// sampledThroughput returns the throughput between the first and the last sample of the measured phase, whichever phase
// the messages belong to. ok is false if there are fewer than two samples.
func (t trial) sampledThroughput() (_ throughput, ok bool) {
	var phase []worker.Sample
	for _, s := range t.Samples {
		if s.At >= t.From && s.At <= t.Until {
			phase = append(phase, s)
		}
	}
	if len(phase) < 2 {
		return throughput{}, false
	}
	first, last := phase[0], phase[len(phase)-1]
	elapsed := seconds(first.At, last.At)
	return throughput{
		acked:    perSecond(last.Count.Acked-first.Count.Acked, elapsed),
		received: perSecond(last.Count.Received-first.Count.Received, elapsed),
	}, true
}

// throughputWhileSending returns how many messages per second came through while the trial was sending: the slower of
// confirming and receiving. If there are too few samples to tell, it is 0, as if nothing had come through: nobody
// relies on what was not seen.
func (b *bench) throughputWhileSending(t trial) float64 {
	sampled, ok := t.sampledThroughput()
	if !ok {
		return 0
	}
	return sampled.through(b.spec.SubscriptionsPerTopic)
}

// nearlyAll is the share of messages after which the measurement of a throughput ends: a single late message must not
// decide it.
const nearlyAll = 0.99

// throughputUntilArrived returns how many messages per second came through the broker, from the begin of the measured
// phase until nearly all had arrived, with the drain. If nothing holds a closed loop back, the client and the kernel
// take messages faster than the broker does. Then only the time until all have arrived tells how fast the broker is.
// For example, of 10,000 messages that were handed over within 1 s, 9,900 had arrived after 5 s: that is 1,980/s. ok is
// false if there are fewer than two samples.
func (t trial) throughputUntilArrived(subscriptions int) (rate float64, ok bool) {
	begin := slices.IndexFunc(t.Samples, func(s worker.Sample) bool { return s.At >= t.From })
	if begin < 0 {
		return 0, false
	}
	samples := t.Samples[begin:]
	first, last := samples[0], samples[len(samples)-1]
	all := arrived(last, subscriptions) - arrived(first, subscriptions)
	for _, s := range samples[1:] {
		came, elapsed := arrived(s, subscriptions)-arrived(first, subscriptions), seconds(first.At, s.At)
		if came >= nearlyAll*all && elapsed > 0 {
			return came / elapsed, true
		}
	}
	return 0, false
}

// arrived returns how many messages had come through by a sample: the mean over the subscriptions, or those confirmed
// if nobody subscribes.
func arrived(s worker.Sample, subscriptions int) float64 {
	if subscriptions == 0 {
		return float64(s.Count.Acked)
	}
	return float64(s.Count.Received) / float64(subscriptions)
}
