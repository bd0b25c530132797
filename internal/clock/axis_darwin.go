package clock

import "golang.org/x/sys/unix"

const (
	// axis is the clock that Go's monotonic readings come from: mach_absolute_time, which stands still while a Mac sleeps.
	axis = unix.CLOCK_UPTIME_RAW
	// unsteered is the same: it is not steered.
	unsteered = axis
)
