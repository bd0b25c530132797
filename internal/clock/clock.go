// Package clock provides the one time axis of a host, in nanoseconds: it reads the time, sleeps until a time, notices when
// the process stood still, and relates the axis to that of another host. It knows nothing of messages or schedules.
//
// For example, a message is due at t. The generator calls Sleeper.SleepUntil(t), which returns about 30 µs late on Linux,
// and reads Now. If the process was stopped meanwhile for 80 ms, Watch.Stood reports it, so that the broker is not blamed.
package clock

import (
	"math"
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
