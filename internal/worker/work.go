package worker

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
)

// work simulates the application of one producer (Plan.ProducerDelay): a server that works on one message after the other. It
// begins when a message is due and the one before it has been handed over, and hands the message to the client library when the
// work is done. The library then holds it, in Send or because its window is full:
//
//	ready(k) = max(due(k), free(k−1)) + delay
//	free(k)  = ready(k) + held(k)
//
// In a closed loop a message is due as soon as the producer is free. These times are computed from the work alone, so that late
// timers don't add up: with 1 ms of work for each message, 1,000 are sent within a second, also if each wake-up is 0.1 ms late.
type work struct {
	freeAt   int64 // when the work on the next message can begin, ns on the clock's axis
	began    int64 // when the work on the trial's first message began
	readyAt  int64 // when the work on the last message that was sent was done
	messages int64 // that were sent
}

// done notes that the work on a message was done at ready, and that the message is sent now.
func (w *work) done(ready, delay int64) {
	if w.messages == 0 {
		w.began = ready - delay
	}
	w.freeAt, w.readyAt = ready, ready
	w.messages++
}

// busyShare returns for which share of its time a producer worked, from when the work on its first message began until that on the last one
// was done. It is 0 if it sent nothing, or without a delay.
func (w *work) busyShare(delay time.Duration) float64 {
	if w.messages == 0 || delay == 0 {
		return 0
	}
	return float64(w.messages) * float64(delay) / float64(w.readyAt-w.began)
}

// delay returns how long a producer works on each message, in ns.
func (c *client) delay() int64 { return int64(c.worker.plan.ProducerDelay) }

// readyAt returns when a message of a segment can be sent: at its intended time, or when the work on it is done.
func (c *client) readyAt(s *segment, message, intended int64) int64 {
	delay := c.delay()
	if delay == 0 {
		return intended
	}
	free := c.streams[s.turns.Of(message)].work.freeAt
	if s.share == nil {
		return free + delay
	}
	return max(intended, free) + delay
}

// ready counts the messages of a segment that can be sent now, up to most: those that are due and, if there is a delay, those of
// different producers that have been worked on.
func (c *client) ready(s *segment, now int64, most int) int {
	if c.delay() == 0 {
		return s.due(now, most)
	}
	due := s.due(now, min(most, len(c.streams)))
	for i := range due {
		message := s.next + int64(i)
		intended := now
		if s.share != nil {
			intended = s.at(message)
		}
		if c.readyAt(s, message, intended) > now {
			return i
		}
	}
	return due
}

// beginWork lets the producers begin to work when a segment starts.
func (c *client) beginWork(s *segment) {
	for i := range c.streams {
		w := &c.streams[i].work
		w.freeAt = max(w.freeAt, s.start)
	}
}

// resumeWork lets the producers of the last n messages of a segment continue. The library held these messages since they were
// ready: for h, and before that while they waited for slots. In a closed loop they make up for a late wake-up only as far as a
// timer may be late, and not for time in which the process stood still.
func (c *client) resumeWork(s *segment, n int, h hold) {
	if c.delay() == 0 {
		return
	}
	held := c.waited + h.held()
	c.waited = 0
	for message := s.next - int64(n); message < s.next; message++ {
		w := &c.streams[s.turns.Of(message)].work
		w.freeAt = min(w.freeAt+held, h.ended)
		if s.share == nil {
			w.freeAt = max(w.freeAt, h.ended-maxCatchUp)
		}
	}
}

// workLeft returns when the work could have been done on a message that was never sent and is intended at a time; before messages
// of the segment come before it.
func (c *client) workLeft(s *segment, before, intended int64) int64 {
	delay := c.delay()
	if delay == 0 {
		return intended
	}
	ready := c.readyAt(s, s.next, intended)
	return max(ready, c.streams[s.turns.Of(s.next)].work.freeAt+delay*(1+before/int64(len(c.streams))))
}

// Delay is the time for which a consumer's application works on each message before it takes the next one. The consumer
// acknowledges a message to the broker after that.
type Delay struct {
	Mean        time.Duration // 0: messages are only counted
	Exponential bool          // the time is exponentially distributed; false: it is always Mean
	Seed        int64
}

// application simulates the application of one consumer: a server that works on one message after the other. All times are ns on
// the clock's axis.
//
// It sleeps until times that are computed from the work alone, so that late timers don't add up. With work of 2 ms per message, a
// batch of three that comes at 0 is done at 6 ms, also if the timer of the first message fired at 2.7 ms instead of 2 ms.
type application struct {
	delay Delay
	rng   *rand.Rand
	timer *time.Timer
	ended <-chan struct{} // closed when the consumer ends; the rest of a batch is given up then

	freeAt     int64 // when the work on all messages so far should be done
	finishedAt int64 // when the work on the last batch was really done

	worked atomic.Int64 // ns of work taken on in this trial
}

// A timer of the runtime is up to a millisecond late. If the next batch comes within maxGap, ns, the application was never idle,
// and it makes up for the time that it woke too late. It makes up for maxCatchUp at most, because a longer delay is not a
// timer's.
const (
	maxGap     = int64(time.Millisecond)
	maxCatchUp = int64(5 * time.Millisecond)
)

// newApplication returns the application of a consumer, which ends when ended is closed; nil if there is no delay.
func newApplication(d Delay, consumer int, ended <-chan struct{}) *application {
	if d.Mean == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(uint64(d.Seed), uint64(consumer)))
	return &application{delay: d, rng: rng, timer: time.NewTimer(0), ended: ended}
}

// process passes the messages of a batch to receive, each when the work on the one before it is done, and returns when the work
// on the last one is done. receive reports whether there is work to do on a message.
func (a *application) process(batch []driver.Received, receive func(one []driver.Received) bool) {
	began := clock.Now()
	if began-a.finishedAt > maxGap {
		a.freeAt = began
	}
	a.freeAt = max(a.freeAt, began-maxCatchUp)
	for i := range batch {
		if !a.sleepUntil(a.freeAt) {
			return
		}
		if receive(batch[i : i+1]) {
			work := a.nextWork()
			a.worked.Add(work)
			a.freeAt += work
		}
	}
	a.sleepUntil(a.freeAt)
	a.finishedAt = clock.Now()
}

// nextWork returns how long the work on the next message takes, in ns.
func (a *application) nextWork() int64 {
	if a.delay.Exponential {
		return int64(a.rng.ExpFloat64() * float64(a.delay.Mean))
	}
	return int64(a.delay.Mean)
}

// busyShare returns for which share of its time the application worked, from when its first message came until the work on the
// last one is done. For example, 400 messages with 2 ms of work each that come within 1 s keep it busy for 0.8 of the time. It is
// 0 without an application, and if no message came.
func (a *application) busyShare(first, last int64) float64 {
	if a == nil || first == 0 {
		return 0
	}
	return float64(a.worked.Load()) / float64(last-first+int64(a.delay.Mean))
}

// sleepUntil sleeps until a time. It returns false if the consumer has ended.
func (a *application) sleepUntil(t int64) bool {
	wait := time.Duration(t - clock.Now())
	if wait <= 0 {
		return !stopped(a.ended)
	}
	a.timer.Reset(wait)
	select {
	case <-a.timer.C:
		return true
	case <-a.ended:
		return false
	}
}
