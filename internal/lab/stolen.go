package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/remark"
)

// While a hypervisor runs something else on one core, what ran there stands still, the broker for example. This process may see no
// pause then, because it ran on another core. 190 ms of one core, taken within a phase of 5 s, can make 3.8 % of the messages that late.

const (
	// leastBurst is the least time that has to be taken from one core, between two readings about half a second apart, to count as
	// a burst. Less may be many short times, which shape no high percentile.
	leastBurst = 50 * time.Millisecond
	// maxBursts bounds what a metering keeps: with a burst in every reading, those of more than an hour.
	maxBursts = 10_000
)

// burst is time that the hypervisor took from one core between two readings.
type burst struct {
	from  int64 // when the first was taken, ns on the clock's axis
	at    int64 // when the second was taken
	core  int
	taken time.Duration
}

// addBurst notes the core that lost most between two readings, if that was a burst.
func (m *metering) addBurst(from, to reading) {
	most := burst{from: from.at, at: to.at}
	for core, stolen := range to.stolen {
		if before, known := from.stolen[core]; known && stolen-before > most.taken {
			most.core, most.taken = core, stolen-before
		}
	}
	elapsed := time.Duration(to.at - from.at)
	if most.taken >= max(leastBurst, elapsed/10) && len(m.bursts) < maxBursts {
		m.bursts = append(m.bursts, most)
	}
}

// stolenEffect says that bursts may have shaped a latency; empty if they did not. A message that is sent in the middle of a burst waits for
// the rest of it. So with a p99 of 100 ms, messages of the first 140 ms of a burst of 190 ms waited for more than half of the p99. If such
// times add up to more than 1 % of the measured phase, the p99 is doubted; likewise the other quantiles that are shown, of which the lowest
// is named. measured says what the latency is of.
func (t trial) stolenEffect(latency hist.Snapshot, measured string) remark.Remark {
	var longest burst
	var all time.Duration
	var meanwhile []burst
	lastHeldUp := max(t.Until, t.LastReceived) // what the phase has sent may arrive in the drain
	for _, b := range t.bursts {
		if b.at <= t.From || b.from >= lastHeldUp {
			continue
		}
		meanwhile = append(meanwhile, b)
		if b.taken > longest.taken {
			longest = b
		}
		all += b.taken
	}
	for _, shown := range shownQuantiles {
		ns := latency.Quantile(shown.q)
		var waitedLong time.Duration
		for _, b := range meanwhile {
			waitedLong += max(0, b.taken-time.Duration(ns/2))
		}
		if latency.Count() >= shown.least && waitedLong.Seconds() > (1-shown.q)*t.phaseSeconds() {
			return remark.Of("the hypervisor took %s of core %d within half a second, %s after the measured phase began, and %s in all such times: what ran there stood still, and the latency %s was %s at "+shown.name,
				longest.taken, longest.core, told(longest.at-t.From), all, measured, told(ns))
		}
	}
	return remark.Remark{}
}
