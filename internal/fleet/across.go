package fleet

import (
	"context"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// clocks measures the offsets of all agents' clocks.
func (c *crew) clocks(ctx context.Context, agents []*remote) ([]clock.Offset, error) {
	where := make([]clock.Offset, len(agents))
	err := each(agents, func(i int, r *remote) (err error) {
		where[i], err = r.clock(ctx)
		c.forgetIfLost(r, err)
		return err
	})
	return where, err
}

// loads returns each agent's load. If agents share streams, an agent with consumers learns which producers the other agents have, and
// the offsets of their clocks.
func (c *crew) loads(l worker.Load, agents []*remote, start int64, lines []clock.Line) []worker.Load {
	loads := make([]worker.Load, len(agents))
	for k := range agents {
		loads[k] = l
		if !c.shared() || len(c.parts[k].Consumers) == 0 {
			continue
		}
		for j := range agents {
			if j == k || len(c.parts[j].Producers) == 0 {
				continue
			}
			e := worker.PeerProducers{From: start + lines[j].OffsetAt(start) + int64(l.Warmup.For)}
			e.Axis, _ = c.between(agents, lines, k, j) // no error: all lines were measured at the same time
			for _, p := range c.parts[j].Producers {
				e.Producers = append(e.Producers, worker.FirstMessage{Producer: p.ID, Seq: c.bases[p.ID]})
			}
			loads[k].Peers = append(loads[k].Peers, e)
		}
	}
	return loads
}

// between returns the offset of agent j's clock from agent k's.
func (c *crew) between(agents []*remote, lines []clock.Line, k, j int) (clock.Line, error) {
	if agents[k].info.Clock == agents[j].info.Clock {
		return clock.Line{}, nil
	}
	return clock.Relative(lines[k], lines[j])
}

// alike gives agents that read the same clock the same line, the first one's.
func alike(agents []*remote, lines []clock.Line) {
	for i, r := range agents {
		lines[i] = lines[slices.IndexFunc(agents, func(one *remote) bool { return one.info.Clock == r.info.Clock })]
	}
}

// clockHistory holds what is known of the agents' clocks in a trial.
type clockHistory struct {
	before []clock.Offset // measured before it
	taken  []clock.Line   // what the agents computed latencies with
	bends  []int64        // answer.Bend
}

// join makes one outcome of those of agents that share streams, and advances bases to the next messages.
func (c *crew) join(ctx context.Context, l worker.Load, clocks clockHistory, parts []agent.Part, outs []worker.Outcome) worker.Outcome {
	for _, o := range outs {
		if o.Shard == nil {
			continue
		}
		for _, sent := range o.Shard.Sent {
			if sent.Producer >= 0 && sent.Producer < len(c.bases) {
				c.bases[sent.Producer] = sent.Base + sent.End
			}
		}
	}
	lines, bound, err := c.fitClocks(context.WithoutCancel(ctx), clocks, parts)
	if bound == 0 {
		clear(lines) // the agents read one clock; an offset to this process's clock doesn't matter
	}
	out := c.whole.Joined(l, outs, lines)
	out.ClockBound = bound
	if err != nil && out.Err == nil {
		out.Err = err
	}
	return out
}

// fitClocks measures the agents' clocks after a trial and fits lines to the offsets before and after it. bound is the largest error of a
// latency between two agents, which computed it with the lines foreseen before the trial.
func (c *crew) fitClocks(ctx context.Context, clocks clockHistory, parts []agent.Part) (lines []clock.Line, bound int64, err error) {
	agents := c.present()
	lines = make([]clock.Line, len(agents))
	after, err := c.clocks(ctx, agents)
	if err != nil {
		return lines, 0, err
	}
	for i, r := range agents {
		if r.info.Clock == r.me.Clock {
			continue
		}
		if lines[i], err = clock.Fit(clocks.before[i], after[i]); err != nil {
			return lines, 0, &agent.ErrClock{Agent: r.info.String(), Why: err.Error()}
		}
		lines[i].Bound += clocks.bends[i]
		parts[i].Bound = lines[i].Bound
	}
	alike(agents, lines)
	for k := range agents {
		for j := range agents {
			if agents[k].info.Clock == agents[j].info.Clock || len(c.parts[k].Consumers) == 0 || len(c.parts[j].Producers) == 0 {
				continue
			}
			was, err := c.between(agents, lines, k, j)
			if err != nil {
				return lines, 0, &agent.ErrClock{Agent: agents[j].info.String(), Why: err.Error()}
			}
			taken, err := c.between(agents, clocks.taken, k, j)
			if err != nil {
				return lines, 0, &agent.ErrClock{Agent: agents[j].info.String(), Why: err.Error()}
			}
			bound = max(bound, was.ErrorOf(taken))
		}
	}
	return lines, bound, nil
}
