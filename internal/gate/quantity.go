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

// parsePercent reads a percentage as a fraction, 0.05 for "5%", and refuses one below the lowest that can be.
func parsePercent(value string, lowest float64) (float64, error) {
	v, err := parseNumber(strings.TrimSuffix(value, "%"), 1)
	if err != nil {
		return 0, fmt.Errorf("%q is no percentage; allowed: a number such as 5%%", value)
	}
	if v/100 < lowest {
		return 0, fmt.Errorf("%q is below all that can be; allowed: %g%% and more", value, 100*lowest)
	}
	return v / 100, nil
}

// parseQuantity reads a value, without spaces around it, in the unit u: 5e7 for "50ms" in nanoseconds.
func parseQuantity(u unit.Unit, value string) (float64, error) {
	if strings.HasPrefix(value, "-") {
		return 0, fmt.Errorf("%q is negative, which no measurement is; allowed: %s", value, allowedIn(u))
	}
	v, err := parseIn(u, value)
	if err != nil {
		return 0, fmt.Errorf("%q is no value here; allowed: %s", value, allowedIn(u))
	}
	return v, nil
}

// allowedIn returns how values of a unit are written. Units without a notation of their own are plain numbers.
func allowedIn(u unit.Unit) string {
	switch u {
	case unit.Nanoseconds, unit.Seconds:
		return "a time with its unit, such as 50ms or 300µs"
	case unit.Bytes:
		return "bytes, such as 200MiB"
	case unit.CPUSeconds:
		return "CPU seconds per million messages, such as 1.5s"
	case unit.PerSecond:
		return "a rate, such as 10k/s or 25000"
	}
	return "a number, such as 0 or 10k"
}

// parseIn reads a value in the unit u, also a negative one.
func parseIn(u unit.Unit, value string) (float64, error) {
	switch u {
	case unit.Nanoseconds:
		d, err := parseTime(value)
		return float64(d), err
	case unit.Seconds:
		d, err := parseTime(value)
		return d.Seconds(), err
	case unit.Bytes:
		return study.ParseBytes(value)
	case unit.CPUSeconds:
		return parseNumber(strings.TrimSuffix(value, "s"), 1)
	case unit.PerSecond:
		return parseDecimal(strings.TrimSpace(strings.TrimSuffix(value, "/s")))
	}
	return parseDecimal(value)
}

// parseTime reads "50ms", and also "50 ms".
func parseTime(value string) (time.Duration, error) {
	return time.ParseDuration(strings.ReplaceAll(value, " ", ""))
}

// parseDecimal reads a number that may end with k, M or G: 10,000 for "10k".
func parseDecimal(value string) (float64, error) {
	for suffix, factor := range map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if number, ok := strings.CutSuffix(value, suffix); ok {
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
