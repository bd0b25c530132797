package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// disciplinedByKernel asks the kernel. ntpd, timesyncd and chrony tell it how large the error may be, and the kernel lets that
// grow by 500 ppm until they tell it again.
func disciplinedByKernel() (Discipline, bool) {
	var t unix.Timex // its zero value only asks
	state, err := unix.Adjtimex(&t)
	if err != nil || state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0 {
		return Discipline{}, false
	}
	return Discipline{By: "kernel", Bound: time.Duration(t.Maxerror) * time.Microsecond}, true
}
