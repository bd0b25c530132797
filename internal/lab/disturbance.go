package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/search"
)

// Other processes on the machine, and a hypervisor, take processor time from broker and generator. A trial (one load) that they disturbed
// gets a doubt. If it failed meanwhile, the broker need not be to blame: it is void, neither passed nor failed. For example, a trial on
// 4 cores fails while a backup uses 1.0 of them, more than a tenth: it is void.

const (
	// usedUpShare is the share of the cores above which they count as used up: the rest goes to interrupts and to waiting.
	usedUpShare = 0.9
	// busyShare is the share of all cores above which other processes count as disturbing a measurement.
	busyShare = 0.1
	// shownCores is the least number of cores that sentences mention: less would be shown as 0.0.
	shownCores = 0.05
)

// disturbingCores returns how many cores other processes and the hypervisor took from a trial; 0 if that is not known. If the broker may
// be one of the other processes, only what the hypervisor took is certain.
func (t trial) disturbingCores() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	if t.brokerMayBeNeighbour {
		return t.coresOver(t.neighbours.Stolen)
	}
	return t.Cost.Shares.Others
}

// coresOver returns how many cores a processor time used comes to, over the time of the trial's shares: 3 s in 2 s are 1.5 cores. The
// trial must have shares.
func (t trial) coresOver(used time.Duration) float64 { return used.Seconds() / t.Cost.Shares.Seconds }

// doubtCores adds doubts if broker and generator together used up the cores, or if other processes used many of them.
func (b *bench) doubtCores(t trial, d *doubts) {
	s, cores := t.Cost.Shares, float64(b.lab.machine.Cores)
	if s == nil {
		if t.Window > 0 { // the cost was metered
			d.add(doubt.CoarseCPU, "it took %s, and processor time is told too coarsely for that: cost means little, "+
				"and whether the generator or others used up the cores isn't known", told(int64(t.Window)))
		}
		return
	}
	if b.meters.brokerIsHere() && b.coresInUseHere(t) > usedUpShare*cores {
		d.add(doubt.SharedCores, "%s together used up the %.0f cores they share", b.usersHere(t), cores)
	}
	if b.reachedCPULimit(t) {
		d.add(doubt.CPULimit, "the broker used %.2f of the %.2f cores that limits.broker.cpu leaves it: the limit set the pace", s.Broker, b.cpuLimit())
	}
	if s.Others > busyShare*cores {
		d.add(doubt.BusyMachine, "%s", t.usedByOthers(cores)).Share = min(1, s.Others/cores)
	}
	// Only the first doubt of a code is kept: this one if the processes that can be seen were idle. Over less than a second, the
	// kernel's rounding alone may come to that much.
	if unseen := t.coresOver(t.neighbours.Unseen); unseen > busyShare*cores && s.Seconds >= 1 {
		d.add(doubt.BusyMachine, "processes that can't be seen from here used %.1f of the %.0f cores meanwhile", unseen, cores)
	}
}

// usersHere names what of the measurement shares this machine's cores, and how many each used. The trial must have shares.
func (b *bench) usersHere(t trial) remark.Remark {
	s := t.Cost.Shares
	switch {
	case !b.meters.brokerIsHere():
		return remark.Of("generator (%.1f)", t.generatorCoresHere())
	case b.clients.relays != nil:
		return remark.Of("broker (%.1f), generator (%.1f) and relays (%.1f)", s.Broker, t.generatorCoresHere(), s.Relays)
	}
	return remark.Of("broker (%.1f) and generator (%.1f)", s.Broker, t.generatorCoresHere())
}

// usedByOthers states what other processes and the hypervisor used of the machine's cores: "other processes used 1.0 of the 2 cores
// meanwhile (java 0.9), and the hypervisor took 0.2". The trial must have shares.
func (t trial) usedByOthers(cores float64) remark.Remark {
	used, stolen := t.coresOver(t.neighbours.Used), t.coresOver(t.neighbours.Stolen)
	if used < shownCores {
		return remark.Of("the hypervisor took %.1f of the %.0f cores meanwhile", stolen, cores)
	}
	clauses := []remark.Remark{remark.Of("other processes used %.1f of the %.0f cores meanwhile", used, cores)}
	if t.neighbours.Biggest != "" {
		clauses = append(clauses, remark.Of(" (%s %.1f)", t.neighbours.Biggest, t.coresOver(t.neighbours.BiggestUsed)))
	}
	if stolen >= shownCores {
		clauses = append(clauses, remark.Of(", and the hypervisor took %.1f", stolen))
	}
	if t.brokerMayBeNeighbour {
		clauses = append(clauses, remark.Of("; the attached broker may be among them"))
	}
	return remark.Join(clauses, "")
}

// disturbed reports whether other processes, or the hypervisor, used more than a tenth of the cores meanwhile: a broker that they hold up
// looks like one at its limit.
func (t trial) disturbed(cores float64) bool { return t.disturbingCores() > busyShare*cores }

// voidIfDisturbed turns a failure into a void verdict if the trial was disturbed, so that the rate is tried again. A broken promise stays a
// failure.
func (t trial) voidIfDisturbed(judgement search.Judgement, cores float64) search.Judgement {
	if judgement.Verdict != search.Fail || judgement.Broken || !t.disturbed(cores) {
		return judgement
	}
	return search.Judgement{Verdict: search.Void, Reason: remark.Of("%s, and %s", t.usedByOthers(cores), judgement.Reason)}
}

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
			return remark.Of("the hypervisor took %s of core %d within half a second, %s after the measured phase began, and %s in all such times: "+
				"what ran there stood still, and the latency %s was %s at "+shown.name,
				longest.taken, longest.core, told(longest.at-t.From), all, measured, told(ns))
		}
	}
	return remark.Remark{}
}
