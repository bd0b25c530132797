package lab

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A process stands still while its garbage collector stops it, or while the machine or the hypervisor runs something else. In such a
// pause it neither sends nor receives, so messages are late through no fault of the broker. Package worker records pauses: a thread that
// only sleeps notes when it wakes up late. This file says what they may have done to the figures.

// pauses returns how long this process stood still in the measured phase, in the stored form.
func pauses(t trial) *store.Pauses {
	longest := t.Pauses.Longest(t.From, t.Until)
	p := &store.Pauses{
		Late: t.Pauses.Late, LongestNs: longest.To - longest.From,
		GCPauseNs: int64(t.GCPause), StolenSeconds: t.Stolen.Seconds(), QueuedSeconds: t.Queued.Seconds(),
	}
	if p.LongestNs > 0 {
		p.LongestOffsetNs = longest.From - t.From
	}
	return p
}

// generator is one process that sent and received in a trial: this process or an agent's.
type generator struct {
	name          string // "agent a on host", or a name for this process
	lagP99        int64  // how late it sent by its own fault, ns
	pauses        worker.Pauses
	pauseDelayP99 int64 // how late pauses made a message, ns
}

// generators returns the processes that generated a trial's load: those of agents if there are any, else this one, under the name
// self.
func (t trial) generators(self string) []generator {
	if len(t.Parts) == 0 {
		quantile := 0.99
		if t.Cost.Sides != nil {
			// A message passes the producing and the consuming process, and waits for either. Late has as many wake-ups of one as of
			// the other. If one was late at 2 of 100 and the other at none, 1 of 100 wake-ups were late, but 2 of 100 messages.
			quantile = 0.995
		}
		return []generator{{
			name: self, lagP99: t.Histograms.GeneratorLag.Quantile(0.99),
			pauses: t.Pauses, pauseDelayP99: t.Pauses.Late.Quantile(quantile),
		}}
	}
	var list []generator
	for _, p := range t.Parts {
		list = append(list, generator{
			name: "agent " + p.Name, lagP99: ownLagP99(p),
			pauses: p.Outcome.Pauses, pauseDelayP99: p.Outcome.Pauses.Late.Quantile(0.99),
		})
	}
	return list
}

// latest returns the generator that sent latest.
func (t trial) latest() generator {
	return slices.MaxFunc(t.generators("the generator itself"), func(a, b generator) int { return cmp.Compare(a.lagP99, b.lagP99) })
}

// mostPaused returns the generator whose pauses matter most. On a schedule that is the one with the longest pauseDelayP99, in a closed
// loop the one that stood still for the longest time.
func (t trial) mostPaused() generator {
	return slices.MaxFunc(t.generators("this process"), func(a, b generator) int {
		if t.Scheduled {
			return cmp.Compare(a.pauseDelayP99, b.pauseDelayP99)
		}
		return cmp.Compare(a.pauses.StoodStill(t.From, t.Until), b.pauses.StoodStill(t.From, t.Until))
	})
}

// pauseEffect says how pauses of a generator, or else of a relay, may have shaped the figures; empty if they were too short. p99 is
// the latency's, in ns, and measured says what the latency is of. For example:
//
//	this process stood still for 2.4 % of the time, so a rate without a schedule is that much too low; the longest pause was 80ms, 1.2s into
//	the measured phase
//
// That messages were sent late because of pauses is said by another doubt, generator-lag.
func (t trial) pauseEffect(p99 int64, measured string) remark.Remark {
	why := t.pauseEffectOf(t.mostPaused(), p99, measured)
	if why.Text == "" && t.relayed != nil { // a message passes one of the relays
		relays := generator{name: "a relay", pauses: *t.relayed, pauseDelayP99: t.relayed.Late.Quantile(0.99)}
		why = t.pauseEffectOf(relays, p99, measured)
	}
	return why
}

// pausedShare is the share of a closed loop for which a process may stand still before the loop's rate is doubted.
const pausedShare = 0.01

// pauseEffectOf is pauseEffect for one process.
func (t trial) pauseEffectOf(g generator, p99 int64, measured string) remark.Remark {
	if !t.Scheduled {
		paused := float64(g.pauses.StoodStill(t.From, t.Until)) / float64(max(1, t.Until-t.From))
		if paused < pausedShare {
			return remark.Remark{}
		}
		return remark.Of("%s stood still for %.1f %% of the time, so a rate without a schedule is that much too low%s",
			g.name, 100*paused, t.longestPause(g.pauses))
	}
	if !significantDelay(g.pauseDelayP99, p99) {
		return remark.Remark{}
	}
	return remark.Of("%s or its machine kept a thread that only sleeps waiting for %s at p99, %s was %s%s",
		g.name, told(g.pauseDelayP99), measured, told(p99), t.longestPause(g.pauses))
}

// longestPause returns a clause about the longest pause in the measured phase; empty if there was none.
func (t trial) longestPause(p worker.Pauses) remark.Remark {
	s := p.Longest(t.From, t.Until)
	if s.To-s.From < int64(clock.Standstill) {
		return remark.Remark{}
	}
	if s.From < t.From {
		return remark.Of("; the longest pause was %s, and the measured phase began during it", told(s.To-s.From))
	}
	return remark.Of("; the longest pause was %s, %s into the measured phase", told(s.To-s.From), told(s.From-t.From))
}

// outage returns the longest times in which nothing was delivered, and nothing was confirmed, although messages were due. Times in
// which the generator itself stood still are left out: 3 s without a delivery, for 1 s of which it stood still, are an outage of 2 s.
func outage(t trial) *store.Outage {
	sending := commonPauses(t, func(p agent.Part) bool { return p.Outcome.Producers > 0 })
	receiving := commonPauses(t, func(p agent.Part) bool { return p.Outcome.LastReceived > 0 })
	// Nothing is delivered while all senders stand still, nor while all receivers do.
	return &store.Outage{
		ReceiveNs: longestSilence(t.DeliverySilences, sending.Union(receiving)), PublishNs: longestSilence(t.ConfirmationSilences, sending),
		SampleNs: int64(t.SampleEvery),
	}
}

// commonPauses returns when all agents of one side, producing or consuming, stood still at once. If there is none on that side, it
// returns the pauses of the trial's outcome: those of this process, if that is the generator.
func commonPauses(t trial, onSide func(agent.Part) bool) worker.Pauses {
	agents := slices.DeleteFunc(slices.Clone(t.Parts), func(p agent.Part) bool { return !onSide(p) })
	if len(agents) == 0 {
		return t.Pauses
	}
	common := agents[0].Outcome.Pauses
	for _, p := range agents[1:] {
		common.Stops = common.Intersect(p.Outcome.Pauses)
	}
	return common
}

// longestSilence returns the longest silence in ns, without the generator's own pauses in it; 0 if there was none.
func longestSilence(silences []worker.Interval, own worker.Pauses) int64 {
	var longest int64
	for _, s := range silences {
		longest = max(longest, s.To-s.From-own.StoodStill(s.From, s.To))
	}
	return longest
}
