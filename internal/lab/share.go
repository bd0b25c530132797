package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// Several runners with the same store share the repetitions of a study. A runner claims a repetition before it runs it, and the
// others leave it alone while the claim is kept. For example, of 3 repetitions runner A claims the first and B the second; A is done
// first and claims the third; B finds nothing to do and waits until A has stored it, or until A's claim has run out.

// askAgainEvery is how often a runner that has nothing else to do asks whether a repetition that another one has claimed is done.
const askAgainEvery = time.Second

// readDone reads from the store which repetitions are done, unless all are to be run again, and prepares to claim the others. If ctx
// ends meanwhile, it returns ctx's error.
func (l *lab) readDone(ctx context.Context, runs []study.Run) error {
	if l.options.Again {
		return l.openClaims(ctx)
	}
	points := map[string]bool{}
	for _, r := range runs {
		points[r.Point.ID] = true
	}
	var err error
	l.done, err = l.options.Store.Done(ctx, slices.Sorted(maps.Keys(points)))
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return l.openClaims(ctx)
}

// openClaims prepares to claim repetitions. If that fails, everything is run without claims, as if by a single runner: the database's
// user, for example, may append records but not make the table of claims.
func (l *lab) openClaims(ctx context.Context) error {
	claims, err := l.options.Store.Claims(ctx, l.options.Again, l.options.Lease)
	if err == nil {
		l.claims = claims
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintf(l.options.Log, "%v; other runners with this store may do the same work\n", err)
	return nil
}

// claim claims a repetition, unless it is done or another runner holds it. With store.Claimed it returns a release: the caller runs the
// repetition and then calls release. A repetition also counts as claimed if the store takes no claims or can't be reached, so that at
// worst two runners do it, and if ctx has ended, when the caller runs nothing.
func (l *lab) claim(ctx context.Context, run study.Run) (_ store.Standing, release func()) {
	if l.doneBefore(run) {
		return store.Done, nil
	}
	noClaim := func() {}
	if l.claims == nil {
		return store.Claimed, noClaim
	}
	standing, err := l.claims.Claim(ctx, run.Point.ID, run.Repetition)
	if err != nil {
		if ctx.Err() == nil { // else the error says nothing about the store
			fmt.Fprintf(l.options.Log, "claim %s, repetition %d: %v; it is run without a claim\n", run.Point.Label, run.Repetition, err)
		}
		return store.Claimed, noClaim
	}
	if standing != store.Claimed {
		return standing, nil
	}
	return store.Claimed, l.claims.Keep(run.Point.ID, run.Repetition)
}

// doneBefore reports whether a repetition was done when this run began.
func (l *lab) doneBefore(run study.Run) bool {
	_, done := l.done[run.Point.ID][run.Repetition]
	return done
}

// await reports that other runners hold repetitions, at least one, and sleeps for askAgainEvery.
func (l *lab) await(ctx context.Context, held []study.Run) error {
	stage := "waiting for another runner with the same store: it is at the last repetition"
	if len(held) > 1 {
		stage = fmt.Sprintf("waiting for other runners with the same store: they are at the last %d repetitions", len(held))
	}
	l.watch(held[0], Event{Kind: Staged, Stage: stage})
	return clock.Pause(ctx, askAgainEvery)
}
