package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// OnAgents refuses, before anything is started, a spec that so many agents can't run.
func OnAgents(s study.Spec, agents int) error {
	setting := fmt.Sprintf("--agents %d", agents)
	_, started := catalog.Started(s.Broker)
	switch {
	case !started:
		return driver.Unsupported(setting, "%s runs in this process, and no agent reaches it", s.Broker)
	case s.Pipeline != nil:
		return driver.Unsupported(setting, "a pipeline's parts run on this machine")
	case s.ConsumersApart:
		return driver.Unsupported(setting, "consumersApart: true starts a process of this machine for the consumers")
	case s.Relays > 0:
		return driver.Unsupported(setting, "relays run on this machine, and no agent hears of them")
	case agents > 1 && s.Place.Spread() && s.Warmup.Auto && slices.Contains([]string{study.MeasureRate, study.MeasurePeak, study.MeasureCurve}, s.Measure):
		return driver.Unsupported("place: "+s.Place.String(), "with warmup: auto nobody knows in time when the measured phase of the others begins; give it a time")
	case s.Place.Named() && len(s.Place.Agents()) != agents:
		return driver.Unsupported(setting, "place names %d agents: %s", len(s.Place.Agents()), strings.Join(s.Place.Agents(), ", "))
	case idle(s) != nil:
		return idle(s)
	case s.Place.Spread() && agents > things(s):
		return driver.Unsupported(setting, "place: %s has %d clients of producers and consumers to deal, and each agent needs one", s.Place, things(s))
	case !s.Place.Spread() && agents > streams(s):
		return driver.Unsupported(setting, "all streams of a topic, and topics that share connections, run on one agent, and there are %d of these; place: spread divides a topic", streams(s))
	}
	return nil
}

// WithoutAgents refuses a spec that places what nobody is there for.
func WithoutAgents(s study.Spec) error {
	if s.Place.Spread() {
		return driver.Unsupported("place: "+s.Place.String(), "there are no agents: --agents says how many")
	}
	return nil
}

// things are what can be dealt one by one: clients of producers, and consumers.
func things(s study.Spec) int {
	return streams(s)*s.ProducersPerTopic + streams(s)*s.ConsumersPerTopic()
}

// idle refuses names in place for which there is nothing to do.
func idle(s study.Spec) error {
	for _, one := range []struct {
		what  string
		names []string
		n     int
	}{{"producers", s.Place.Producers, streams(s) * s.ProducersPerTopic}, {"consumers", s.Place.Consumers, streams(s) * s.ConsumersPerTopic()}} {
		if len(one.names) > one.n {
			return driver.Unsupported("place: "+s.Place.String(), "%d agents are to have %s, and there are %d to deal", len(one.names), one.what, one.n)
		}
	}
	return nil
}

// placed is where agents are to have what.
func placed(s study.Spec) agent.Place {
	return agent.Place{Spread: s.Place.Deal == study.PlaceSpread, Producers: s.Place.Producers, Consumers: s.Place.Consumers}
}

// streams are the topics, or the groups of topics that share connections.
func streams(s study.Spec) int {
	if s.Connections > 0 {
		return min(s.Connections, s.Topics)
	}
	return s.Topics
}

// agentsHere are the agents' processes on this machine.
func (l *lab) agentsHere() []int {
	if l.AgentsHere == nil {
		return nil
	}
	return l.AgentsHere()
}

func agentsOf(parts []agent.Part) (list []store.Agent) {
	for _, p := range parts {
		one := store.Agent{
			Name: p.Name, Host: p.Host, Cores: p.Cores, Producers: p.Outcome.Producers,
			ClockOffsetNs: p.Offset, ClockBoundNs: p.Bound, StartLateNs: p.Late, Consumers: p.Consumers,
			GeneratorLagP99Ns: lagOf(p), CoresUsed: cores(p),
		}
		if p.Clock != nil {
			one.ClockKeptBy, one.ClockKeptNs = p.Clock.By, int64(p.Clock.Bound)
		}
		list = append(list, one)
	}
	return list
}

