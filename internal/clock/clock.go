// Package clock provides the one time axis of a host, in nanoseconds: it reads the time, sleeps until a time, notices when
// the process stood still, and relates the axis to that of another host. It knows nothing of messages or schedules.
//
// For example, a message is due at t. The generator calls Sleeper.SleepUntil(t), which returns about 30 µs late on Linux,
// and reads Now. If the process was stopped meanwhile for 80 ms, Watch.Stood reports it, so that the broker is not blamed.
package clock

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The axis is the kernel's monotonic clock. All processes of a host share it, the kernel can sleep until a time on it, and
// it can't be set. Go's monotonic time is the same clock, counted from the start of the process. Now reads Go's and adds
// the difference: that takes 25 ns, while clock_gettime is a system call from Go and takes 200 ns.
var (
	base   = time.Now()
	origin = calibrate() // base on the axis
)

// Now returns the time on the host's axis, in nanoseconds since a fixed moment (usually the boot). It may be called from
// any goroutine.
func Now() int64 { return origin + int64(time.Since(base)) }

// calibrate finds base on the axis. It reads the axis between two readings of Go's clock and takes it to be in their
// middle. The narrowest of many tries is within about 100 ns.
func calibrate() int64 {
	const tries = 100
	narrowest, at := time.Duration(math.MaxInt64), int64(0)
	for range tries {
		var ts unix.Timespec
		before := time.Since(base)
		if err := unix.ClockGettime(axis, &ts); err != nil {
			panic("clock: the monotonic clock: " + err.Error()) // no kernel is without it
		}
		after := time.Since(base)
		if width := after - before; width < narrowest {
			narrowest, at = width, ts.Nano()-int64(before+width/2)
		}
	}
	return at
}

// Pause blocks for a while. It returns the error of ctx if that ends before.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reach blocks until Now is t. It returns false if over was closed before.
func Reach(t int64, over <-chan struct{}) bool {
	select {
	case <-time.After(time.Duration(t - Now())):
		return true
	case <-over:
		return false
	}
}

// Repeat calls f in a goroutine of its own, first after a pause, then each time a pause after the last call has
// returned. The caller calls end once; it blocks until f runs no more.
func Repeat(pause time.Duration, f func()) (end func()) {
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for Reach(Now()+int64(pause), over) {
			f()
		}
	})
	return func() {
		close(over)
		running.Wait()
	}
}
