package worker

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// Delay is how long a consumer's application works on each message before it takes the next one. Messages are
// acknowledged to the broker after that.
type Delay struct {
	Mean        time.Duration // 0: it only counts them
	Exponential bool          // distributed so around Mean; false: always Mean
	Seed        int64
}

// application works on the messages of one consumer, one after the other.
type application struct {
	delay Delay
	rng   *rand.Rand
	life  <-chan struct{} // closed when the consumer ends: what is left of a batch is then given up
	timer *time.Timer
	free  int64 // when it should have been free
	left  int64 // when it really was

	worked atomic.Int64 // ns of work taken on in this trial
}

// A timer of the runtime is up to a millisecond late. An application that gets the next message at once has had no rest:
// what it woke late it makes up for, unless that is more than a timer's fault.
const (
	atOnce  = int64(time.Millisecond)
	makesUp = int64(5 * time.Millisecond)
)

func newApplication(d Delay, consumer int) *application {
	if d.Mean == 0 {
		return nil
	}
	return &application{delay: d, rng: rand.New(rand.NewPCG(uint64(d.Seed), uint64(consumer))), timer: time.NewTimer(0)}
}

// each has the messages of a batch taken one by one, each when the work on the one before it is done, and returns when the
// last one's is. take tells whether there is work to do.
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

// one is how long the work on a message takes.
func (a *application) one() int64 {
	if a.delay.Exponential {
		return int64(a.rng.ExpFloat64() * float64(a.delay.Mean))
	}
	return int64(a.delay.Mean)
}

// working is the share of the time from first to last, and the work on the last message, that it worked.
func (a *application) working(first, last int64) float64 {
	if a == nil || first == 0 {
		return 0
	}
	return float64(a.worked.Load()) / float64(last-first+int64(a.delay.Mean))
}

// until sleeps to a time on the clock's axis; false: the consumer has ended.
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
