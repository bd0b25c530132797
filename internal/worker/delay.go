package worker

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// Delay says how long a consumer's application works on each message before it takes the next one. The consumer acknowledges
// a message to the broker after that.
type Delay struct {
	Mean        time.Duration // 0: messages are only counted
	Exponential bool          // the work is exponentially distributed; false: it always takes Mean
	Seed        int64
}

// application works on the messages of one consumer, one after the other.
type application struct {
	delay Delay
	rng   *rand.Rand
	life  <-chan struct{} // closed when the consumer ends; the rest of a batch is given up then
	timer *time.Timer
	free  int64 // when the work on all messages so far should have been done, ns on the clock's axis
	left  int64 // when it was done

	worked atomic.Int64 // ns of work taken on in this trial
}

// A timer of the runtime is up to a millisecond late. If the next batch comes within atOnce, the application was never idle,
// and it makes up for the time that it woke too late, up to makesUp: later than that is not a timer's fault.
const (
	atOnce  = int64(time.Millisecond)
	makesUp = int64(5 * time.Millisecond)
)

// newApplication returns nil if there is no delay.
func newApplication(d Delay, consumer int) *application {
	if d.Mean == 0 {
		return nil
	}
	return &application{delay: d, rng: rand.New(rand.NewPCG(uint64(d.Seed), uint64(consumer))), timer: time.NewTimer(0)}
}

// each takes the messages of a batch one by one, each when the work on the one before it is done. It returns when the work on
// the last one is done. take reports whether there is work to do on a message.
func (a *application) each(batch [][]byte, take func(one [][]byte) bool) {
	began := clock.Now()
	if began-a.left > atOnce {
		a.free = began
	}
	a.free = max(a.free, began-makesUp)
	for i := range batch {
		if !a.until(a.free) {
			return
		}
		if take(batch[i : i+1]) {
			work := a.one()
			a.worked.Add(work)
			a.free += work
		}
	}
	a.until(a.free)
	a.left = clock.Now()
}

// one returns how long the work on the next message takes, in ns.
func (a *application) one() int64 {
	if a.delay.Exponential {
		return int64(a.rng.ExpFloat64() * float64(a.delay.Mean))
	}
	return int64(a.delay.Mean)
}

// working returns the share of the trial that the application worked: from the first message to the end of the work on the
// last one. It is 0 without an application, and if no message came.
func (a *application) working(first, last int64) float64 {
	if a == nil || first == 0 {
		return 0
	}
	return float64(a.worked.Load()) / float64(last-first+int64(a.delay.Mean))
}

// until sleeps until a time on the clock's axis. It returns false if the consumer has ended.
func (a *application) until(t int64) bool {
	wait := time.Duration(t - clock.Now())
	if wait <= 0 {
		select {
		case <-a.life:
			return false
		default:
			return true
		}
	}
	a.timer.Reset(wait)
	select {
	case <-a.timer.C:
		return true
	case <-a.life:
		return false
	}
}
