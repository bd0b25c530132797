package worker

import (
	"runtime"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
)

// Below these loads a single P does all the work of the generator with time to spare.
const (
	easyRate  = 25_000   // messages per second
	easyBytes = 50 << 20 // payload bytes per second
)

// economise limits the runtime to one P for a load that one P can carry, and returns how to undo it. With more, every
// message wakes idle threads that look for work, find none and sleep again: at 1,000/s that was half of what the
// generator took, from the cores that the broker needs. Sleepers bring their own P. Plan.Procs sets the limit for other
// loads.
func (w *Worker) economise(s schedule.Schedule) (restore func()) {
	procs := w.plan.Procs
	if s != nil && easy(s, w.bodies.mean) {
		procs = 1
	}
	if procs == 0 || procs >= runtime.GOMAXPROCS(0) {
		return func() {}
	}
	before := runtime.GOMAXPROCS(procs)
	return func() { runtime.GOMAXPROCS(before) }
}

// easy looks at the first minute of a schedule, which no shape but a long ramp changes after.
func easy(s schedule.Schedule, size float64) bool {
	for at := time.Duration(0); at <= time.Minute; at += 100 * time.Millisecond {
		if rate := s.Rate(int64(at)); rate > easyRate || rate*size > easyBytes {
			return false
		}
	}
	return true
}
