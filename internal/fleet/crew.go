package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Agents get a load this long before it starts. A single agent needs only the time that the order takes to arrive.
const (
	leadOfOne = 100 * time.Millisecond
	lead      = 500 * time.Millisecond
)

// Agent returns an agent.Agent that runs one point on all agents of the fleet.
func (f *Fleet) Agent() agent.Agent {
	c := &crew{fleet: f}
	if f.auto {
		return growing{c}
	}
	return c
}

// growing is a crew whose fleet grows, which implements agent.Grower. A crew of a fixed size must not.
type growing struct{ *crew }

// Grow doubles the fleet, up to most agents and as far as agents are free.
func (g growing) Grow(ctx context.Context, most int, why string) (agents int, grown bool) {
	f := g.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	was := len(f.agents)
	if f.size = min(2*was, most); f.size > was {
		f.claim(ctx)
	}
	f.size = max(was, len(f.agents))
	if f.size > was {
		f.say("%d agents instead of %d: %s", f.size, was, why)
	}
	return f.size, f.size > was
}

// crew runs a point on the fleet's agents.
type crew struct {
	fleet *Fleet

	mu     sync.Mutex // Used is called while a load runs
	agents []*remote  // the slice is replaced, never changed

	whole worker.Plan
	parts []worker.Plan // one for each agent
	bases []uint64      // for each producer of shared streams, the number of its next message
}

func (c *crew) present() []*remote {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agents
}

func (c *crew) set(agents []*remote) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents = agents
}

