package lab

import (
	"time"

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
	// stolenShare is the share of the measured phase for which bursts may hold up messages before the p99 is doubted.
	stolenShare = 0.01
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

// stolenEffect says that bursts may have shaped the latency's p99, in ns; empty if they did not. A message that is sent in the middle of
// a burst waits for the rest of it. So with a p99 of 100 ms, messages of the first 140 ms of a burst of 190 ms waited for more than half
// of the p99. If such times add up to more than stolenShare of the measured phase, the p99 is doubted. measured says what the latency is of.
func (t trial) stolenEffect(p99 int64, measured string) remark.Remark {
	var longest burst
	var all, waitedLong time.Duration
	lastHeldUp := max(t.Until, t.LastReceived) // what the phase has sent may arrive in the drain
	for _, b := range t.bursts {
		if b.at <= t.From || b.from >= lastHeldUp {
			continue
		}
		if b.taken > longest.taken {
			longest = b
		}
		all += b.taken
		waitedLong += max(0, b.taken-time.Duration(p99/2))
	}
	if p99 == 0 || waitedLong.Seconds() <= stolenShare*t.phaseSeconds() {
		return remark.Remark{}
	}
	return remark.Of("the hypervisor took %s of core %d within half a second, %s after the measured phase began, and %s in all such times: what ran there stood still, and %s was %s at p99",
		longest.taken, longest.core, told(longest.at-t.From), all, measured, told(p99))
}
