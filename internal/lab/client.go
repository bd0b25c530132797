package lab

import (
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// freeMost is the share of the producers' time up to which waiting for a free place in the window counts as none. A closed loop that hardly
// ever waits sends as fast as it can: the client sets the pace, and the broker may be faster.
const freeMost = 0.1

// generatorLimit reports whether the generator, and not the broker, limited a load, and how. If it did, more agents may help.
func (b *bench) generatorLimit(t trial, rate float64) (why remark.Remark, limited bool) {
	passRule, evidence := rule(b.spec), b.evidence(t, rate)
	why = passRule.Saturated(evidence) // late, out of cores, or dropping deliveries
	switch {
	case why.Text != "":
	case !t.Scheduled:
		return b.clientLimit(t)
	case passRule.FellBehind(evidence).Text != "":
		why = passRule.AtLimit(evidence)
	}
	return why, why.Text != ""
}

// clientLimit reports whether the client set the pace of a closed loop, and how that shows: a goroutine of it used up the one core that it
// can use, or its window of unconfirmed messages was hardly ever full, though the producers had no work of their own to do. At most once nothing fills the window, and only the first shows it.
// If no core was idle, the cores were the limit. For example, producers that waited for 2 % of their time for a free place would not have
// sent more to a broker that confirms at once.
func (b *bench) clientLimit(t trial) (why remark.Remark, limited bool) {
	outOfCores := b.coresInUseHere(t) > usedUpShare*float64(b.lab.machine.Cores)
	unknown := t.Cost.Shares == nil || t.Measured.Acked == 0
	if t.Scheduled || t.Rate > 0 || t.Preparing > busyApplication || outOfCores || unknown || len(b.spec.Faults) > 0 {
		return remark.Remark{}, false
	}
	if why := rule(b.spec).AtLimit(b.evidence(t, closedLoop)); why.Text != "" {
		return why, true
	}
	waited := t.Blocked.Seconds() / t.sendingTime()
	if b.spec.Measure == study.MeasureRead || b.spec.Delivery == "at-most-once" || waited >= freeMost {
		return remark.Remark{}, false
	}
	return remark.Of("producers waited for a free place in the window for only %.0f %% of their time", 100*waited), true
}

// setLimits sets what limited a closed loop, and doubts its rates if that was the client: the broker may be faster.
func (b *bench) setLimits(r *store.Result, t trial) {
	r.Limits = b.bottleneckOf(t).limits()
	if why, limited := b.clientLimit(t); limited && r.Limits.Are(limitClient) {
		b.doubt(doubt.GeneratorBound, "at least this: %s, so the client and not the broker set the pace%s", why, b.whyNoMore())
	}
}
