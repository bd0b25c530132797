package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// Room around the data on an axis, as factors of the data.
const (
	logMargin      = 1.15 // on either side of a logarithmic axis
	leastLogSpan   = 3    // highest to lowest value: on less, a flat line would look like a cliff
	linearHeadroom = 1.05 // at the upper end of a linear axis
)

// scaling is how an axis places values.
type scaling int

const (
	logarithmic scaling = iota // only values above 0 have a place
	linear
)

// valueRange is the range of the values that an axis shows.
type valueRange struct {
	scaling   scaling
	low, high float64 // low > high: there are no values yet
}

func emptyRange(s scaling) valueRange {
	return valueRange{scaling: s, low: math.Inf(1), high: math.Inf(-1)}
}

func (r valueRange) empty() bool { return r.low > r.high }

// add widens r by a value. NaN, infinity, and 0 or less on a logarithmic axis have no place: they leave r as it is.
func (r *valueRange) add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || (r.scaling == logarithmic && v <= 0) {
		return
	}
	r.low, r.high = min(r.low, v), max(r.high, v)
}

// setAxis makes an axis for values. labels is the most that a logarithmic axis has, and about how many a linear one has.
func setAxis(a *plot.Axis, values valueRange, u unit.Unit, labels int) {
	switch {
	case values.empty() && values.scaling == linear:
		setLinear(a, 0, 1, u, labels)
	case values.empty():
		setLogarithmic(a, 1, 10, u, labels)
	case values.scaling == linear:
		setLinear(a, values.low, values.high, u, labels)
	default:
		setLogarithmic(a, values.low, values.high, u, labels)
	}
}

// setLogarithmic makes a logarithmic axis with some room around the values from low to high.
func setLogarithmic(a *plot.Axis, low, high float64, u unit.Unit, maxLabels int) {
	low, high = low/logMargin, high*logMargin
	if high/low < leastLogSpan {
		middle := math.Sqrt(low * high)
		low, high = middle/math.Sqrt(leastLogSpan), middle*math.Sqrt(leastLogSpan)
	}
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return logTicks(low, high, u, maxLabels) })
}

// hasPlace reports whether an axis can show v. A logarithmic scale panics at values that it can't show.
func hasPlace(a plot.Axis, v float64) bool {
	_, isLogarithmic := a.Scale.(plot.LogScale)
	return !isLogarithmic || math.IsNaN(v) || v > 0
}

// logTicks are at the multiples of powers of ten: 1, 2, 3 … 9, 10, 20, 30 … They have as many labels as possible up to
// a limit.
func logTicks(low, high float64, u unit.Unit, maxLabels int) []plot.Tick {
	for _, digits := range [][]int{{1, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}} {
		if ticks := decadeTicks(low, high, u, digits, 1); len(lists.Filter(ticks, hasLabel)) <= maxLabels {
			return ticks
		}
	}
	for everyNth := 1; ; everyNth++ { // ends: at a large step one power at most has a label
		if ticks := decadeTicks(low, high, u, []int{1}, everyNth); len(lists.Filter(ticks, hasLabel)) <= max(maxLabels, 1) {
			return ticks
		}
	}
}

// decadeTicks label the multiples of every n-th power of ten that begin with one of the digits.
func decadeTicks(low, high float64, u unit.Unit, digits []int, everyNth int) []plot.Tick {
	var ticks []plot.Tick
	for power := int(math.Floor(math.Log10(low))); power <= int(math.Ceil(math.Log10(high))); power++ {
		for digit := 1; digit < 10; digit++ {
			v := float64(digit) * math.Pow10(power)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if power%everyNth == 0 && slices.Contains(digits, digit) {
				t.Label = tickLabel(v, u)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

func hasLabel(t plot.Tick) bool { return t.Label != "" }

// setLinear makes a linear axis for the values from low to high. It begins at 0, or at low if that is below 0.
func setLinear(a *plot.Axis, low, high float64, u unit.Unit, labels int) {
	if high <= 0 {
		high = 1
	}
	a.Min, a.Max = min(0, low), high*linearHeadroom
	a.Scale = plot.LinearScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return linearTicks(low, high, u, labels) })
}

// linearTicks returns about n ticks at multiples of 1, 2 or 5 times a power of ten. Bytes are counted in the largest
// power of 1024: 0, 200 MiB, 400 MiB.
func linearTicks(low, high float64, u unit.Unit, n int) []plot.Tick {
	base := 1.0
	if u == unit.Bytes {
		for base*1024 <= high {
			base *= 1024
		}
	}
	step := base * roundStep((high-low)/base/float64(n))
	const rounding = 1e-9 // a tick at the very end of an axis stays on it
	var ticks []plot.Tick
	for i := math.Ceil(low/step - rounding); i*step <= high*(1+rounding); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, u)})
	}
	return ticks
}

// roundStep returns the least of all numbers 1, 2 or 5 times a power of ten that is not below least: 50 for 37.
func roundStep(least float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(least))))
	for _, digit := range []float64{1, 2, 5} {
		if least <= digit*power {
			return digit * power
		}
	}
	return 10 * power
}

// tickLabel returns a number in its unit without the zeros at the end of a fraction: 1 ms, not 1.00 ms.
func tickLabel(v float64, u unit.Unit) string {
	if v == 0 {
		return "0"
	}
	text := u.Format(v)
	end := strings.LastIndexAny(text, "0123456789") + 1 // of the number; its unit has no digits
	number, unitText := text[:end], text[end:]
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + unitText
}

// secondsTicks label an axis of seconds with plain numbers.
func secondsTicks(low, high float64) []plot.Tick {
	ticks := linearTicks(low, high, unit.None, 8)
	for i, t := range ticks {
		seconds := math.Round(t.Value*1e6)/1e6 + 0 // adding 0 makes 0 of −0
		ticks[i].Label = strings.Replace(strconv.FormatFloat(seconds, 'f', -1, 64), "-", "–", 1)
	}
	return ticks
}

// nameTicks label the places 0, 1, 2, … with names.
func nameTicks(names []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}
