package clock

import "golang.org/x/sys/unix"

// axis is the clock that Go's monotonic readings come from.
const axis = unix.CLOCK_MONOTONIC
