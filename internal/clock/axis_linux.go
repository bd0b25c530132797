package clock

import "golang.org/x/sys/unix"

const (
	// axis is the clock that Go's monotonic readings come from.
	axis = unix.CLOCK_MONOTONIC
	// unsteered is the same oscillator without the kernel's steering.
	unsteered = unix.CLOCK_MONOTONIC_RAW
)
