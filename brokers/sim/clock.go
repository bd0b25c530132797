package sim

import (
	"math"
	"time"
)

var epoch = time.Now()

// now returns the time on the broker's own clock, in nanoseconds, which has nothing to do with the harness's.
func now() int64 { return int64(time.Since(epoch)) }

const never = int64(math.MaxInt64)

// burn uses a core for so long.
func burn(ns int64) {
	for end := now() + ns; now() < end; {
	}
}
