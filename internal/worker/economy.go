package worker

import (
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
)

// Below these loads a single P does all the work of the generator with time to spare. A message is work twice, when it
// is sent and when it is received, and once more for each further subscription.
const (
	easyRate  = 25_000   // messages per second to one subscription
	easyBytes = 50 << 20 // payload bytes per second, likewise
)

// economise limits the runtime to one P for a load that one P can carry, and returns how many it may use now and how to
// undo it. With more, every message wakes idle threads that look for work, find none and sleep again: at 1,000/s that was
// half of what the generator took, from the cores that the broker needs. Sleepers bring their own P. Plan.Procs sets the
// limit for other loads.
func (w *Worker) economise(l Load) (procs int, restore func()) {
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

func (w *Worker) easy(l Load) bool {
	deliveries := len(w.plan.Topology.Subscriptions)
	if l.About > 0 {
		return easyAt(l.About, w.bodies.mean, deliveries)
	}
	return easy(l.Schedule, w.bodies.mean, deliveries)
}

// easy looks at the first minute of a schedule, which no shape but a long ramp changes after.
func easy(s schedule.Schedule, size float64, deliveries int) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if !easyAt(s.Rate(int64(at)), size, deliveries) {
			return false
		}
	}
	return true
}

func easyAt(rate, size float64, deliveries int) bool {
	work := rate * float64(1+deliveries) / 2
	return work <= easyRate && work*size <= easyBytes
}
