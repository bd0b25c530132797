package lab

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
)

// With --agents the load runs in agents: processes on this machine or on others, each with some of the producers and
// consumers. The outcome of a load (trial) holds an agent.Part for each agent: what that one sent, received and used.
// This file finds out which agent sent latest, and how busy their machines were. For example, of two agents that sent 0.1 ms and 3 ms
// late at p99, the second counts: the load is only as punctual as its latest part.

// storedAgents returns the stored form of the agents that ran a trial.
func storedAgents(parts []agent.Part) []store.Agent {
	var list []store.Agent
	for _, p := range parts {
		a := store.Agent{
			Name: p.Name, Host: p.Host, Cores: p.Cores, Producers: p.Outcome.Producers, Consumers: p.Consumers,
			ClockOffsetNs: p.Offset, ClockBoundNs: p.Bound, StartLateNs: p.StartedLate,
			GeneratorLagP99Ns: ownLagP99(p), CoresUsed: coresUsed(p),
		}
		if p.Clock != nil {
			a.ClockKeptBy, a.ClockKeptNs = p.Clock.By, int64(p.Clock.Bound)
		}
		list = append(list, a)
	}
	return list
}

// ownLagP99 returns how late an agent sent by its own fault, in ns.
func ownLagP99(p agent.Part) int64 { return p.Outcome.Histograms.GeneratorLag.Quantile(0.99) }

// coresUsed returns the cores that an agent used in its measured phase; 0 if the phase was too short to tell.
func coresUsed(p agent.Part) float64 {
	begin, until := p.PhaseReadings()
	elapsed := seconds(begin.At, until.At)
	if elapsed < shareWindow.Seconds() {
		return 0
	}
	return (processor(until.Used) - processor(begin.Used)) / elapsed
}

// useAgents replaces this process's usage by that of the agents in the three readings of a trial (metering). Without agents, the
// readings stay as they are.
func useAgents(parts []agent.Part, begin, end, drained *reading) {
	if len(parts) == 0 {
		return
	}
	for _, r := range []*reading{begin, end, drained} {
		r.self, r.gc, r.queued = provision.Usage{}, 0, 0
	}
	for _, p := range parts {
		first, last := p.PhaseReadings()
		begin.addAgent(first)
		end.addAgent(last)
		drained.addAgent(p.End)
	}
}

// addAgent adds what an agent's process had used.
func (r *reading) addAgent(a agent.Reading) {
	r.self = r.self.Plus(a.Used)
	r.gc += a.GC
	r.queued += a.Queued
}

// coreUse is how many of its machine's cores one agent used, or all agents of a machine together. For example, two
// agents that use 1.5 of 4 cores each have 3 of 4 in use together.
type coreUse struct {
	machine      string   // empty for a single agent
	agents       []string // their names
	used, usable float64  // cores
}

func (u coreUse) String() string {
	if len(u.agents) == 1 {
		return "agent " + u.agents[0]
	}
	return "agents " + strings.Join(u.agents, " and ") + " together"
}

// machineUses returns the use of cores by all agents of each machine, in the order of the machines' first agents.
func machineUses(parts []agent.Part) []coreUse {
	var uses []coreUse
	for _, p := range parts {
		i := slices.IndexFunc(uses, func(u coreUse) bool { return u.machine == p.Machine })
		if i < 0 {
			i = len(uses)
			uses = append(uses, coreUse{machine: p.Machine, usable: float64(p.Cores)})
		}
		uses[i].agents = append(uses[i].agents, p.Name)
		uses[i].used += coresUsed(p)
	}
	return uses
}

// generatorUse returns how late and how busy the generator of a trial was. Of several agents, the one that sent
// latest counts, and the one that used the largest share of its usable cores. Agents of one machine share its
// cores, so they also count together. cores are this machine's.
func (t trial) generatorUse(cores int) search.Generator {
	if len(t.Parts) == 0 {
		return search.Generator{
			LagP99: t.Histograms.GeneratorLag.Quantile(0.99), UsedCores: t.generatorCores(), Cores: usableCores(cores, t.Procs),
		}
	}
	var uses []coreUse
	for _, p := range t.Parts {
		uses = append(uses, coreUse{agents: []string{p.Name}, used: coresUsed(p), usable: usableCores(p.Cores, p.Outcome.Procs)})
	}
	for _, u := range machineUses(t.Parts) {
		if len(u.agents) > 1 {
			uses = append(uses, u)
		}
	}
	// Shares are compared without a division, since usable may be 0.
	busiest := slices.MaxFunc(uses, func(a, b coreUse) int { return cmp.Compare(a.used*b.usable, b.used*a.usable) })
	latest := t.latest()
	return search.Generator{
		LagP99: latest.lagP99, LatestAgent: latest.name, UsedCores: busiest.used, Cores: busiest.usable, BusiestAgents: busiest.String(),
	}
}

// usableCores returns how many of its machine's cores a process may use that runs Go code on at most so many
// threads; mostThreads is 0 if their number is not known.
func usableCores(cores, mostThreads int) float64 {
	if mostThreads > 0 {
		cores = min(cores, mostThreads)
	}
	return float64(cores)
}

// lacksThreads reports whether the generator was busy with fewer threads than its machine has cores, so that more
// threads would help. For example, 2 threads of 8 cores that use 1.9 cores lack threads. cores are this machine's.
func (t trial) lacksThreads(evidence search.Evidence, passRule search.Rule, cores int) bool {
	fewer := t.Procs < cores
	if len(t.Parts) > 0 {
		fewer = slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return p.Outcome.Procs < p.Cores })
	}
	return fewer && evidence.Generator.UsedCores > passRule.MaxBusyShare*evidence.Generator.Cores
}

// coresOfAgentMachines returns the sum of the cores of the agents' machines, and whether one of them is another
// machine than this one.
func (t trial) coresOfAgentMachines() (cores int, elsewhere bool) {
	for _, u := range machineUses(t.Parts) {
		cores += int(u.usable)
	}
	return cores, slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return !p.OnThisMachine })
}

// generatorCores returns the cores that the generator used; 0 if that is not known.
func (t trial) generatorCores() float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	return t.Cost.Shares.Generator
}

// generatorCoresHere returns the cores of this machine that the generator used; 0 if that is not known.
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

// coresInUseHere returns the cores of this machine that generator, relays and broker used; 0 if that is not known.
func (b *bench) coresInUseHere(t trial) float64 {
	if t.Cost.Shares == nil {
		return 0
	}
	inUse := t.generatorCoresHere() + t.Cost.Shares.Relays
	if b.meters.brokerIsHere() {
		inUse += t.Cost.Shares.Broker
	}
	return inUse
}
