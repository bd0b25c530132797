package results

import (
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/study"
)

// Magnitude is what the value of an axis measures: a number, a size in bytes, or a duration in nanoseconds; ok tells
// whether it measures anything.
func Magnitude(text string) (v float64, ok bool) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, true
	}
	if size, err := study.ParseSize(text); err == nil {
		return float64(size), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return float64(d), true
	}
	return 0, false
}
