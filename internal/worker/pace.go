package worker

import (
	"context"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/schedule"
)

// coalesce is the least time between two wake-ups of a pacing producer: at 20,000/s it halves what pacing costs and
// adds at most this much lag, which is recorded as such.
const coalesce = 200 * time.Microsecond

// threads is how many producers may have a thread of their own to sleep on; more of them share one.
const threads = 4

// sleepers makes a sleeper for each of n producers, on the goroutine that calls it. Call release when all have ended.
func sleepers(n int) (sleep func() sleeper, release func()) {
	if n <= threads {
		return func() sleeper { return clock.NewSleeper() }, func() {}
	}
	alarm := clock.NewAlarm(coalesce)
	return func() sleeper { return alarm.Waiter() }, alarm.Close
}

type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// nap bounds one sleep, so that a stopped trial is noticed.
const nap = 50 * time.Millisecond

// openLoop sends the producer's share of a leg: what is due is claimed even while it has to wait for a slot, so that
// waiting is measured instead of omitted. It reports whether the leg was sent to its end.
func (p *producer) openLoop(ctx context.Context, t *trial, l *leg, s sleeper) (whole bool) {
	p.blame.free = max(p.blame.free, l.start)
	for l.next < l.limit {
		now := clock.Now()
		due := schedule.Due(l.share, l.next, now-l.start, int(min(l.limit-l.next, int64(len(p.batch)))))
		at := l.at(l.next)
		switch {
		case due == 0 && at >= l.until():
			return true
		case due == 0 && stopped(t.stop):
			return false
		case due == 0:
			s.SleepUntil(min(max(at, now+int64(coalesce)), now+int64(nap)))
			continue
		}
		n := p.slots.take(p.taken[:due])
		if n == 0 {
			h, ok := p.await(t)
			if p.blame.held(at, h); !ok {
				return false
			}
			continue
		}
		p.blame.took(n, due)
		n, more := p.claim(t, l, n)
		if n > 0 {
			p.blame.held(at, p.send(ctx, t, n))
		}
		if !more {
			return !stopped(t.stop)
		}
	}
	return true
}

// claim makes the next n messages of a leg, whose slots have been taken, and returns how many there were before the leg
// or the trial ended. They are booked before they are handed over.
func (p *producer) claim(t *trial, l *leg, n int) (made int, more bool) {
	books := booking{}
	defer books.close()
	until, sent := l.until(), clock.Now()
	for j, id := range p.taken[:n] {
		intended := l.at(l.next)
		if intended >= until || stopped(t.stop) {
			p.slots.put(p.taken[j:n])
			return j, false
		}
		s := &p.streams[l.turns.Of(l.next)]
		p.prepare(j, id, s, stamp{s.seq, intended, sent, p.blame.own(intended, sent)}, books.by(p.recorderOf(t, s)))
		s.seq++
		l.next++
	}
	return n, true
}

// booking commits what a batch books stream by stream.
type booking struct{ recorder *measure.Producer }

// by is r, with which is booked from here on.
func (b *booking) by(r *measure.Producer) *measure.Producer {
	if r != b.recorder {
		b.close()
		b.recorder = r
	}
	return r
}

func (b *booking) close() {
	if b.recorder != nil {
		b.recorder.Commit()
	}
}

// closedLoop sends as fast as the in-flight window allows: a message is intended when its slot is there.
func (p *producer) closedLoop(ctx context.Context, t *trial, l *leg) error {
	if w := t.load.Window; w > 0 && w < len(p.table) {
		kept := make([]uint32, len(p.table)-w)
		defer func(n int) { p.slots.put(kept[:n]) }(p.slots.take(kept))
	}
	for l.next < l.limit {
		n := p.slots.take(p.taken[:min(l.limit-l.next, int64(len(p.batch)))])
		if n == 0 {
			if _, ok := p.await(t); !ok {
				return p.flush(ctx)
			}
			continue
		}
		now := clock.Now()
		if now >= t.until.Load() || stopped(t.stop) {
			p.slots.put(p.taken[:n])
			return p.flush(ctx)
		}
		books := booking{}
		for j, id := range p.taken[:n] {
			s := &p.streams[p.turn]
			if p.turn++; p.turn == len(p.streams) {
				p.turn = 0
			}
			p.prepare(j, id, s, stamp{s.seq, now, now, 0}, books.by(p.recorderOf(t, s)))
			s.seq++
		}
		l.next += int64(n)
		books.close()
		p.send(ctx, t, n)
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
