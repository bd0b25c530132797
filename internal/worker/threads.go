package worker

import (
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
)

// Up to these loads one thread does all the work of the generator with time to spare. A message is work when it is sent, and again for
// each subscription that receives it. The limits are for one subscription.
const (
	oneThreadRate  = 25_000   // messages per second
	oneThreadBytes = 50 << 20 // payload bytes per second
)

// limitThreads limits the runtime (GOMAXPROCS) to one thread if one can carry the load, and to Plan.Procs otherwise. It returns the
// number of threads and a function that lifts the limit.
//
// With more threads, every message wakes idle ones that look for work, find none and sleep again. At 1,000/s that was half of the generator's
// processor time, taken from cores that the broker needs. Threads that only sleep don't count.
func (w *Worker) limitThreads(l Load) (procs int, restore func()) {
	before := runtime.GOMAXPROCS(0)
	procs = w.plan.Procs
	if l.Schedule != nil && w.oneThreadSuffices(l) {
		procs = 1
	}
	if procs == 0 || procs >= before {
		return before, func() {}
	}
	runtime.GOMAXPROCS(procs)
	return procs, func() { runtime.GOMAXPROCS(before) }
}

// oneThreadSuffices reports whether one thread can carry the worker's share of a load.
func (w *Worker) oneThreadSuffices(l Load) bool {
	share, size, subscriptions := w.plan.share(), w.bodies.meanBytes, len(w.plan.Topology.Subscriptions)
	if l.RateForThreads > 0 {
		return oneThreadCarries(share*l.RateForThreads, size, subscriptions)
	}
	return oneThreadCarriesAll(l.Schedule, share, size, subscriptions)
}

// oneThreadCarriesAll reports whether one thread can carry a share of a schedule all the time. It looks at the first minute only; a
// ramp may rise after that.
func oneThreadCarriesAll(s schedule.Schedule, share, meanBytes float64, subscriptions int) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if !oneThreadCarries(share*s.Rate(int64(at)), meanBytes, subscriptions) {
			return false
		}
	}
	return true
}

// oneThreadCarries reports whether one thread can carry a rate in messages per second. For example, 819/s to 60 subscriptions are
// 819·(1+60)/2 ≈ 24,980 messages/s to one subscription, which is below the limit.
func oneThreadCarries(rate, meanBytes float64, subscriptions int) bool {
	equivalent := rate * float64(1+subscriptions) / 2 // the rate to one subscription that is as much work
	return equivalent <= oneThreadRate && equivalent*meanBytes <= oneThreadBytes
}
