package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/schedule"
)

// coalesce is the least time between two wake-ups of a pacing producer: at 20,000/s it halves what pacing costs and
// adds at most this much lag, which is recorded as such.
const coalesce = 200 * time.Microsecond

// nap bounds one sleep, so that a stopped trial is noticed.
const nap = 50 * time.Millisecond

// openLoop sends the producer's share of the schedule: what is due is claimed even while it has to wait for a slot,
// so that waiting is measured instead of omitted.
func (p *producer) openLoop(ctx context.Context, t *trial, share schedule.Schedule, start, limit int64) error {
	sleeper := clock.NewSleeper()
	defer sleeper.Close()
	recorder := t.measure.Producer(p.plan.ID)
	free := start // when the producer was last held up
	for i := int64(0); i < limit; {
		now := clock.Now()
		due := schedule.Due(share, i, now-start, int(min(limit-i, int64(len(p.batch)))))
		if due == 0 {
			next := start + share.At(i)
			if next >= t.until.Load() || stopped(t.stop) {
				return p.flush(ctx)
			}
			sleeper.SleepUntil(min(max(next, now+int64(coalesce)), now+int64(nap)))
			continue
		}
		n := p.slots.take(p.taken[:due])
		if n == 0 {
			if !p.await(t) {
				return p.flush(ctx)
			}
			free = clock.Now()
			continue
		}
		until := t.until.Load()
		sent := clock.Now()
		oldest := start + share.At(i)
		for j, id := range p.taken[:n] {
			intended := start + share.At(i+int64(j))
			if intended >= until || stopped(t.stop) {
				p.slots.put(p.taken[j:n])
				n, limit = j, i+int64(j)
				break
			}
			p.message(j, id, p.seq, intended, sent, recorder)
			p.seq++
		}
		if n == 0 {
			break
		}
		i += int64(n)
		recorder.Commit(sent - max(oldest, free))
		free = p.send(ctx, n)
	}
	return p.flush(ctx)
}

// closedLoop sends as fast as the in-flight window allows: a message is intended when its slot is there.
func (p *producer) closedLoop(ctx context.Context, t *trial, limit int64) error {
	recorder := t.measure.Producer(p.plan.ID)
	if w := t.load.Window; w > 0 && w < len(p.table) {
		kept := make([]uint32, len(p.table)-w)
		defer func(n int) { p.slots.put(kept[:n]) }(p.slots.take(kept))
	}
	for i := int64(0); i < limit; {
		n := p.slots.take(p.taken[:min(limit-i, int64(len(p.batch)))])
		if n == 0 {
			if !p.await(t) {
				return p.flush(ctx)
			}
			continue
		}
		now := clock.Now()
		if now >= t.until.Load() || stopped(t.stop) {
			p.slots.put(p.taken[:n])
			return p.flush(ctx)
		}
		for j, id := range p.taken[:n] {
			p.message(j, id, p.seq, now, now, recorder)
			p.seq++
		}
		i += int64(n)
		recorder.Commit(0)
		p.send(ctx, n)
	}
	return p.flush(ctx)
}

func (p *producer) flush(ctx context.Context) error { return p.client.Flush(ctx) }

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}
