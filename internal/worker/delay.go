package worker

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
)

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
