package lab

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// judgedTrial is runTrial for a load that the generator must not limit: where it did, and there are agents that could share the load
// (--agents auto), more are taken and the load is run again.
func (b *bench) judgedTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	for {
		t := b.runTrial(ctx, stage, rate, load)
		if t.Err != nil {
			return t
		}
		r, e := rule(b.spec), b.evidence(t, rate, true)
		why, saturated := r.Saturated(e)
		fewThreads := load.About > 0 && t.thrifty(b.lab.host.Cores) && e.GeneratorCPU > r.MaxBusyShare*e.GeneratorCores
		if !saturated || fewThreads { // a search will allow more of them
			return t
		}
		grown, err := b.grow(ctx, why)
		if t.Err = err; !grown || err != nil {
			return t
		}
	}
}

// grow has more agents prepare the point; false: there are no more that could share its load.
func (b *bench) grow(ctx context.Context, why remark.Remark) (bool, error) {
	g, ok := b.agent.(agent.Growing)
	if !ok {
		return false, nil
	}
	most := streams(b.spec)
	n, grown := g.Grow(ctx, most, why.Text)
	switch {
	case !grown && n >= most:
		b.exhausted = "there are as many agents as topics, or groups of topics that share connections"
		return false, nil
	case !grown:
		b.exhausted = fmt.Sprintf("all agents that are there are in use (%d)", n)
		return false, nil
	}
	b.record.Growth = append(b.record.Growth, store.Growth{Agents: n, Reason: why.Text, Figures: why.Figures})
	b.stage(Event{Kind: Staged, Stage: fmt.Sprintf("connecting %d agents", n)})
	if err := b.agent.Close(); err != nil {
		return false, err
	}
	b.before = worker.Outcome{}
	return true, b.again(ctx)
}

// noMore ends a sentence about a limit of the generator with why agents can't lift it; empty where more weren't asked for.
func (b *bench) noMore() string {
	if b.exhausted == "" {
		return ""
	}
	return "; " + b.exhausted
}
