package lab

import (
	"fmt"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/remark"
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
// confirming and receiving. If there are too few samples to tell, it is 0, as if nothing had come through:
// what was not seen is not relied on.
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
// if there are no subscriptions.
func arrived(s worker.Sample, subscriptions int) float64 {
	if subscriptions == 0 {
		return float64(s.Count.Acked)
	}
	return float64(s.Count.Received) / float64(subscriptions)
}

// missedRate says how much less came through than the schedule offered, confirmed and to every subscription, and what broker and
// generator did meanwhile; empty if the schedule was kept. For example:
//
//	812 of 20000 messages due were never sent; 1743/s of 2000/s came through; the broker used 1.4 (0.6 of it in the kernel) and the
//	generator 0.3 of 2 cores; the limit: one thread of the broker, redis-server, at 98 % of a core
func (b *bench) missedRate(t trial) remark.Remark {
	m := t.Measured
	length := t.phaseSeconds()
	if !t.Scheduled || length == 0 || m.Due == 0 {
		return remark.Remark{}
	}
	through, due, behind := b.cameThrough(t)
	var clauses []remark.Remark
	if m.Unsent > 0 {
		clauses = append(clauses, remark.Of("%d of %d messages due were never sent", m.Unsent, m.Due))
	}
	if m.Unsent > 0 || behind {
		clauses = append(clauses, cameThroughText(through, due))
		if used := b.coresUsed(t); used.Text != "" {
			clauses = append(clauses, used)
		}
		clauses = append(clauses, remark.Of("%s", b.bottleneckOf(t).limits()))
	}
	return remark.Join(clauses, "; ")
}

// cameThrough returns the messages per second that came through, those that were due, and whether the former are clearly fewer. Under a fault
// they are not: the outage is reported instead.
func (b *bench) cameThrough(t trial) (through, due float64, behind bool) {
	through, due = t.phaseThroughput().through(b.spec.SubscriptionsPerTopic), t.offeredRate()
	return through, due, t.Scheduled && len(b.spec.Faults) == 0 && missed(through, due, t.phaseSeconds())
}

func cameThroughText(through, due float64) remark.Remark {
	return remark.Of("%s of %s came through", rateText(through), rateText(due))
}

// A rate is taken between two samples of the counters, so either end is off by up to the time between two samples. It counts as missed
// only if both bounds are exceeded.
const (
	missedShare   = 0.02 // of the messages expected
	missedSeconds = 0.1  // for which the missing messages would last at the expected rate
)

// missed reports whether a rate, taken over length seconds, is clearly lower than was expected; false if nothing was expected. For
// example, 960/s of 1,000/s lack 4 %. Over 10 s those are 400 messages, due in 0.4 s: missed. Over 2 s they are due in 0.08 s: not missed.
func missed(rate, expected, length float64) bool {
	if expected <= 0 {
		return false
	}
	lackingShare := 1 - rate/expected
	return lackingShare > missedShare && lackingShare*length > missedSeconds
}

// coresUsed says how many cores broker and generator used. A broker that spends most of its time in the kernel waits for the file system,
// which slows down with thousands of files. It is empty if the trial was too short to tell.
func (b *bench) coresUsed(t trial) remark.Remark {
	s, cores := t.Cost.Shares, b.lab.machine.Cores
	if s == nil {
		return remark.Remark{}
	}
	agentCores, elsewhere := t.coresOfAgentMachines()
	switch {
	case elsewhere && t.Cost.BrokerKnown:
		return remark.Of("the agents used %.1f of the %d cores of their machines; the broker used %.1f cores (%.1f of it in the kernel)",
			s.Generator, agentCores, s.Broker, s.BrokerSystem)
	case elsewhere:
		return remark.Of("the agents used %.1f of the %d cores of their machines", s.Generator, agentCores)
	case t.Cost.BrokerKnown && !b.meters.brokerIsHere():
		return remark.Of("the broker used %.1f cores elsewhere (%.1f of it in the kernel) and the generator %.1f of %d cores",
			s.Broker, s.BrokerSystem, s.Generator, cores)
	case t.Cost.BrokerKnown:
		return remark.Of("the broker used %.1f (%.1f of it in the kernel) and the generator %.1f of %d cores",
			s.Broker, s.BrokerSystem, s.Generator, cores)
	}
	return remark.Of("the generator used %.1f of %d cores", s.Generator, cores)
}

// heldShown is the share of the measured phase above which the broker held producers back for long enough to set the pace.
const heldShown = 0.05

// heldByBroker reports whether the broker itself set the pace: it said that it takes no messages for now, by a quota or an alarm.
func (t trial) heldByBroker() bool { return t.Held.Seconds() > heldShown*t.phaseSeconds() }

// heldText says for how long the broker held producers back, and why, in its own words.
func (t trial) heldText() remark.Remark {
	return remark.Of("the broker itself held a producer back for %.0f %% of the time (%s)", 100*t.Held.Seconds()/t.phaseSeconds(), t.HeldWhy)
}

// rateText is a rate in a sentence, in messages per second: whole messages, or three digits if there are few.
type rateText float64

func (r rateText) String() string {
	if r < 100 {
		return fmt.Sprintf("%.3g/s", float64(r))
	}
	return fmt.Sprintf("%.0f/s", float64(r))
}

// A spec may limit what the broker's queues keep: the number of messages, their age, or both. A queue drops messages beyond its limit.
// They do not count as lost, and no promise covers them (docs/decisions/023-loss-that-was-asked-for.md).

// queueDrops is how many messages the queues may have dropped at most for their limit.
type queueDrops struct {
	warmup, measured int64  // of these phases
	setting          string // that may have dropped the most; empty if nothing may have been dropped
}

// mostDrops returns what the queues may have dropped during a load. For example, a queue that keeps 50 messages and was full may have
// dropped all but the last 50 of 1,000 messages: 950.
func mostDrops(l driver.Limit, out worker.Outcome) queueDrops {
	byNumber, byAge := dropsByNumber(l, out), dropsByAge(l, out)
	if byNumber == 0 && byAge == 0 {
		return queueDrops{}
	}
	// Whether the limit was reached in the warm-up is not known.
	d := queueDrops{warmup: out.Warmup.Expected, measured: max(byNumber, byAge), setting: l.Setting}
	if byAge > byNumber {
		d.setting = l.AgeSetting
	}
	return d
}

// dropsByNumber returns how many deliveries of the measured phase a queue may have dropped because it held too many messages. It drops
// none before its limit is reached, and never those that it keeps.
func dropsByNumber(l driver.Limit, out worker.Outcome) int64 {
	if l.Setting == "" || out.BacklogMax < l.Messages {
		return 0
	}
	kept := max(0, l.Messages-out.Warmup.Received) // for certain: the others that it keeps may be of the warm-up
	return max(0, out.Measured.Expected-kept)
}

// nearlyAge is the share of the age limit that a message must have waited for the limit to count as reached. It is below 1
// because messages that reach the age are dropped: none that arrives has waited for all of it.
const nearlyAge = 0.9

// dropsByAge returns how many deliveries of the measured phase a queue may have dropped because they had waited for too long:
// all of them once the age was reached, since it is not known how long each message waited.
func dropsByAge(l driver.Limit, out worker.Outcome) int64 {
	if l.AgeSetting == "" || float64(longestWait(out)) < nearlyAge*float64(l.Age) {
		return 0
	}
	return out.Measured.Expected
}

// longestWait returns the longest time for which a message is known to have waited after it was sent: until it arrived, or while
// nothing arrived although messages were due. How long a message waited that never arrived is not known: it may have been lost at once.
func longestWait(out worker.Outcome) time.Duration {
	longest := out.Histograms.EndToEndService.Max()
	for _, silence := range out.DeliverySilences {
		longest = max(longest, silence.To-silence.From)
	}
	nothingArrived := out.Measured.Received+out.Warmup.Received == 0
	if nothingArrived && out.FirstSent > 0 {
		longest = max(longest, out.Until-out.FirstSent)
	}
	return time.Duration(longest)
}
