package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// disciplinedByKernel asks for what the kernel was told: ntpd, timesyncd and chrony tell it how large the error can be, and
// the kernel lets that grow by 500 ppm until they tell it anew.
func disciplinedByKernel() (Discipline, bool) {
	var now unix.Timex // Modes 0: nothing is set
	state, err := unix.Adjtimex(&now)
	if err != nil || state == unix.TIME_ERROR || now.Status&unix.STA_UNSYNC != 0 {
		return Discipline{}, false
	}
	return Discipline{By: "kernel", Bound: time.Duration(now.Maxerror) * time.Microsecond}, true
}
