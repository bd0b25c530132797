package exchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/hist"
)

// Quantiles is a table of percentiles as the OpenMessaging Benchmark writes it, by rising percentile. In JSON it is an
// object: {"50.0": 1.2, "99.0": 4.5}.
type Quantiles []Quantile

// Quantile says that Percent (0 to 100) of all values are at most Value.
type Quantile struct{ Percent, Value float64 }

// MarshalJSON writes percentiles as Java writes doubles: 50.0, never 50.
func (q Quantiles) MarshalJSON() ([]byte, error) {
	object := []byte{'{'}
	for i, e := range q {
		if i > 0 {
			object = append(object, ',')
		}
		percent := strconv.FormatFloat(e.Percent, 'f', -1, 64)
		if e.Percent == math.Trunc(e.Percent) {
			percent += ".0"
		}
		object = fmt.Appendf(object, "%q:%s", percent, strconv.FormatFloat(e.Value, 'f', -1, 64))
	}
	return append(object, '}'), nil // json.Marshal refuses it if a value is NaN or infinite: these are no JSON
}

// mostImported is more than any latency in milliseconds (30 years) or rate that was measured. It leaves room for the
// sums of such numbers in 64 bits.
const mostImported = 1e12

// UnmarshalJSON refuses percentiles outside 0 to 100 or given twice, values outside 0 to mostImported, and values that
// fall while the percentile rises.
func (q *Quantiles) UnmarshalJSON(data []byte) error {
	var table map[string]float64
	if err := json.Unmarshal(data, &table); err != nil {
		return fmt.Errorf("quantile table: %w", err)
	}
	list := make(Quantiles, 0, len(table))
	for _, key := range slices.Sorted(maps.Keys(table)) { // so that of several bad ones the same is named every time
		value := table[key]
		percent, err := strconv.ParseFloat(key, 64)
		isPercent := 0 <= percent && percent <= 100 // false for NaN
		if err != nil || !isPercent {
			return fmt.Errorf("quantile table: percentile %q, allowed are 0 to 100", key)
		}
		if value < 0 {
			return fmt.Errorf("quantile table: %v at percentile %s, allowed are 0 and above", value, key)
		}
		if value > mostImported {
			return fmt.Errorf("quantile table: %v at percentile %s, allowed are up to %v", value, key, mostImported)
		}
		list = append(list, Quantile{Percent: percent, Value: value})
	}
	slices.SortFunc(list, func(a, b Quantile) int { return cmp.Compare(a.Percent, b.Percent) })
	for i := 1; i < len(list); i++ {
		before, q := list[i-1], list[i]
		if q.Percent == before.Percent { // as "50" and "50.0"
			return fmt.Errorf("quantile table: percentile %v stands there twice", q.Percent)
		}
		if q.Value < before.Value {
			return fmt.Errorf("quantile table: %v at percentile %v is less than %v at %v",
				q.Value, q.Percent, before.Value, before.Percent)
		}
	}
	*q = list
	return nil
}

// mostGuessed is more values than a table of percentiles needs to tell its steps apart.
const mostGuessed = 1_000_000

// least is of how many values at least each step of the table has one: 100 for {50, 99, 100}. It is at most mostGuessed.
func (q Quantiles) least() int64 {
	below, finest := 0.0, 100.0
	for _, step := range q {
		if width := step.Percent - below; width > 0 {
			finest = min(finest, width)
		}
		below = step.Percent
	}
	return int64(min(math.Ceil(100/finest-1e-6), mostGuessed))
}

// snapshot rebuilds a histogram of n values, one at least, from a table whose unit is unitNs nanoseconds. Every value
// stands at the upper end of its step, so that the percentiles of the table come out exactly. For example, of 100 values
// {50: 1 ms, 100: 3 ms} makes 50 of 1 ms and 50 of 3 ms. If the table ends below 100 %, its last value counts for the
// rest. An empty table makes an empty histogram.
func (q Quantiles) snapshot(n int64, unitNs float64) hist.Snapshot {
	if len(q) == 0 {
		return hist.Snapshot{}
	}
	h := hist.New()
	var counted int64
	for i, step := range q {
		upTo := int64(math.Round(float64(n) * step.Percent / 100)) // so many values are at most step.Value
		isLast := i == len(q)-1
		if isLast {
			upTo = n
		} else {
			upTo = min(upTo, n-1) // leave the last step one value at least
		}
		h.RecordN(int64(math.Round(step.Value*unitNs)), upTo-counted) // nothing if no value is between the two
		counted = max(counted, upTo)
	}
	return h.Snapshot()
}
