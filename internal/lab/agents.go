package lab

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
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
	case agents > 1 && s.Warmup.Auto && slices.Contains([]string{study.MeasureRate, study.MeasurePeak, study.MeasureCurve}, s.Measure):
		return driver.Unsupported(setting, "warmup: auto is for each agent to decide, and they have to begin together; give it a time")
	case agents > streams(s):
		return driver.Unsupported(setting, "all streams of a topic, and topics that share connections, run on one agent, and there are %d of these", streams(s))
	}
	return nil
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
		list = append(list, store.Agent{
			Name: p.Name, Host: p.Host, Cores: p.Cores, Producers: p.Outcome.Producers,
			ClockOffsetNs: p.Offset, ClockBoundNs: p.Bound, StartLateNs: p.Late,
		})
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

// ofAgents has the generator judged agent by agent: the one that was latest, and the one that used up most of its cores.
func ofAgents(e *search.Evidence, parts []agent.Part) {
	for i, p := range parts {
		lag := p.Outcome.Histograms.GeneratorLag.Quantile(0.99)
		if i == 0 || lag > e.GeneratorLag {
			e.GeneratorLag, e.LateAgent = lag, p.Name
		}
		most := float64(p.Cores)
		if procs := float64(p.Outcome.Procs); procs > 0 {
			most = min(most, procs)
		}
		if used := cores(p); i == 0 || used*e.GeneratorCores > e.GeneratorCPU*most {
			e.GeneratorCPU, e.GeneratorCores, e.BusyAgent = used, most, p.Name
		}
	}
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
