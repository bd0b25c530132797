package clock

import "golang.org/x/sys/unix"

// axis is the clock that Go's monotonic readings come from: mach_absolute_time, which stands still while a Mac sleeps.
const axis = unix.CLOCK_UPTIME_RAW
