package lab

import (
	"cmp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// With --agents the load runs in agents: processes on this machine or on others, each with a part of the producers and consumers. This
// file accounts for them: what they used, which of them sent latest, and how many of their machines' cores were busy.

// agentsOf returns the stored form of the agents that ran a trial.
func agentsOf(parts []agent.Part) []store.Agent {
	var list []store.Agent
	for _, p := range parts {
		a := store.Agent{
			Name: p.Name, Host: p.Host, Cores: p.Cores, Producers: p.Outcome.Producers,
			ClockOffsetNs: p.Offset, ClockBoundNs: p.Bound, StartLateNs: p.Late, Consumers: p.Consumers,
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
	begin, until := p.Bounds()
	elapsed := seconds(begin.At, until.At)
	if elapsed < shareWindow.Seconds() {
		return 0
	}
	return (processor(until.Used) - processor(begin.Used)) / elapsed
}

// withAgents returns r with the usage of the agents' processes in place of this process's. pick chooses the reading of an agent.
// If there are no agents, r stays as it is.
func (r reading) withAgents(parts []agent.Part, pick func(agent.Part) agent.Reading) reading {
	if len(parts) == 0 {
		return r
	}
	r.self, r.gc, r.queued = provision.Usage{}, 0, 0
	for _, p := range parts {
		one := pick(p)
		r.self.User += one.Used.User
		r.self.System += one.Used.System
		r.self.RSSBytes += one.Used.RSSBytes
		r.gc += one.GC
		r.queued += one.Queued
	}
	return r
}

// coreUse is how many of their cores some agents used.
type coreUse struct {
	agents     []string
	used, most float64 // most is how many they may use
}

func (u coreUse) String() string {
	if len(u.agents) == 1 {
		return "agent " + u.agents[0]
	}
	return "agents " + strings.Join(u.agents, " and ") + " together"
}

// generatorUse returns how late and how busy the generator of a trial was. Of several agents these are the one that sent latest, and
// the one that used the largest part of the cores that it may use. Agents of one machine share its cores, so they also count
// together. cores are this machine's.
func (t trial) generatorUse(cores int) search.Generator {
	if len(t.Parts) == 0 {
		return search.Generator{
			LagP99: t.Histograms.GeneratorLag.Quantile(0.99), UsedCores: t.generatorCPU(), Cores: float64(usableCores(cores, t.Outcome)),
		}
	}
	latest := slices.MaxFunc(t.Parts, func(a, b agent.Part) int { return cmp.Compare(ownLagP99(a), ownLagP99(b)) })
	var uses []coreUse
	for _, p := range t.Parts {
		uses = append(uses, coreUse{agents: []string{p.Name}, used: coresUsed(p), most: float64(usableCores(p.Cores, p.Outcome))})
	}
	severalAgents := slices.DeleteFunc(machineUses(t.Parts), func(u coreUse) bool { return len(u.agents) == 1 })
	uses = append(uses, severalAgents...)
	busiest := slices.MaxFunc(uses, func(a, b coreUse) int { return cmp.Compare(a.used*b.most, b.used*a.most) })
	return search.Generator{
		LagP99: ownLagP99(latest), LatestAgent: "agent " + latest.Name,
		UsedCores: busiest.used, Cores: busiest.most, BusiestAgents: busiest.String(),
	}
}

// usableCores returns how many of a machine's cores the process of an outcome may use: it may have had fewer threads.
func usableCores(cores int, o worker.Outcome) int {
	if o.Procs > 0 {
		return min(cores, o.Procs)
	}
	return cores
}

// machineUses returns the use of cores by all agents of each machine, in the order of the machines' first agents.
func machineUses(parts []agent.Part) []coreUse {
	var uses []coreUse
	index := map[string]int{} // by machine
	for _, p := range parts {
		i, known := index[p.Machine]
		if !known {
			i = len(uses)
			index[p.Machine] = i
			uses = append(uses, coreUse{most: float64(p.Cores)})
		}
		uses[i].agents = append(uses[i].agents, p.Name)
		uses[i].used += coresUsed(p)
	}
	return uses
}

// lacksThreads reports whether the generator was busy with fewer threads than its machine has cores: it may go on with more.
func (t trial) lacksThreads(e search.Evidence, r search.Rule, cores int) bool {
	fewer := t.Procs < cores
	if len(t.Parts) > 0 {
		fewer = slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return p.Outcome.Procs < p.Cores })
	}
	return fewer && e.Generator.UsedCores > r.MaxBusyShare*e.Generator.Cores
}

// coresOfAgentMachines returns the sum of the cores of the agents' machines; false if they are this machine alone.
func (t trial) coresOfAgentMachines() (cores int, elsewhere bool) {
	for _, u := range machineUses(t.Parts) {
		cores += int(u.most)
	}
	return cores, slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return !p.Here })
}

// coresHere returns the cores of this machine that the generator used.
func (t trial) coresHere() float64 {
	if len(t.Parts) == 0 {
		return t.generatorCPU()
	}
	var sum float64
	for _, p := range t.Parts {
		if p.Here {
			sum += coresUsed(p)
		}
	}
	return sum
}
