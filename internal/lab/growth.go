package lab

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

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
