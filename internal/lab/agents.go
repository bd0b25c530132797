package lab

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
)

// With --agents the load runs in agents: processes on this machine or on others, each with some of the producers and
// consumers. After a load there is an agent.Part for each agent, which says what it sent, received and used. This file
// adds the parts up: by machine, whose cores its agents share, and over all agents, which together are the generator of
// the load.

// storedAgents returns the stored form of the agents that ran a trial.
func storedAgents(parts []agent.Part) []store.Agent {
	var list []store.Agent
	for _, p := range parts {
		list = append(list, store.Agent{
			Name: p.Name, Host: p.Host, Cores: p.Cores, Producers: p.Outcome.Producers, Consumers: p.Consumers,
			ClockOffsetNs: p.Offset, ClockBoundNs: p.Bound, StartLateNs: p.StartedLate,
			GeneratorLagP99Ns: ownLagP99(p), CoresUsed: coresUsed(p),
		})
	}
	return list
}

// ownLagP99 returns the p99, in ns, of how late an agent sent by its own fault.
func ownLagP99(p agent.Part) int64 { return p.Outcome.Histograms.GeneratorLag.Quantile(0.99) }

// coresUsed returns the cores that an agent used in its measured phase: its processor time, divided by the length of
// the phase. In a phase shorter than shareWindow (100 ms), the kernel's coarse accounting could show any number, so 0
// is returned: no process is called busy without evidence.
func coresUsed(p agent.Part) float64 {
	begin, end := p.PhaseReadings()
	elapsed := seconds(begin.At, end.At)
	if elapsed < shareWindow.Seconds() {
		return 0
	}
	return (processor(end.Used) - processor(begin.Used)) / elapsed
}

// useAgents replaces what this process has used by what the agents have used, in the three readings of a trial: at the
// begin and at the end of the measured phase, and after the drain. If there are no agents, this process is the
// generator, and the readings stay.
func useAgents(parts []agent.Part, begin, end, drained *reading) {
	if len(parts) == 0 {
		return
	}
	for _, r := range []*reading{begin, end, drained} {
		r.self, r.gc, r.queued = provision.Usage{}, 0, 0
	}
	for _, p := range parts {
		atBegin, atEnd := p.PhaseReadings()
		begin.addAgent(atBegin)
		end.addAgent(atEnd)
		drained.addAgent(p.End)
	}
}

// addAgent adds what an agent's process had used.
func (r *reading) addAgent(a agent.Reading) {
	r.self = r.self.Plus(a.Used)
	r.gc += a.GC
	r.queued += a.Queued
}

// coreUse is how many cores one agent used, or all agents of a machine together, of those that they may use. For
// example, two agents on a machine of 4 cores that use 1.5 cores each have 3 of 4 in use together.
type coreUse struct {
	agents []string // their names
	used   float64
	usable int
}

// share returns the share of the usable cores that was used.
func (u coreUse) share() float64 {
	if u.usable == 0 {
		return 0
	}
	return u.used / float64(u.usable)
}

// String names the agents for a sentence.
func (u coreUse) String() string {
	if len(u.agents) == 1 {
		return "agent " + u.agents[0]
	}
	return "agents " + strings.Join(u.agents, " and ") + " together"
}

// useByAgent returns the use of cores by each agent. With fewer threads than its machine has cores, an agent can't use
// all of them.
func useByAgent(parts []agent.Part) []coreUse {
	var uses []coreUse
	for _, p := range parts {
		uses = append(uses, coreUse{agents: []string{p.Name}, used: coresUsed(p), usable: usableCores(p.Cores, p.Outcome.Procs)})
	}
	return uses
}

// useByMachine returns the use of cores by all agents of each machine together, in the order of the machines' first
// agents. All cores of the machine are usable here: an agent that lacks threads for them shows in useByAgent.
func useByMachine(parts []agent.Part) []coreUse {
	var uses []coreUse
	indexOf := map[string]int{} // of a machine in uses
	for _, p := range parts {
		i, known := indexOf[p.Machine]
		if !known {
			i = len(uses)
			indexOf[p.Machine] = i
			uses = append(uses, coreUse{usable: p.Cores})
		}
		uses[i].agents = append(uses[i].agents, p.Name)
		uses[i].used += coresUsed(p)
	}
	return uses
}

// coresOfAgentMachines returns the sum of the cores of the agents' machines, and whether one of them is another machine
// than this one.
func (t trial) coresOfAgentMachines() (cores int, elsewhere bool) {
	for _, machine := range useByMachine(t.Parts) {
		cores += machine.usable
	}
	return cores, slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return !p.OnThisMachine })
}
