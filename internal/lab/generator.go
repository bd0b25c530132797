package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// The generator is what sends and receives the load: this process, or agents on this machine and others. This file
// finds out whether it reached its own limits, because then a trial says nothing about the broker.
//
// In a trial that was too short for the kernel's coarse accounting, the cores in use are not known. They count as 0:
// no process is called busy without evidence. The agents of a trial measure the same phase, so their sums don't mix known
// and unknown ones.

// generatorUse returns how late and how busy the generator of a trial was. Of several agents, the one that sent latest
// counts, since a load is only as punctual as its latest part: if one was 0.1 ms late at p99 and another one 3 ms, it
// is 3 ms. Likewise the one that used the largest share of its cores counts, or all agents of a machine together, since
// they share its cores. cores are this machine's.
func (t trial) generatorUse(cores int) search.Generator {
	if len(t.Parts) == 0 {
		return search.Generator{
			LagP99:    t.Histograms.GeneratorLag.Quantile(0.99),
			UsedCores: t.generatorCores(), Cores: float64(usableCores(cores, t.Procs)),
			Busiest: t.Busiest.Name, BusiestShare: t.Busiest.Share,
		}
	}
	uses := useByAgent(t.Parts)
	for _, machine := range useByMachine(t.Parts) {
		if len(machine.agents) > 1 {
			uses = append(uses, machine)
		}
	}
	busiest := slices.MaxFunc(uses, func(a, b coreUse) int { return cmp.Compare(a.share(), b.share()) })
	latest := t.latest()
	serial := slices.MaxFunc(t.Parts, func(a, b agent.Part) int { return cmp.Compare(a.Outcome.Busiest.Share, b.Outcome.Busiest.Share) })
	return search.Generator{
		LagP99: latest.lagP99, LatestAgent: latest.name,
		UsedCores: busiest.used, Cores: float64(busiest.usable), BusiestAgents: busiest.String(),
		Busiest: busiestOf(serial), BusiestShare: serial.Outcome.Busiest.Share,
	}
}

// busiestOf names the busiest goroutine of an agent; empty if it is not known.
func busiestOf(p agent.Part) string {
	if p.Outcome.Busiest.Name == "" {
		return ""
	}
	return p.Outcome.Busiest.Name + " of agent " + p.Name
}

// dropsAt names the client setting by which the client library drops deliveries, with its value: "client.PendingMsgsLimit: 20".
func (b *bench) dropsAt() string {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil || kind.Drops == "" {
		return "the library's own limit"
	}
	settings, err := driver.Decode(kind.Settings, driver.ClientScope, b.spec.Client)
	if err != nil {
		return "client." + kind.Drops
	}
	return fmt.Sprintf("client.%s: %v", kind.Drops, settings[kind.Drops])
}

// usableCores returns how many cores a process can use that runs Go code on so many threads; threads is 0 if their
// number is not known, and then it is all cores.
func usableCores(cores, threads int) int {
	if threads == 0 {
		return cores
	}
	return min(cores, threads)
}

// allThreads is a worker.Load.RateForThreads that is more than one thread carries, so the generator gets all.
const allThreads = math.MaxFloat64

// lacksThreads reports whether the generator was busy with fewer threads than its machine has cores, so that more
// threads would help. For example, 2 threads on 8 cores that use 1.9 cores lack threads.
func (b *bench) lacksThreads(t trial) bool {
	cores, use := b.lab.machine.Cores, t.generatorUse(b.lab.machine.Cores)
	fewer := usableCores(cores, t.Procs) < cores
	if len(t.Parts) > 0 {
		fewer = slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return usableCores(p.Cores, p.Outcome.Procs) < p.Cores })
	}
	return fewer && use.UsedCores > rule(b.spec).MaxBusyShare*use.Cores
}

// generatorCores returns the cores that the generator used, on all machines together.
func (t trial) generatorCores() float64 {
	if t.Cost.Shares == nil { // not known
		return 0
	}
	return t.Cost.Shares.Generator
}

// generatorCoresHere returns the cores of this machine that the generator used.
func (t trial) generatorCoresHere() float64 {
	if len(t.Parts) == 0 {
		return t.generatorCores()
	}
	var sum float64
	for _, p := range t.Parts {
		if p.OnThisMachine {
			sum += coresUsed(p)
		}
	}
	return sum
}

// coresInUseHere returns the cores of this machine that generator, relays and broker used together.
func (b *bench) coresInUseHere(t trial) float64 {
	if t.Cost.Shares == nil { // not known
		return 0
	}
	inUse := t.generatorCoresHere() + t.Cost.Shares.Relays
	if b.meters.brokerIsHere() {
		inUse += t.Cost.Shares.Broker
	}
	return inUse
}

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

// clientLimit reports whether the client set the pace of a closed loop, and why: a goroutine used a whole core, or the window was
// hardly ever full, though the producers had no work of their own. At most once nothing fills the window, so only the first
// counts. If no core was idle, the cores were the limit.
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
