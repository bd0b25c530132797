package lab

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// pauses is how far this process stood still in the measured phase.
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

// stoodShare is the share of a closed loop that the process may stand still before its rate is doubted.
const stoodShare = 0.01

// stoodStill warns where pauses of a process of ours may have made the figures: of the generator, or else of a relay. It is empty
// where they are small beside them. What pauses did to the sending side, message by message, is the doubt generator-lag.
func (b *bench) stoodStill(t trial, p99 int64, measured string) remark.Remark {
	who, of := t.stillest()
	why := t.heldUp(who, of, p99, measured)
	if why.Text == "" && t.relayed != nil {
		why = t.heldUp("a relay", *t.relayed, p99, measured)
	}
	return why
}

// stillest is the process of the generator that stood still the most, and how.
func (t trial) stillest() (who string, p worker.Pauses) {
	if len(t.Parts) == 0 {
		return "this process", t.Pauses
	}
	most := slices.MaxFunc(t.Parts, func(a, b agent.Part) int {
		if !t.Scheduled {
			return cmp.Compare(a.Outcome.Pauses.Within(t.From, t.Until), b.Outcome.Pauses.Within(t.From, t.Until))
		}
		return cmp.Compare(a.Outcome.Pauses.Late.Quantile(0.99), b.Outcome.Pauses.Late.Quantile(0.99))
	})
	return "agent " + most.Name, most.Outcome.Pauses
}

// latest is the process of the generator that was latest, and how late at p99.
func (t trial) latest() (who string, lag int64, p worker.Pauses) {
	if len(t.Parts) == 0 {
		return "the generator itself", t.Histograms.GeneratorLag.Quantile(0.99), t.Pauses
	}
	most := slices.MaxFunc(t.Parts, func(a, b agent.Part) int { return cmp.Compare(lagOf(a), lagOf(b)) })
	return "agent " + most.Name, lagOf(most), most.Outcome.Pauses
}

func lagOf(p agent.Part) int64 { return p.Outcome.Histograms.GeneratorLag.Quantile(0.99) }

// heldUp says how the process that is who stood still; empty if it did so for too short a time to matter.
func (t trial) heldUp(who string, p worker.Pauses, p99 int64, measured string) remark.Remark {
	late := p.Late.Quantile(0.99)
	if !t.Scheduled {
		stood := float64(p.Within(t.From, t.Until)) / float64(max(1, t.Until-t.From))
		if stood < stoodShare {
			return remark.Remark{}
		}
		return remark.Of("%s stood still for %.1f %% of the time, so a rate without a schedule is that much too low%s", who, 100*stood, t.longestPause(p))
	}
	if late <= int64(time.Millisecond) || late <= p99/10 {
		return remark.Remark{}
	}
	return remark.Of("%s or its machine kept a thread that only sleeps waiting for %s at p99, %s was %s%s", who, ms(late), measured, ms(p99), t.longestPause(p))
}

// longestPause names the longest standstill of the measured phase; empty where there was none.
func (t trial) longestPause(p worker.Pauses) remark.Remark {
	s := p.Longest(t.From, t.Until)
	if s.To-s.From < int64(clock.Standstill) {
		return remark.Remark{}
	}
	return remark.Of("; the longest pause was %s, %s into the measured phase", ms(s.To-s.From), ms(s.From-t.From))
}

// missedRate says how much less came through than was offered; empty where the schedule was kept.
func (b *bench) missedRate(t trial) remark.Remark {
	m := t.Measured
	seconds := float64(t.Until-t.From) / 1e9
	if !t.Scheduled || seconds <= 0 || m.Due == 0 {
		return remark.Remark{}
	}
	acked, _ := t.rates(seconds)
	due := float64(m.Due) / seconds
	var parts []remark.Remark
	if m.Unsent > 0 {
		parts = append(parts, remark.Of("%d of %d messages due were never sent", m.Unsent, m.Due))
	}
	// What a fault delays is its outage.
	if behind := 1 - acked/due; behind > missedShare && behind*seconds > missedLong && len(b.spec.Faults) == 0 || m.Unsent > 0 {
		parts = append(parts, remark.Of("%s of %s came through", wholeRate(acked), wholeRate(due)))
	}
	if len(parts) > 0 {
		parts = append(parts, b.spent(t)...)
	}
	return remark.List(parts, "; ")
}

// heldShare is the share of their time above which producers are reported as waiting for confirmations.
const heldShare = 0.5

// spent states the processor time of broker and generator, and how long a full window held the producers up: where a rate was
// missed, these show whether broker or generator was the limit. A broker that spends most of its time in the kernel waits for
// the file system, which slows down with thousands of files.
func (b *bench) spent(t trial) (words []remark.Remark) {
	s, cores := t.Cost.Shares, b.lab.host.Cores
	if s == nil {
		return nil
	}
	switch theirs := t.coresOfMachines(); {
	case theirs > 0:
		words = append(words, remark.Of("the agents used %.1f of the %d cores of their machines", s.Generator, theirs))
	case t.Cost.BrokerKnown:
		words = append(words, remark.Of("the broker used %.1f (%.1f of it in the kernel) and the generator %.1f of %d cores", s.Broker, s.BrokerSystem, s.Generator, cores))
	default:
		words = append(words, remark.Of("the generator used %.1f of %d cores", s.Generator, cores))
	}
	if held := t.Blocked.Seconds() / t.sendingTime(); held > heldShare {
		words = append(words, remark.Of("producers waited for a free place in the window for %.0f %% of their time", 100*held))
	}
	return words
}

// wholeRate is a rate in a sentence: whole messages, or three digits where they are few.
type wholeRate float64

func (r wholeRate) String() string {
	if r < 100 {
		return fmt.Sprintf("%.3g/s", float64(r))
	}
	return fmt.Sprintf("%.0f/s", float64(r))
}
