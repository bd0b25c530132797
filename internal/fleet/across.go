package fleet

import (
	"context"
	"slices"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// clocks are where the agents' clocks are now.
func (c *crew) clocks(ctx context.Context, hands []*remote) ([]clock.Offset, error) {
	where := make([]clock.Offset, len(hands))
	err := each(hands, func(i int, r *remote) (err error) {
		where[i], err = r.clock(ctx)
		c.settle(r, err)
		return err
	})
	return where, err
}

// loads are what each agent is told: where its consumers get messages from others, which producers those have, by which clock.
func (c *crew) loads(l worker.Load, hands []*remote, start int64, lines []clock.Line) []worker.Load {
	loads := make([]worker.Load, len(hands))
	for k := range hands {
		loads[k] = l
		if !c.shared() || len(c.parts[k].Consumers) == 0 {
			continue
		}
		for j := range hands {
			if j == k || len(c.parts[j].Producers) == 0 {
				continue
			}
			e := worker.Elsewhere{From: start + lines[j].At(start) + int64(l.Warmup.For)}
			e.Axis, _ = c.between(hands, lines, k, j) // they were all measured at the same time
			for _, p := range c.parts[j].Producers {
				e.Producers = append(e.Producers, worker.Base{ID: p.ID, Seq: c.bases[p.ID]})
			}
			loads[k].Elsewhere = append(loads[k].Elsewhere, e)
		}
	}
	return loads
}

// between is where the clock of agent j is on that of agent k.
func (c *crew) between(hands []*remote, lines []clock.Line, k, j int) (clock.Line, error) {
	if hands[k].info.Clock == hands[j].info.Clock {
		return clock.Line{}, nil
	}
	return clock.Between(lines[k], lines[j])
}

// alike has agents with one clock have it at one place.
func alike(hands []*remote, lines []clock.Line) {
	for i, r := range hands {
		lines[i] = lines[slices.IndexFunc(hands, func(one *remote) bool { return one.info.Clock == r.info.Clock })]
	}
}

// lived is what is known of the agents' clocks in a trial: where they were before it, where they were taken to be, and by how much each
// strayed from a straight line.
type lived struct {
	before []clock.Offset
	taken  []clock.Line
	bends  []int64
}

// join makes one outcome of those of agents that share streams.
func (c *crew) join(ctx context.Context, l worker.Load, clocks lived, parts []agent.Part, outs []worker.Outcome) worker.Outcome {
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
	lines, bound, err := c.looked(context.WithoutCancel(ctx), clocks, parts)
	if bound == 0 {
		clear(lines) // all have one clock, which may be another one than this process's
	}
	out := c.whole.Joined(outs, lines, l.Streams)
	out.ClockBound = bound
	if err != nil && out.Err == nil {
		out.Err = err
	}
	return out
}

// looked is where the agents' clocks were, by measurements before and after a trial, and by how much a latency between two of them may
// be off: by what was taken for their distance.
func (c *crew) looked(ctx context.Context, clocks lived, parts []agent.Part) (lines []clock.Line, bound int64, err error) {
	hands := c.present()
	lines = make([]clock.Line, len(hands))
	after, err := c.clocks(ctx, hands)
	if err != nil {
		return lines, 0, err
	}
	for i, r := range hands {
		if r.info.Clock == r.me.Clock {
			continue
		}
		if lines[i], err = clock.Fit(clocks.before[i], after[i]); err != nil {
			return lines, 0, &agent.ErrClock{Agent: r.info.String(), Why: err.Error()}
		}
		lines[i].Bound += clocks.bends[i]
		parts[i].Bound = lines[i].Bound
	}
	alike(hands, lines)
	for k := range hands {
		for j := range hands {
			if hands[k].info.Clock == hands[j].info.Clock || len(c.parts[k].Consumers) == 0 || len(c.parts[j].Producers) == 0 {
				continue
			}
			was, err := c.between(hands, lines, k, j)
			if err != nil {
				return lines, 0, &agent.ErrClock{Agent: hands[j].info.String(), Why: err.Error()}
			}
			taken, err := c.between(hands, clocks.taken, k, j)
			if err != nil {
				return lines, 0, &agent.ErrClock{Agent: hands[j].info.String(), Why: err.Error()}
			}
			bound = max(bound, was.Off(taken))
		}
	}
	return lines, bound, nil
}