// each calls do for all agents at the same time. It returns the error of a lost agent, if there is one, or else the first error: the
// others often follow from a loss.
func each(agents []*remote, do func(i int, r *remote) error) error {
	errs := make([]error, len(agents))
	var all sync.WaitGroup
	for i, r := range agents {
		all.Go(func() { errs[i] = do(i, r) })
	}
	all.Wait()
	var first error
	for _, err := range errs {
		if errors.As(err, new(*agent.ErrLost)) {
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}

// Prepare waits until the fleet is complete, splits the plan, and has every agent prepare its part. On an error it closes them all.
func (c *crew) Prepare(ctx context.Context, p agent.Plan) (agent.Prepared, error) {
	if err := c.fleet.complete(ctx); err != nil {
		return agent.Prepared{}, err
	}
	c.fleet.mu.Lock()
	agents := slices.Clone(c.fleet.agents)
	c.fleet.mu.Unlock()
	if c.fleet.auto && !p.Place.SplitsTopics() { // a point before this one may have used more agents than this one has topics
		agents = agents[:min(len(agents), p.Worker.MaxParts())]
	}
	parts, err := dealt(p, agents)
	if err != nil {
		return agent.Prepared{}, err
	}
	c.whole, c.parts = p.Worker, parts
	if c.shared() {
		c.bases = make([]uint64, parts[0].Peers.Producers)
	}
	c.set(agents)
	prepared := make([]agent.Prepared, len(agents))
	prepare := func(ctx context.Context, i int, r *remote) (err error) {
		part := p
		part.Worker, part.Place = parts[i], agent.Place{}
		prepared[i], err = r.prepare(ctx, part)
		c.forgetIfLost(r, err)
		if err != nil && len(parts) > 1 && !errors.As(err, new(*agent.ErrLost)) {
			return fmt.Errorf("agent %s: %w", r.info, err)
		}
		return err
	}
	if c.shared() {
		err = prepareTogether(ctx, agents, prepare)
	} else {
		// The first agent creates its topics alone: all of them use the same namespaces or exchanges.
		err = prepare(ctx, 0, agents[0])
		if err == nil {
			err = each(agents[1:], func(i int, r *remote) error { return prepare(ctx, i+1, r) })
		}
	}
	if err != nil {
		return agent.Prepared{}, errors.Join(err, c.Close())
	}
	return prepared[0], nil
}

// dealt splits a plan into one part for each agent.
func dealt(p agent.Plan, agents []*remote) ([]worker.Plan, error) {
	if !p.Place.SplitsTopics() {
		return p.Worker.Split(len(agents))
	}
	var names []string
	for _, r := range agents {
		names = append(names, r.info.Name)
	}
	numbers := func(wanted []string) (list []int, err error) {
		for _, name := range wanted {
			i := slices.Index(names, name)
			if i < 0 {
				return nil, fmt.Errorf("place: no agent of this run is called %s; there are %s", name, strings.Join(names, ", "))
			}
			list = append(list, i)
		}
		return list, nil
	}
	producing, err := numbers(p.Place.Producers)
	if err != nil {
		return nil, err
	}
	consuming, err := numbers(p.Place.Consumers)
	if err != nil {
		return nil, err
	}
	return p.Worker.Spread(len(agents), producing, consuming)
}

// shared reports whether agents share streams.
func (c *crew) shared() bool { return len(c.parts) > 1 && c.parts[0].Peers != nil }

// prepareTogether has agents that share streams prepare at the same time: each of them waits until its producers were seen by the consumers
// of all. The first one creates the topics before the others begin. If one fails, the others are canceled.
func prepareTogether(ctx context.Context, agents []*remote, prepare func(ctx context.Context, i int, r *remote) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer relay(agents, true)()
	var all sync.WaitGroup
	begin := func(i int, r *remote) {
		all.Go(func() {
			if err := prepare(ctx, i, r); err != nil {
				stop(err)
			}
		})
	}
	begin(0, agents[0])
	for !agents[0].topicsMade() {
		if clock.Pause(ctx, newsEvery) != nil {
			all.Wait()
			return context.Cause(ctx)
		}
	}
	for i, r := range agents[1:] {
		begin(i+1, r)
	}
	all.Wait()
	return context.Cause(ctx)
}

// forgetIfLost removes agent r from the fleet if err says that it is lost.
func (c *crew) forgetIfLost(r *remote, err error) {
	if !errors.As(err, new(*agent.ErrLost)) {
		return
	}
	c.fleet.drop(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents = slices.DeleteFunc(slices.Clone(c.agents), func(one *remote) bool { return one == r })
}

// Run starts a load on all agents at the same moment. If one is lost, the trial ends on the others as well.
func (c *crew) Run(ctx context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	agents := c.present()
	before, err := c.clocks(ctx, agents)
	if err != nil {
		return worker.Outcome{Err: err}, nil
	}
	ahead := leadOfOne
	switch {
	case c.shared(): // consumers have to listen before the start of any agent
		ahead = 2 * lead
	case len(agents) > 1:
		ahead = lead
	}
	start := clock.Now() + int64(ahead)
	lines := make([]clock.Line, len(agents))
	for i, r := range agents {
		lines[i] = r.foresee(before[i], start+int64(l.Warmup.For+l.Duration+l.Drain))
	}
	alike(agents, lines)
	l.Warmup.Coordinated = l.Warmup.Auto && len(agents) > 1
	loads := c.loads(l, agents, start, lines)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	v := newView(l, agents, start, lines)
	parts := make([]agent.Part, len(agents))
	bends := make([]int64, len(agents))
	endRelay := func() {}
	if c.shared() {
		endRelay = relay(agents, false)
	}
	err = each(agents, func(i int, r *remote) (err error) {
		parts[i], bends[i], err = r.run(ctx, loads[i], start, lines[i], &trialFeed{view: v, agent: i})
		parts[i].Bound, parts[i].Consumers = before[i].Bound, len(c.parts[i].Consumers)
		if err != nil {
			c.forgetIfLost(r, err)
			stop()
		}
		v.end(i)
		return err
	})
	endRelay()
	if err != nil { // the other agents' figures are those of a smaller load
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
		out = c.join(ctx, l, clockHistory{before, lines, bends}, parts, outs)
	}
	if len(parts) > 1 {
		v.joint.SetQuantiles(out.Samples)
	}
	return out, parts
}

// Used returns the sum of the resource use of the agents' processes, by their last beats.
func (c *crew) Used() (all provision.Usage) {
	for _, one := range c.Each() {
		all.User += one.Used.User
		all.System += one.Used.System
		all.RSSBytes += one.Used.RSSBytes
	}
	return all
}

// Each returns what each agent's process has used, by its last beat.
func (c *crew) Each() (list []agent.UsedBy) {
	for _, r := range c.present() {
		r.mu.Lock()
		list = append(list, agent.UsedBy{Name: r.info.String(), Used: r.used})
		r.mu.Unlock()
	}
	return list
}

// Close ends every agent's part. The first agent ends last, since the others may use what it has created.
func (c *crew) Close() error {
	agents := c.present()
	if len(agents) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanWithin)
	defer cancel()
	end := func(_ int, r *remote) error {
		again := r.ended() // it may be another process now, so the next point claims it anew
		err := r.close(ctx)
		c.forgetIfLost(r, err)
		if err == nil && again {
			c.fleet.drop(r)
		}
		return err
	}
	err := errors.Join(each(agents[1:], end), end(0, agents[0]))
	c.set(nil)
	return err
}
