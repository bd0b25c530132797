package lab

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/remark"
)

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
