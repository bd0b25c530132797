package lab

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// judgedTrial is runTrial for a load that the generator must not limit. If it did, and more agents can share the load
// (--agents auto), they are taken and the load is run again.
func (b *bench) judgedTrial(ctx context.Context, stage string, rate float64, load worker.Load) trial {
	for {
		t := b.runTrial(ctx, stage, rate, load)
		if t.Err != nil {
			return t
		}
		r, e := rule(b.spec), b.evidence(t, rate, true)
		why, saturated := r.Saturated(e)
		threadsWillGrow := load.About > 0 && t.lacksThreads(e, r, b.lab.host.Cores) // rateSearch.judge allows all threads next
		if !saturated || threadsWillGrow {
			return t
		}
		grown, err := b.grow(ctx, why)
		if err != nil {
			t.Err = err
			return t
		}
		if !grown {
			return t
		}
	}
}

// grow has more agents prepare the point. It returns false, and sets exhausted, if no more agents can share its load.
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
	return true, b.prepareAgain(ctx)
}

// whyNoMore returns a clause that ends a sentence about a limit of the generator: why agents can't lift it. It is empty if no more
// agents were asked for.
func (b *bench) whyNoMore() string {
	if b.exhausted == "" {
		return ""
	}
	return "; " + b.exhausted
}
