package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// parsePercent reads a percentage as a fraction: 0.05 for "5%".
func parsePercent(value string) (float64, error) {
	v, err := parseNumber(strings.TrimSuffix(value, "%"), 1)
	if err != nil {
		return 0, fmt.Errorf("%q is no percentage; allowed: a number such as -5%%", value)
	}
	return v / 100, nil
}

// parseQuantity reads a value in the unit u: 5e7 for "50ms" in nanoseconds.
func parseQuantity(u unit.Unit, value string) (float64, error) {
	written := writtenIn(u)
	if strings.HasPrefix(value, "-") {
		return 0, fmt.Errorf("%q is negative, which no measurement is; allowed: %s", value, written.allowed)
	}
	v, err := written.parse(value)
	if err != nil {
		return 0, fmt.Errorf("%q is no value here; allowed: %s", value, written.allowed)
	}
	return v, nil
}

// notation is how people write values of a unit.
type notation struct {
	allowed string // in words, with examples
	parse   func(value string) (float64, error)
}

// writtenIn returns the notation of a unit. Units without one of their own are written as plain numbers.
func writtenIn(u unit.Unit) notation {
	switch u {
	case unit.Nanoseconds:
		return notation{allowed: allowedTimes, parse: parseTimeIn(time.Nanosecond)}
	case unit.Seconds:
		return notation{allowed: allowedTimes, parse: parseTimeIn(time.Second)}
	case unit.Bytes:
		return notation{allowed: "bytes, such as 200MiB", parse: func(value string) (float64, error) {
			size, err := study.ParseSize(value)
			return float64(size), err
		}}
	case unit.CPUSeconds:
		return notation{allowed: "CPU seconds per million messages, such as 1.5s", parse: func(value string) (float64, error) {
			return parseNumber(strings.TrimSuffix(value, "s"), 1)
		}}
	case unit.PerSecond:
		return notation{allowed: "a rate, such as 10k/s or 25000", parse: func(value string) (float64, error) {
			return parseDecimal(strings.TrimSpace(strings.TrimSuffix(value, "/s")))
		}}
	default:
		return notation{allowed: "a number, such as 0 or 10k", parse: parseDecimal}
	}
}

const allowedTimes = "a time with its unit, such as 50ms or 300µs"

// parseTimeIn reads "50ms", and also "50 ms", as a number of units.
func parseTimeIn(u time.Duration) func(value string) (float64, error) {
	return func(value string) (float64, error) {
		d, err := time.ParseDuration(strings.ReplaceAll(value, " ", ""))
		return float64(d) / float64(u), err
	}
}

// parseDecimal reads a number that may end with k, M or G: 10,000 for "10k".
func parseDecimal(value string) (float64, error) {
	for suffix, factor := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if number, hasSuffix := strings.CutSuffix(value, suffix); hasSuffix {
			return parseNumber(number, factor)
		}
	}
	return parseNumber(value, 1)
}

// parseNumber reads a number, of which underscores may group the digits, and multiplies it by a factor. The product
// is neither infinite nor NaN.
func parseNumber(value string, factor float64) (float64, error) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(value), "_", ""), 64)
	v *= factor
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		return 0, strconv.ErrRange
	}
	return v, err
}
