package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// How long before its start a load is told: one agent needs no more than the way of the order, several begin together.
const (
	leadOfOne = 100 * time.Millisecond
	lead      = 500 * time.Millisecond
)

// Agent is all agents of the fleet as one: of each point's streams, everything of one stream on one agent. It is made for one point.
func (f *Fleet) Agent() agent.Agent {
	c := &crew{fleet: f}
	if f.auto {
		return growing{c}
	}
	return c
}

// crew runs a point on the fleet's agents.
type crew struct {
	fleet *Fleet

	mu    sync.Mutex // Used is asked while a load runs
	hands []*remote  // replaced, never changed

	whole worker.Plan
	parts []worker.Plan // by agent
	bases []uint64      // by producer, of shared streams: the number of its next message
}

func (c *crew) present() []*remote {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hands
}

func (c *crew) set(hands []*remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hands = hands
}

// each does something with all agents at once. Of several errors that of a lost agent counts.
func each(hands []*remote, do func(i int, r *remote) error) error {
	errs := make([]error, len(hands))
	var all sync.WaitGroup
	for i, r := range hands {
		all.Go(func() { errs[i] = do(i, r) })
	}
	all.Wait()
	for _, err := range errs {
		if errors.As(err, new(*agent.ErrLost)) {
			return err
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Prepare has every agent prepare its part.
func (c *crew) Prepare(ctx context.Context, p agent.Plan) (agent.Prepared, error) {
	if err := c.fleet.complete(ctx); err != nil {
		return agent.Prepared{}, err
	}
	c.fleet.mu.Lock()
	hands := slices.Clone(c.fleet.agents)
	c.fleet.mu.Unlock()
	if c.fleet.auto && !p.Place.Apart() { // an earlier point may have needed more than this one has topics for
		hands = hands[:min(len(hands), p.Worker.Separable())]
	}
	parts, err := dealt(p, hands)
	if err != nil {
		return agent.Prepared{}, err
	}
	c.whole, c.parts = p.Worker, parts
	if c.shared() {
		c.bases = make([]uint64, parts[0].Beyond.Producers)
	}
	c.set(hands)
	said := make([]agent.Prepared, len(hands))
	prepare := func(ctx context.Context, i int, r *remote) (err error) {
		part := p
		part.Worker, part.Place = parts[i], agent.Place{}
		said[i], err = r.prepare(ctx, part)
		c.settle(r, err)
		if err != nil && len(parts) > 1 && !errors.As(err, new(*agent.ErrLost)) {
			return fmt.Errorf("agent %s: %w", r.info, err)
		}
		return err
	}
	if c.shared() {
		err = together(ctx, hands, prepare)
	} else {
		// The first makes its topics alone, lest several make what they share at once.
		err = prepare(ctx, 0, hands[0])
		if err == nil {
			err = each(hands[1:], func(i int, r *remote) error { return prepare(ctx, i+1, r) })
		}
	}
	if err != nil {
		return agent.Prepared{}, errors.Join(err, c.Close())
	}
	return said[0], nil
}

// shared tells that the agents share streams.
func (c *crew) shared() bool { return len(c.parts) > 1 && c.parts[0].Beyond != nil }

// together has agents that share streams prepare at the same time, since each of them waits until its producers were seen by the
// consumers of all. The first makes the topics before the others begin. When one fails the others end.
func together(ctx context.Context, hands []*remote, prepare func(ctx context.Context, i int, r *remote) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer relay(hands, true)()
	var all sync.WaitGroup
	begin := func(i int, r *remote) {
		all.Go(func() {
			if err := prepare(ctx, i, r); err != nil {
				stop(err)
			}
		})
	}
	begin(0, hands[0])
	for !hands[0].made() {
		select {
		case <-ctx.Done():
			all.Wait()
			return context.Cause(ctx)
		case <-time.After(soon):
		}
	}
	for i, r := range hands[1:] {
		begin(i+1, r)
	}
	all.Wait()
	return context.Cause(ctx)
}

// settle forgets an agent that was lost.
func (c *crew) settle(r *remote, err error) {
	if !errors.As(err, new(*agent.ErrLost)) {
		return
	}
	c.fleet.drop(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hands = slices.DeleteFunc(slices.Clone(c.hands), func(one *remote) bool { return one == r })
}

// Run has all agents begin a load at the same moment. When one is lost the others end, too.
func (c *crew) Run(ctx context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	hands := c.present()
	before, err := c.clocks(ctx, hands)
	if err != nil {
		return worker.Outcome{Err: err}, nil
	}
	ahead := leadOfOne
	switch {
	case c.shared(): // whose consumers have to listen before the start
		ahead = 2 * lead
	case len(hands) > 1:
		ahead = lead
	}
	start := now() + int64(ahead)
	lines := make([]clock.Line, len(hands))
	for i, r := range hands {
		lines[i] = r.foresee(before[i], start+int64(l.Warmup.For+l.Duration+l.Drain))
	}
	alike(hands, lines)
	l.Warmup.Told = l.Warmup.Auto && len(hands) > 1
	loads := c.loads(l, hands, start, lines)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	v := newView(l, hands, start, lines)
	parts := make([]agent.Part, len(hands))
	bends := make([]int64, len(hands))
	end := func() {}
	if c.shared() {
		end = relay(hands, false)
	}
	err = each(hands, func(i int, r *remote) (err error) {
		parts[i], bends[i], err = r.run(ctx, loads[i], start, lines[i], v.of(i))
		parts[i].Bound, parts[i].Consumers = before[i].Bound, len(c.parts[i].Consumers)
		if err != nil {
			c.settle(r, err)
			stop()
		}
		v.over(i)
		return err
	})
	end()
	if err != nil { // what the others still measured is of another load
		return worker.Outcome{Err: err}, nil
	}
	outs := make([]worker.Outcome, len(parts))
	for i := range parts {
		outs[i] = parts[i].Outcome
		if len(parts) > 1 && outs[i].Err != nil {
			outs[i].Err = fmt.Errorf("agent %s: %w", parts[i].Name, outs[i].Err)
		}
	}
	out := worker.Merged(outs)
	if c.shared() {
		out = c.join(ctx, l, lived{before, lines, bends}, parts, outs)
	}
	if len(parts) > 1 {
		v.joint.Quantiles(out.Samples)
	}
	return out, parts
}

// Used is what the agents' processes have used, as they last said.
func (c *crew) Used() (all provision.Usage) {
	for _, one := range c.Each() {
		all.User += one.Used.User
		all.System += one.Used.System
		all.RSSBytes += one.Used.RSSBytes
	}
	return all
}

// Each is what every agent's process has used, as it last said.
func (c *crew) Each() (list []agent.UsedBy) {
	for _, r := range c.present() {
		r.mu.Lock()
		list = append(list, agent.UsedBy{Name: r.info.String(), Used: r.used})
		r.mu.Unlock()
	}
	return list
}

// Close has every agent end its part; the first one, which may have made what others share, ends last.
func (c *crew) Close() error {
	hands := c.present()
	if len(hands) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanWithin)
	defer cancel()
	end := func(_ int, r *remote) error {
		again := r.ended() // the next point asks it anew who it is
		err := r.close(ctx)
		c.settle(r, err)
		if err == nil && again {
			c.fleet.drop(r)
		}
		return err
	}
	err := errors.Join(each(hands[1:], end), end(0, hands[0]))
	c.set(nil)
	return err
}
