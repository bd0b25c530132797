package fleet

import "context"

// Grow doubles the fleet, as far as there are agents that are free and no more than most.
func (f *Fleet) Grow(ctx context.Context, most int, why string) (agents int, grown bool) {
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

// growing is a crew of a fleet that grows. Others are no agent.Growing: their size is what was asked for.
type growing struct{ *crew }

func (g growing) Grow(ctx context.Context, most int, why string) (int, bool) {
	return g.fleet.Grow(ctx, most, why)
}