// byAgents replaces what this process used by what the agents' processes did.
func byAgents(begin, until, end reading, parts []agent.Part) (reading, reading, reading) {
	if len(parts) == 0 {
		return begin, until, end
	}
	for r, of := range map[*reading]func(agent.Part) agent.Reading{
		&begin: func(p agent.Part) agent.Reading { r, _ := p.Bounds(); return r },
		&until: func(p agent.Part) agent.Reading { _, r := p.Bounds(); return r },
		&end:   func(p agent.Part) agent.Reading { return p.End },
	} {
		r.self, r.gc, r.queued = provision.Usage{}, 0, 0
		for _, p := range parts {
			one := of(p)
			r.self.User += one.Used.User
			r.self.System += one.Used.System
			r.self.RSSBytes += one.Used.RSSBytes
			r.gc += one.GC
			r.queued += one.Queued
		}
	}
	return begin, until, end
}

// cores are those that an agent used in its measured phase.
func cores(p agent.Part) float64 {
	begin, until := p.Bounds()
	if over := float64(until.At-begin.At) / 1e9; over >= shareWindow.Seconds() {
		return (processor(until.Used) - processor(begin.Used)) / over
	}
	return 0
}

// ofAgents has the generator judged agent by agent: the one that was latest, and the one that used up most of the cores that it may
// use. Those on one machine share its cores, so they are judged together as well.
func ofAgents(e *search.Evidence, parts []agent.Part) {
	busier := func(who string, used, most float64) {
		if e.BusyAgent == "" || used*e.GeneratorCores > e.GeneratorCPU*most {
			e.GeneratorCPU, e.GeneratorCores, e.BusyAgent = used, most, who
		}
	}
	type machine struct {
		names       []string
		used, cores float64
	}
	var machines []string
	on := map[string]*machine{}
	for i, p := range parts {
		if lag := lagOf(p); i == 0 || lag > e.GeneratorLag {
			e.GeneratorLag, e.LateAgent = lag, "agent "+p.Name
		}
		most := float64(p.Cores)
		if procs := float64(p.Outcome.Procs); procs > 0 {
			most = min(most, procs)
		}
		used := cores(p)
		busier("agent "+p.Name, used, most)
		m := on[p.Machine]
		if m == nil {
			m = &machine{cores: float64(p.Cores)}
			on[p.Machine], machines = m, append(machines, p.Machine)
		}
		m.names, m.used = append(m.names, p.Name), m.used+used
	}
	for _, id := range machines {
		if m := on[id]; len(m.names) > 1 {
			busier("agents "+strings.Join(m.names, " and ")+" together", m.used, m.cores)
		}
	}
}

// thrifty reports whether the generator, or an agent, had fewer threads than its machine has cores.
func (t trial) thrifty(cores int) bool {
	if len(t.Parts) == 0 {
		return t.Procs < cores
	}
	return slices.ContainsFunc(t.Parts, func(p agent.Part) bool { return p.Outcome.Procs < p.Cores })
}

// coresOfMachines are all cores of the agents' machines; 0 where these are this machine alone.
func (t trial) coresOfMachines() (sum int) {
	seen, elsewhere := map[string]bool{}, false
	for _, p := range t.Parts {
		elsewhere = elsewhere || !p.Here
		if !seen[p.Machine] {
			seen[p.Machine] = true
			sum += p.Cores
		}
	}
	if !elsewhere {
		return 0
	}
	return sum
}

// coresHere are the cores of this machine that the generator used: those of agents elsewhere are others.
func (t trial) coresHere() float64 {
	if len(t.Parts) == 0 {
		return t.generatorCPU()
	}
	var sum float64
	for _, p := range t.Parts {
		if p.Here {
			sum += cores(p)
		}
	}
	return sum
}

// used is what agents had used when they were last asked.
type used struct {
	at int64
	by map[string]float64 // seconds of the processor
}

// coresOfAgents are the cores in use by each agent since they were last asked; none: the generator is this process.
func (m *metering) coresOfAgents() (list []AgentCores) {
	several, ok := m.bench.agent.(agent.Several)
	if !ok {
		return nil
	}
	now := used{at: clock.Now(), by: map[string]float64{}}
	for _, one := range several.Each() {
		now.by[one.Name] = processor(one.Used)
		cores := 0.0
		if before, known := m.usedBy.by[one.Name]; known {
			cores = (now.by[one.Name] - before) / (float64(now.at-m.usedBy.at) / 1e9)
		}
		list = append(list, AgentCores{one.Name, cores})
	}
	m.usedBy = now
	return list
}
