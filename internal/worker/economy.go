package worker

import (
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
)

// Up to these loads one thread does all the work of the generator with time to spare. Each message is work when it is
// sent, and once more for each subscription that receives it; the limits hold for one subscription.
const (
	easyRate  = 25_000   // messages per second
	easyBytes = 50 << 20 // payload bytes per second
)

// limitThreads limits the runtime to one thread (GOMAXPROCS) for a load that one thread can carry, and to Plan.Procs for
// others. It returns the limit and a function that undoes it.
//
// With more threads every message wakes idle ones that look for work, find none and sleep again. At 1,000/s that was half
// of the generator's processor time, taken from cores that the broker needs. Threads that only sleep don't count.
func (w *Worker) limitThreads(l Load) (procs int, restore func()) {
	before := runtime.GOMAXPROCS(0)
	procs = w.plan.Procs
	if l.Schedule != nil && w.easy(l) {
		procs = 1
	}
	if procs == 0 || procs >= before {
		return before, func() {}
	}
	runtime.GOMAXPROCS(procs)
	return procs, func() { runtime.GOMAXPROCS(before) }
}

// easy reports whether one thread can carry a load. Load.RateForThreads, if given, stands for the rate of the schedule.
func (w *Worker) easy(l Load) bool {
	deliveries := len(w.plan.Topology.Subscriptions)
	if l.RateForThreads > 0 {
		return easyAt(w.plan.share()*l.RateForThreads, w.bodies.mean, deliveries)
	}
	return easy(l.Schedule, w.plan.share(), w.bodies.mean, deliveries)
}

// easy reports whether one thread can carry a share of a schedule. It looks at the first minute: only a long ramp changes after that.
func easy(s schedule.Schedule, share, size float64, deliveries int) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if !easyAt(share*s.Rate(int64(at)), size, deliveries) {
			return false
		}
	}
	return true
}

// easyAt reports whether one thread can carry a rate. size is the mean payload in bytes.
func easyAt(rate, size float64, deliveries int) bool {
	work := rate * float64(1+deliveries) / 2
	return work <= easyRate && work*size <= easyBytes
}
