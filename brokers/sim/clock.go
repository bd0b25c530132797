package sim

import (
	"math"
	"time"
)

var epoch = time.Now()

// now is the broker's own clock, in nanoseconds. It has nothing to do with the harness's: a broker has one too.
func now() int64 { return int64(time.Since(epoch)) }

const never = int64(math.MaxInt64)

// burn uses a core for so long.
func burn(ns int64) {
	for end := now() + ns; now() < end; {
	}
}
