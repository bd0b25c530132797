package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
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

// Prepare has every agent prepare its part. The first makes its topics alone, lest several make what they share at once.
func (c *crew) Prepare(ctx context.Context, p agent.Plan) (agent.Prepared, error) {
	if err := c.fleet.complete(ctx); err != nil {
		return agent.Prepared{}, err
	}
	c.fleet.mu.Lock()
	hands := slices.Clone(c.fleet.agents)
	c.fleet.mu.Unlock()
	if c.fleet.auto { // an earlier point may have needed more than this one has topics for
		hands = hands[:min(len(hands), p.Worker.Separable())]
	}
	parts, err := p.Worker.Split(len(hands))
	if err != nil {
		return agent.Prepared{}, err
	}
	c.set(hands)
	said := make([]agent.Prepared, len(hands))
	prepare := func(i int, r *remote) (err error) {
		part := p
		part.Worker = parts[i]
		said[i], err = r.prepare(ctx, part)
		c.settle(r, err)
		if err != nil && len(parts) > 1 && !errors.As(err, new(*agent.ErrLost)) {
			return fmt.Errorf("agent %s: %w", r.info, err)
		}
		return err
	}
	err = prepare(0, hands[0])
	if err == nil {
		err = each(hands[1:], func(i int, r *remote) error { return prepare(i+1, r) })
	}
	if err != nil {
		return agent.Prepared{}, errors.Join(err, c.Close())
	}
	return said[0], nil
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
	where := make([]standing, len(hands))
	if err := each(hands, func(i int, r *remote) (err error) {
		where[i], err = r.clock(ctx)
		c.settle(r, err)
		return err
	}); err != nil {
		return worker.Outcome{Err: err}, nil
	}
	ahead := leadOfOne
	if len(hands) > 1 {
		ahead = lead
	}
	start := now() + int64(ahead)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.Warmup.Told = l.Warmup.Auto && len(hands) > 1
	v := newView(l, hands, start, where)
	parts := make([]agent.Part, len(hands))
	err := each(hands, func(i int, r *remote) (err error) {
		parts[i], err = r.run(ctx, l, start, where[i], v.of(i))
		if err != nil {
			c.settle(r, err)
			stop()
		}
		v.over(i)
		return err
	})
	outs := make([]worker.Outcome, len(parts))
	for i := range parts {
		outs[i] = parts[i].Outcome
		if len(parts) > 1 && outs[i].Err != nil {
			outs[i].Err = fmt.Errorf("agent %s: %w", parts[i].Name, outs[i].Err)
		}
	}
	if err != nil { // what the others still measured is of another load
		return worker.Outcome{Err: err}, nil
	}
	out := worker.Merged(outs)
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
