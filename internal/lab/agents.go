package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
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

// With --agents auto, a run begins with few agents (processes that send and receive, here or on other machines), and
// takes more whenever they, and not the broker, limit a trial.

// growingTrial is runTrial for a load that the generator must not limit. If it did, the load is run again: with all threads if it had too
// few, and then with more agents if they can share it. For example first on 1 agent, then on 2, which keep up. A load that ends with a
// number of messages, and a closed loop, get all threads at once: what a first try left in a limited queue would be refused or dropped in
// the second one.
func (b *bench) growingTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	if load.Messages > 0 || load.Schedule == nil {
		load.RateForThreads = allThreads
	}
	for {
		t := b.runTrial(ctx, stage, rate, load)
		if t.Err != nil {
			return t
		}
		why, limited := b.generatorLimit(t, rate)
		if !limited {
			return t
		}
		if b.lacksThreads(t) { // before more agents are taken, the generator gets all threads
			if load.RateForThreads > 0 {
				return t // there are no more, or the search or the curve that set it gives its other loads as many
			}
			load.RateForThreads = allThreads
			continue
		}
		agents, ok := b.moreAgents(ctx, why)
		if !ok {
			return t
		}
		b.announce(fmt.Sprintf("connecting %d agents", agents))
		if err := b.prepareAgain(ctx); err != nil {
			t.Err = err
			return t
		}
	}
}

// moreAgents takes more agents, because the generator was at its limit as why says, and returns how many there are then.
// ok is false if there are no more, or if no more can share the load; reports that blame the generator then say so
// (whyNoMore).
func (b *bench) moreAgents(ctx context.Context, why remark.Remark) (agents int, ok bool) {
	grower, ok := b.clients.agent.(agent.Grower)
	if !ok { // the number of agents is fixed, or this process is the only one
		return 0, false
	}
	most := undivided(b.spec) // --agents auto allows no point that divides a topic
	agents, grown := grower.Grow(ctx, most, why.Text)
	switch {
	case grown:
		b.record.Growth = append(b.record.Growth, store.Growth{Agents: agents, Reason: why.Text, Figures: why.Figures})
	case agents >= most:
		b.clients.exhausted = "there are as many agents as topics, or groups of topics that share connections"
	default:
		b.clients.exhausted = fmt.Sprintf("all agents that are there are in use (%d)", agents)
	}
	return agents, grown
}

// whyNoMore returns a clause that ends a sentence about a limit of the generator: why agents can't lift it. It is empty
// if no more agents were asked for.
func (b *bench) whyNoMore() string {
	if b.clients.exhausted == "" {
		return ""
	}
	return "; " + b.clients.exhausted
}
