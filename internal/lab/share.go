package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// look is how often a runner that has nothing else to do looks what became of the repetitions that others are at.
const look = time.Second

// share finds out what is done, and makes ready to share the rest with other runners.
func (l *lab) share(ctx context.Context, runs []study.Run) error {
	ids, seen := []string{}, map[string]bool{}
	for _, r := range runs {
		if !seen[r.Point.ID] {
			seen[r.Point.ID] = true
			ids = append(ids, r.Point.ID)
		}
	}
	var err error
	if !l.Again {
		if l.done, err = l.Store.Done(ctx, ids); err != nil {
			return err
		}
	}
	lease := l.Lease
	if lease == 0 {
		lease = store.Lease
	}
	if l.claims, err = l.Store.Claims(ctx, l.Again, lease); err != nil {
		l.claims = nil // a user who may append, but make no table: as good as alone
		fmt.Fprintf(l.Log, "%v; other runners with this store may do the same work\n", err)
	}
	return nil
}

// claim tells what to do with a repetition. A store that is away for a while costs the run nothing, as with its records.
func (l *lab) claim(ctx context.Context, run study.Run) (_ store.Standing, release func()) {
	if l.before(run) {
		return store.Done, nil
	}
	nothing := func() {}
	if l.claims == nil {
		return store.Claimed, nothing
	}
	standing, err := l.claims.Claim(ctx, run.Point.ID, run.Repetition)
	switch {
	case err != nil:
		return store.Claimed, nothing
	case standing == store.Claimed:
		return standing, l.claims.Keep(run.Point.ID, run.Repetition)
	}
	return standing, nil
}

// before tells that a repetition was done when this run began.
func (l *lab) before(run study.Run) bool {
	_, done := l.done[run.Point.ID][run.Repetition]
	return done
}

// await waits a little for other runners.
func (l *lab) await(ctx context.Context, held []study.Run) error {
	stage := "waiting for another runner with the same store: it is at the last repetition"
	if len(held) > 1 {
		stage = fmt.Sprintf("waiting for other runners with the same store: they are at the last %d repetitions", len(held))
	}
	l.watch(held[0], Event{Kind: Staged, Stage: stage})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(look):
		return nil
	}
}
