package lab

import (
	"cmp"
	"slices"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// A process stands still while its garbage collector stops it, or while the machine or the hypervisor runs something else. In
// such a pause it neither sends nor receives, so messages are late through no fault of the broker. A thread that only sleeps notes
// when it wakes up late: worker.Pauses has how late each wake-up was (Late), and when the process stood still for longer (Stops).
// This file says what pauses may have done to the figures.

// pauses returns how long this process stood still in the measured phase, in the stored form. The longest pause may also come after the
// phase, while messages of it were still under way.
func pauses(t trial) *store.Pauses {
	longest := t.Pauses.Longest(t.From, max(t.Until, t.LastReceived, t.LastAcked))
	p := &store.Pauses{
		Late: t.Pauses.Late, LongestNs: longest.To - longest.From,
		GCPauseNs: int64(t.GCPause), StolenSeconds: t.Stolen.Seconds(), QueuedSeconds: t.Queued.Seconds(),
	}
	if p.LongestNs > 0 {
		p.LongestOffsetNs = longest.From - t.From
	}
	if t.relayed != nil {
		p.Relays = t.relayed.Late
	}
	for _, before := range t.before {
		*p = pausesTogether(*p, *pauses(before))
	}
	return p
}

// ownDelay returns the part that generator and relays may have in the latencies of a trial.
func (t trial) ownDelay() store.OwnDelay {
	return store.Measurement{Latency: store.Latency{GeneratorLag: t.Histograms.GeneratorLag}, Pauses: pauses(t), Cost: t.Cost}.OwnDelay()
}

// loadProcess is one of the processes, besides the broker, that messages of a trial passed.
type loadProcess struct {
	name   string // "agent a on host", or a name for this process
	lagP99 int64  // how late it sent by its own fault, ns
	pauses worker.Pauses
}

// generators returns the processes that sent and received: those of agents if there are any, else this one, under the name self.
func (t trial) generators(self string) []loadProcess {
	if len(t.Parts) == 0 {
		return []loadProcess{{name: self, lagP99: t.Histograms.GeneratorLag.Quantile(0.99), pauses: t.Pauses}}
	}
	var list []loadProcess
	for _, p := range t.Parts {
		list = append(list, loadProcess{name: "agent " + p.Name, lagP99: ownLagP99(p), pauses: p.Outcome.Pauses})
	}
	return list
}

// latest returns the generator that sent latest.
func (t trial) latest() loadProcess {
	byLag := func(a, b loadProcess) int { return cmp.Compare(a.lagP99, b.lagP99) }
	return slices.MaxFunc(t.generators("the generator itself"), byLag)
}

// mostPaused returns the generator that stood still for the longest time in the measured phase.
func (t trial) mostPaused() loadProcess {
	return slices.MaxFunc(t.generators("this process"), func(a, b loadProcess) int {
		return cmp.Compare(a.pauses.StoodStill(t.From, t.Until), b.pauses.StoodStill(t.From, t.Until))
	})
}

// shownQuantiles are the quantiles of a latency that doubts look at. Fewer latencies than least say nothing of one.
var shownQuantiles = []struct {
	q     float64
	name  string
	least int64
}{{0.5, "p50", 1}, {0.99, "p99", 100}, {0.999, "p99.9", 1000}, {1, "the maximum", 1}}

// doubtOwnDelay adds a doubt if more than a tenth of a latency may be the generator's own, at one of the quantiles that are shown. Of the
// maximum it must be a standstill as well, since some wake-up is always late. measured says what the latency is of. For example:
//
//	the generator's own delay may be up to 71.2ms of 71.6ms at p99.9 of the latency end to end; the longest pause was 97ms, 1.2s into the
//	measured phase
//
// The doubt is of pauses if pauses alone may make up a tenth, and of the generator's lag otherwise.
func (b *bench) doubtOwnDelay(t trial, measured string, d *doubts) {
	latency, own := b.latency(t), t.ownDelay()
	without, withoutPauses := b.latencyWithoutOwn(t), own.WithoutPauses(latency.Quantile)
	var parts []remark.Remark
	var quantiles []float64
	largest := 0.0 // share of a latency
	kind, paused := doubt.GeneratorLag, t.mostPaused()
	stoodStill := max(own.Pauses.LongestNs, own.Pauses.Relays.Max()) >= int64(clock.Standstill)
	for _, shown := range shownQuantiles {
		all := latency.Quantile(shown.q)
		part := all - without(shown.q)
		if latency.Count() < shown.least || part <= all/10 || shown.q == 1 && part < int64(clock.Standstill) {
			continue
		}
		parts = append(parts, remark.Of("%s of %s at "+shown.name, told(part), told(all)))
		quantiles, largest = append(quantiles, shown.q), max(largest, share(part, all))
		if stoodStill && all-withoutPauses(shown.q) > all/10 {
			kind = doubt.Pauses
		}
	}
	if len(parts) == 0 {
		return
	}
	who := remark.Of("")
	if latest := t.latest(); len(t.Parts) > 1 {
		who = remark.Of("; %s sent latest", latest.name)
	}
	pause := t.longestPause(paused.pauses)
	if t.relayed != nil && own.Pauses.Relays.Max() > own.Pauses.LongestNs {
		who, pause = remark.Of("; a relay stood still"), t.longestPause(*t.relayed)
	}
	made := d.add(kind, "the generator's own delay may be up to %s of the latency %s%s%s", remark.Join(parts, ", "), measured, who, pause)
	made.Share, made.Quantiles = largest, quantiles
}

// doubtSlowedLoop adds a doubt if standstills lowered the rate of a closed loop.
func (t trial) doubtSlowedLoop(d *doubts) {
	if why, paused := t.slowedLoop(); why.Text != "" {
		d.add(doubt.Pauses, "%s", why).Share = paused
	}
}

// slowedLoop says that a process stood still for more than a hundredth of a closed loop, which lowers the loop's rate by as much; empty if
// none did. For example:
//
//	this process stood still for 2.4 % of the time, so a rate without a schedule is that much too low; the longest pause was 80ms, 1.2s into
//	the measured phase
func (t trial) slowedLoop() (why remark.Remark, paused float64) {
	p := t.mostPaused()
	if t.relayed != nil && t.relayed.StoodStill(t.From, t.Until) > p.pauses.StoodStill(t.From, t.Until) { // a message passes one of the relays
		p = loadProcess{name: "a relay", pauses: *t.relayed}
	}
	paused = float64(p.pauses.StoodStill(t.From, t.Until)) / float64(max(1, t.Until-t.From))
	if paused < 0.01 {
		return remark.Remark{}, 0
	}
	return remark.Of("%s stood still for %.1f %% of the time, so a rate without a schedule is that much too low%s",
		p.name, 100*paused, t.longestPause(p.pauses)), paused
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
