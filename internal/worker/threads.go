package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/schedule"
)

// threadsFor returns how many threads may run Go code at once (GOMAXPROCS) during a trial: one if one can carry the load, and
// Plan.Procs otherwise.
//
// With more threads, every message wakes idle ones that look for work, find none and sleep again. At 1,000/s that was half of the
// generator's processor time, taken from cores that the broker needs. Threads that only sleep don't count.
func (w *Worker) threadsFor(l Load) int {
	all := clock.SetThreads(0) // reads the limit
	switch {
	case l.Schedule != nil && w.oneThreadSuffices(l):
		return 1
	case w.plan.Procs > 0:
		return min(w.plan.Procs, all)
	}
	return all
}

// oneThreadSuffices reports whether one thread can carry the worker's share of a load.
func (w *Worker) oneThreadSuffices(l Load) bool {
	m := messageWork{meanBytes: w.bodies.meanBytes, subscriptions: len(w.plan.Topology.Subscriptions)}
	if l.RateForThreads > 0 {
		return m.oneThreadCarries(w.plan.share() * l.RateForThreads)
	}
	return m.oneThreadCarriesAll(l.Schedule, w.plan.share())
}

// messageWork is how much work a message makes for the generator: it is sent once, and received by each subscription.
type messageWork struct {
	meanBytes     float64
	subscriptions int
}

// Up to these loads to one subscription, one thread does all the work of the generator with time to spare.
const (
	oneThreadRate  = 25_000   // messages per second
	oneThreadBytes = 50 << 20 // payload bytes per second
)

// oneThreadCarries reports whether one thread can carry a rate in messages per second. For example, 819/s to 60 subscriptions are
// 819·(1+60)/2 ≈ 24,980 messages/s to one subscription, which is below the limit.
func (m messageWork) oneThreadCarries(rate float64) bool {
	equivalent := rate * float64(1+m.subscriptions) / 2 // the rate to one subscription that is as much work
	return equivalent <= oneThreadRate && equivalent*m.meanBytes <= oneThreadBytes
}

// oneThreadCarriesAll reports whether one thread can carry a share of a schedule, from 0 to 1, all the time. It looks at the rate
// of the first minute only, every 100 ms; a ramp may rise after that.
func (m messageWork) oneThreadCarriesAll(s schedule.Schedule, share float64) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if !m.oneThreadCarries(share * s.Rate(int64(at))) {
			return false
		}
	}
	return true
}
