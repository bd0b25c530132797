package lab

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// This file says how many agents (processes that send and receive, here or on other machines) can share the load of a
// point. All clients of a topic run on one agent, so 3 topics can have 3 agents. With place: spread, or if place names
// agents, the clients of each topic are dealt to all agents like cards.

// OnAgents returns an error if so many agents can't run a point.
func OnAgents(s study.Spec, agents int) error {
	setting := fmt.Sprintf("--agents %d", agents)
	if why := whyOnlyHere(s); why != "" {
		return driver.Unsupported(setting, "%s", why)
	}
	if s.Place.Spread() {
		return spreadOnAgents(s, agents)
	}
	if most := undivided(s); agents > most {
		return driver.Unsupported(setting, "all streams of a topic, and topics that share connections, run on one agent, "+
			"and there are %d of these; place: spread divides a topic", most)
	}
	return nil
}

// WithoutAgents returns an error if a point needs agents.
func WithoutAgents(s study.Spec) error {
	if s.Place.Spread() {
		return driver.Unsupported("place: "+s.Place.String(), "there are no agents: --agents says how many")
	}
	return nil
}

// whyOnlyHere says why a point can only run on this machine, without agents; empty if it can run on agents.
func whyOnlyHere(s study.Spec) string {
	_, hasProcesses := catalog.Started(s.Broker)
	switch {
	case !hasProcesses:
		return s.Broker + " runs in this process, and no agent reaches it"
	case s.Generator != "":
		return s.Generator + " is a process of this machine"
	case s.Pipeline != nil:
		return "a pipeline's parts run on this machine"
	case s.Measure == study.MeasureRead:
		return "measure: read has its consumers in this process"
	case s.ConsumersApart:
		return "consumersApart: true starts a process of this machine for the consumers"
	case s.Relays > 0:
		return "relays run on this machine, and no agent hears of them"
	}
	return ""
}

// spreadOnAgents returns an error if the clients of a point can't be dealt to so many agents.
func spreadOnAgents(s study.Spec, agents int) error {
	agentsSetting, placeSetting := fmt.Sprintf("--agents %d", agents), "place: "+s.Place.String()
	if agents > 1 && s.Warmup.Auto && measuresForATime(s) { // the measured phase then begins when the warm-up happens to end
		return driver.Unsupported(placeSetting,
			"with warmup: auto an agent doesn't learn in time when the measured phase of the others begins; give it a time")
	}
	if named := s.Place.Agents(); len(named) > 0 && len(named) != agents {
		return driver.Unsupported(agentsSetting, "place names %d agents: %s", len(named), strings.Join(named, ", "))
	}
	producers, consumers := dealtProducers(s), dealtConsumers(s)
	if n := len(s.Place.Producers); n > producers {
		return driver.Unsupported(placeSetting, "%d agents are to have producers, and there are %d to deal", n, producers)
	}
	if n := len(s.Place.Consumers); n > consumers {
		return driver.Unsupported(placeSetting, "%d agents are to have consumers, and there are %d to deal", n, consumers)
	}
	if dealt := producers + consumers; agents > dealt {
		return driver.Unsupported(agentsSetting,
			"place: %s has %d clients of producers and consumers to deal, and each agent needs one", s.Place, dealt)
	}
	return nil
}

// measuresForATime reports whether a point has one load or several whose measured phase follows a warm-up and ends
// after a time.
func measuresForATime(s study.Spec) bool {
	return s.Measure == study.MeasureRate || s.Measure == study.MeasurePeak || s.Measure == study.MeasureCurve
}

// undivided returns how many parts of the load there are that agents can't divide, unless place spreads them: topics,
// or groups of topics that share connections.
func undivided(s study.Spec) int {
	if s.Connections > 0 {
		return min(s.Connections, s.Topics)
	}
	return s.Topics
}

// dealtProducers returns how many clients of producers are dealt among agents.
func dealtProducers(s study.Spec) int { return undivided(s) * s.ProducersPerTopic }

// dealtConsumers returns how many clients of consumers are dealt among agents.
func dealtConsumers(s study.Spec) int { return undivided(s) * s.ConsumersPerTopic() }
