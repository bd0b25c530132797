package lab

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A process stands still while its garbage collector stops it, or while the machine or the hypervisor runs something else. In
// such a pause it neither sends nor receives, so messages are late through no fault of the broker. A thread that only sleeps notes
// when it wakes up late: worker.Pauses has how late each wake-up was (Late), and when the process stood still for longer (Stops).
// This file says what pauses may have done to the figures.

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

// loadProcess is one of the processes, besides the broker, that messages of a trial passed.
type loadProcess struct {
	name          string // "agent a on host", or a name for this process
	lagP99        int64  // how late it sent by its own fault, ns
	pauses        worker.Pauses
	pauseDelayP99 int64 // how late pauses made a message, ns
}

// generators returns the processes that sent and received: those of agents if there are any, else this one, under the name self.
func (t trial) generators(self string) []loadProcess {
	if len(t.Parts) == 0 {
		return []loadProcess{{
			name: self, lagP99: t.Histograms.GeneratorLag.Quantile(0.99), pauses: t.Pauses, pauseDelayP99: t.pauseDelayP99(),
		}}
	}
	var list []loadProcess
	for _, p := range t.Parts {
		list = append(list, loadProcess{
			name: "agent " + p.Name, lagP99: ownLagP99(p),
			pauses: p.Outcome.Pauses, pauseDelayP99: p.Outcome.Pauses.Late.Quantile(0.99),
		})
	}
	return list
}

// pauseDelayP99 returns how late pauses made a message, at p99 in ns, if this process is the generator. If the consumers have a
// process of their own, Late has the wake-ups of both, as many of each, and a message waits for both. For example, one was late at
// 1 of 100 wake-ups and the other at none: then 1 of 100 messages was late, but 1 of 200 wake-ups. So the p99 of messages is the
// p99.5 of wake-ups.
func (t trial) pauseDelayP99() int64 {
	if t.Cost.Sides != nil {
		return t.Pauses.Late.Quantile(0.995)
	}
	return t.Pauses.Late.Quantile(0.99)
}

// latest returns the generator that sent latest.
func (t trial) latest() loadProcess {
	byLag := func(a, b loadProcess) int { return cmp.Compare(a.lagP99, b.lagP99) }
	return slices.MaxFunc(t.generators("the generator itself"), byLag)
}

// mostPaused returns the generator whose pauses matter most. On a schedule that is the one with the longest pauseDelayP99, in a closed
// loop the one that stood still for the longest time.
func (t trial) mostPaused() loadProcess {
	return slices.MaxFunc(t.generators("this process"), func(a, b loadProcess) int {
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
		relays := loadProcess{name: "a relay", pauses: *t.relayed, pauseDelayP99: t.relayed.Late.Quantile(0.99)}
		why = t.pauseEffectOf(relays, p99, measured)
	}
	return why
}

// pauseEffectOf is pauseEffect for one process.
func (t trial) pauseEffectOf(p loadProcess, p99 int64, measured string) remark.Remark {
	if t.Scheduled {
		return t.delayedBy(p, p99, measured)
	}
	return t.slowedLoopBy(p)
}

// delayedBy says that a process's pauses delayed messages of a schedule; empty if they were too short to matter.
func (t trial) delayedBy(p loadProcess, p99 int64, measured string) remark.Remark {
	if !significantDelay(p.pauseDelayP99, p99) {
		return remark.Remark{}
	}
	return remark.Of("%s or its machine kept a thread that only sleeps waiting for %s at p99, %s was %s%s",
		p.name, told(p.pauseDelayP99), measured, told(p99), t.longestPause(p.pauses))
}

// slowedLoopBy says that a process stood still for more than a hundredth of a closed loop, which lowers the loop's rate by as much;
// empty if it didn't.
func (t trial) slowedLoopBy(p loadProcess) remark.Remark {
	paused := float64(p.pauses.StoodStill(t.From, t.Until)) / float64(max(1, t.Until-t.From))
	if paused < 0.01 {
		return remark.Remark{}
	}
	return remark.Of("%s stood still for %.1f %% of the time, so a rate without a schedule is that much too low%s",
		p.name, 100*paused, t.longestPause(p.pauses))
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
