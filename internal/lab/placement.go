package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// This file says how many agents (processes that send and receive, here or on other machines) can share the load of a point. All
// clients of a topic run on one agent, so 3 topics can have 3 agents. With place: spread, the clients of each topic are dealt to all
// agents like cards. With --agents auto, a run begins with few agents and takes more whenever they limit a trial.

// OnAgents returns an error if so many agents can't run a point.
func OnAgents(s study.Spec, agents int) error {
	_, hasProcesses := catalog.Started(s.Broker)
	agentsSetting, placeSetting := fmt.Sprintf("--agents %d", agents), "place: "+s.Place.String()
	dealt := producerClients(s) + dealtConsumers(s)
	// The measured phase begins when the automatic warm-up ends, and lasts for a time.
	phaseUnforeseen := s.Warmup.Auto && slices.Contains([]string{study.MeasureRate, study.MeasurePeak, study.MeasureCurve}, s.Measure)
	switch {
	case !hasProcesses:
		return driver.Unsupported(agentsSetting, "%s runs in this process, and no agent reaches it", s.Broker)
	case s.Pipeline != nil:
		return driver.Unsupported(agentsSetting, "a pipeline's parts run on this machine")
	case s.ConsumersApart:
		return driver.Unsupported(agentsSetting, "consumersApart: true starts a process of this machine for the consumers")
	case s.Relays > 0:
		return driver.Unsupported(agentsSetting, "relays run on this machine, and no agent hears of them")
	case agents > 1 && s.Place.Spread() && phaseUnforeseen:
		return driver.Unsupported(placeSetting, "with warmup: auto nobody knows in time when the measured phase of the others begins; give it a time")
	case s.Place.Named() && len(s.Place.Agents()) != agents:
		return driver.Unsupported(agentsSetting, "place names %d agents: %s", len(s.Place.Agents()), strings.Join(s.Place.Agents(), ", "))
	case len(s.Place.Producers) > producerClients(s):
		return driver.Unsupported(placeSetting, "%d agents are to have producers, and there are %d to deal", len(s.Place.Producers), producerClients(s))
	case len(s.Place.Consumers) > dealtConsumers(s):
		return driver.Unsupported(placeSetting, "%d agents are to have consumers, and there are %d to deal", len(s.Place.Consumers), dealtConsumers(s))
	case s.Place.Spread() && agents > dealt:
		return driver.Unsupported(agentsSetting, "place: %s has %d clients of producers and consumers to deal, and each agent needs one", s.Place, dealt)
	case !s.Place.Spread() && agents > undivided(s):
		return driver.Unsupported(agentsSetting, "all streams of a topic, and topics that share connections, run on one agent, and there are %d of these; place: spread divides a topic", undivided(s))
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

// undivided returns how many parts of the load there are that agents can't divide, unless place spreads them: topics, or groups of
// topics that share connections.
func undivided(s study.Spec) int {
	if s.Connections > 0 {
		return min(s.Connections, s.Topics)
	}
	return s.Topics
}

// producerClients returns how many clients of producers place: spread deals among agents.
func producerClients(s study.Spec) int { return undivided(s) * s.ProducersPerTopic }

// dealtConsumers returns how many consumers place: spread deals among agents.
func dealtConsumers(s study.Spec) int { return undivided(s) * s.ConsumersPerTopic() }

// growingTrial is runTrial for a load that the generator must not limit. If it did, and more agents can share the load
// (--agents auto), they are taken and the load is run again: for example first on 1 agent, then on 2, which keep up.
func (b *bench) growingTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	for {
		t := b.runTrial(ctx, stage, rate, load)
		if t.Err != nil {
			return t
		}
		passRule, evidence := rule(b.spec), b.evidence(t, rate)
		why, saturated := passRule.Saturated(evidence) // the generator was late, or used up its cores
		// More threads come first: after such a trial, rateSearch.judge allows all of them.
		threadsWillGrow := load.RateForThreads > 0 && t.lacksThreads(evidence, passRule, b.lab.machine.Cores)
		if !saturated || threadsWillGrow {
			return t
		}
		var grown bool
		if grown, t.Err = b.grow(ctx, why); !grown {
			return t
		}
	}
}

// grow has more agents prepare the point, because the generator was saturated as why says. It returns false if it can't: if no more agents
// can share the load, it also sets exhausted; if preparing fails, it returns the error.
func (b *bench) grow(ctx context.Context, why remark.Remark) (bool, error) {
	g, ok := b.clients.agent.(agent.Grower)
	if !ok {
		return false, nil
	}
	most := undivided(b.spec)
	n, grown := g.Grow(ctx, most, why.Text)
	if !grown {
		b.clients.exhausted = fmt.Sprintf("all agents that are there are in use (%d)", n)
		if n >= most {
			b.clients.exhausted = "there are as many agents as topics, or groups of topics that share connections"
		}
		return false, nil
	}
	b.record.Growth = append(b.record.Growth, store.Growth{Agents: n, Reason: why.Text, Figures: why.Figures})
	b.announce(fmt.Sprintf("connecting %d agents", n))
	err := b.prepareAgain(ctx)
	return err == nil, err
}

// whyNoMore returns a clause that ends a sentence about a limit of the generator: why agents can't lift it. It is empty if no more
// agents were asked for.
func (b *bench) whyNoMore() string {
	if b.clients.exhausted == "" {
		return ""
	}
	return "; " + b.clients.exhausted
}
