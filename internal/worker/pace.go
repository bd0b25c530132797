package worker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// coalescing is the least time between two wake-ups of a client that follows a schedule. Messages that become due meanwhile are
// sent together, up to this much late, and the lag is recorded. At 20,000/s to sim, wake-ups 50 µs apart cost the generator about
// a third more processor time than 200 µs apart, and 10 µs twice as much. So the gap is as long as the latency allows: a tenth of
// its median, of which coalescing adds half on average. The median is that of the last half second, also in warm-ups; a trial
// begins with the median of the one before.
//
// The zero value coalesces fully. One goroutine calls follow, any calls gap.
type coalescing struct{ ns atomic.Int64 }

const (
	mostCoalesced  = 200 * time.Microsecond // from a median latency of 2 ms on
	leastCoalesced = 50 * time.Microsecond  // about as late as a thread wakes: less would cost a core at high rates, and send no earlier
	coalescedShare = 10                     // of the median latency: a tenth
)

// gap returns the least time between two wake-ups.
func (c *coalescing) gap() time.Duration {
	if ns := c.ns.Load(); ns > 0 {
		return time.Duration(ns)
	}
	return mostCoalesced
}

// follow sets the gap by measured latencies. Without any, for example if the consumers are in another process, the gap stays.
func (c *coalescing) follow(latencies Quantiles) {
	if latencies.Count > 0 {
		c.ns.Store(min(max(latencies.P50/coalescedShare, int64(leastCoalesced)), int64(mostCoalesced)))
	}
}

// maxSleep bounds one sleep, so that a client notices that the trial was stopped.
const maxSleep = 50 * time.Millisecond

// sendSegment sends a segment, the client's share of a schedule, and reports whether it was sent to its end; false if the trial
// was stopped. For example, a message is due every 2 ms, and Send takes 6 ms. Then three are due when it returns, and they make
// the next batch. sleeper is nil in a closed loop without a delay, where a message is due as soon as a slot is free.
//
// It sends the messages that are due in batches, as many as there are free slots. If no slot is free, the messages of a schedule
// stay due and are sent late. Each keeps its intended time, so that its latency includes the wait, and the work of its producer.
func (c *client) sendSegment(ctx context.Context, t *trial, s *segment, sleeper sleeper) (finished bool) {
	c.ownLag.freeAt = max(c.ownLag.freeAt, s.start)
	c.beginWork(s)
	for s.next < s.limit {
		if stopped(t.stop) {
			return false
		}
		now := clock.Now()
		intended := s.nextAt(now)
		if intended >= s.until() {
			return true
		}
		ready := c.readyAt(s, s.next, intended)
		due := c.ready(s, now, len(c.batch))
		if due == 0 {
			wake := max(ready, now+int64(c.worker.coalescing.gap()))
			sleeper.SleepUntil(min(wake, now+int64(maxSleep)))
			continue
		}
		slots := c.freeSlots.take(c.batchSlots[:due])
		if slots == 0 {
			waited := c.awaitSlots(t)
			c.ownLag.addHold(ready, waited)
			c.waited += waited.held()
			continue
		}
		c.ownLag.noteTaken(slots, due)
		if n := c.fillBatch(t, s, slots); n > 0 {
			sending := c.send(ctx, t, n)
			c.ownLag.addHold(ready, sending)
			c.resumeWork(s, n, sending)
		}
	}
	return true
}

// fillBatch fills the batch with the next messages of a segment, in the first so many slots of batchSlots. If the segment has
// fewer messages, it frees the slots that are left. It returns the number of messages. They are booked before they are handed
// over, because a consumer can receive one before Send returns.
func (c *client) fillBatch(t *trial, s *segment, slots int) (n int) {
	until, now := s.until(), clock.Now()
	var recorder *measure.Producer // of the stream of the last message; it must commit before that of another stream books
	for n < slots {
		intended := s.nextAt(now)
		ready := c.readyAt(s, s.next, intended)
		if intended >= until || ready > now {
			c.freeSlots.put(c.batchSlots[n:slots])
			break
		}
		from := &c.streams[s.turns.Of(s.next)]
		if next := c.recorderOf(t, from); next != recorder {
			commit(recorder)
			recorder = next
		}
		m := stamp{seq: from.seq, intended: intended, sent: now, own: c.ownLag.ownPart(ready, now)}
		from.work.done(ready, c.delay())
		c.fillSlot(n, c.batchSlots[n], from, m, recorder)
		from.seq++
		s.next++
		n++
	}
	commit(recorder)
	return n
}

// commit commits what a recorder has booked; nil has booked nothing.
func commit(recorder *measure.Producer) {
	if recorder != nil {
		recorder.Commit()
	}
}

// reserveSlots takes slots out of use until only a window of them is left, and returns those it took: of 1,000 slots, a window of 32
// messages reserves 968. So many are free, since the trial before has left at most a window of messages in flight.
func (c *client) reserveSlots(window int) []uint32 {
	if window == 0 || window >= len(c.slots) {
		return nil
	}
	reserved := make([]uint32, len(c.slots)-window)
	return reserved[:c.freeSlots.take(reserved)]
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// sleeper sleeps for one goroutine, until a time on the clock's axis.
type sleeper interface {
	SleepUntil(t int64)
	Close()
}

// maxThreads is how many clients may have a thread of their own to sleep on, which wakes them most exactly. More clients share
// one alarm: it wakes them a little later, but a thousand threads would cost more.
const maxThreads = 4

// sleepers makes the sleepers of all clients of a trial.
type sleepers struct {
	alarm *clock.Alarm // that all clients share; nil: each client has a thread of its own
}

// newSleepers makes the sleepers of so many clients. gap is how far apart wake-ups on a shared thread are.
func newSleepers(clients int, gap func() time.Duration) sleepers {
	if clients <= maxThreads {
		return sleepers{}
	}
	return sleepers{alarm: clock.NewAlarm(gap)}
}

// next makes the sleeper of one client, whose goroutine calls it.
func (s sleepers) next() sleeper {
	if s.alarm == nil {
		return clock.NewSleeper()
	}
	return s.alarm.NewWaiter()
}

// close ends the alarm. All clients must have ended.
func (s sleepers) close() {
	if s.alarm != nil {
		s.alarm.Close()
	}
}
