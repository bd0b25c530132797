package fleet

import "context"

// Grow doubles the fleet, up to most agents and as far as agents are free.
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

// growing is a crew whose fleet grows, which implements agent.Grower. A crew of a fixed size must not.
type growing struct{ *crew }

func (g growing) Grow(ctx context.Context, most int, why string) (int, bool) {
	return g.fleet.Grow(ctx, most, why)
}
