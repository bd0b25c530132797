package figure

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/brokermark/brokermark/internal/unit"
)

// Room around the data on an axis, as factors of the data.
const (
	logMargin      = 1.15 // on either side of a logarithmic axis
	leastLogSpan   = 3    // highest to lowest value: on less, a flat line would look like a cliff
	linearHeadroom = 1.05 // at the upper end of a linear axis
)

// setScale fits an axis to values from low to high with at most so many labels, logarithmic unless linear is asked for.
func setScale(a *plot.Axis, linear bool, u unit.Unit, low, high float64, labels int) {
	if linear {
		setLinear(a, u, low, high, labels)
	} else {
		setLog(a, u, low, high, labels)
	}
}

// setLog makes a logarithmic axis of the values from low to high. Values at or below 0 have no place on it.
func setLog(a *plot.Axis, u unit.Unit, low, high float64, labels int) {
	if !(low > 0) || !(high > 0) { // no value, or none that has a place
		low, high = 1, 10
	}
	low, high = low/logMargin, high*logMargin
	if high/low < leastLogSpan {
		middle := math.Sqrt(low * high)
		low, high = middle/math.Sqrt(leastLogSpan), middle*math.Sqrt(leastLogSpan)
	}
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return logTicks(low, high, u, labels) })
}

// hasPlace tells whether an axis can show v. A logarithmic scale panics at values that it can't show.
func hasPlace(a plot.Axis, v float64) bool {
	_, log := a.Scale.(plot.LogScale)
	return !log || !(v <= 0)
}

// logTicks are at the multiples of powers of ten: 1, 2, 3 … 9, 10, 20, 30 … They have as many labels as possible, but at most so many.
func logTicks(low, high float64, u unit.Unit, labels int) []plot.Tick {
	for _, digits := range [][]int{{1, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}} {
		if ticks := decadeTicks(low, high, u, digits, 1); labelled(ticks) <= labels {
			return ticks
		}
	}
	for everyNth := 1; ; everyNth++ { // ends: at a large step one power at most has a label
		ticks := decadeTicks(low, high, u, []int{1}, everyNth)
		if n := labelled(ticks); n <= max(labels, 1) {
			return ticks
		}
	}
}

// decadeTicks label the digits given in each n-th power of ten.
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

func labelled(ticks []plot.Tick) int {
	n := 0
	for _, t := range ticks {
		if t.Label != "" {
			n++
		}
	}
	return n
}

// setLinear makes a linear axis from 0, or from the lowest value below 0, with about so many labels.
func setLinear(a *plot.Axis, u unit.Unit, low, high float64, labels int) {
	if math.IsNaN(high) || math.IsInf(high, 0) || high <= 0 {
		high = 1
	}
	a.Min, a.Max = math.Min(0, low), high*linearHeadroom
	a.Scale = plot.LinearScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return linearTicks(low, high, u, labels) })
}

// linearTicks are about n ticks at multiples of 1, 2 or 5 times a power of ten. Bytes are counted in the largest power of 1024: 0,
// 200 MiB, 400 MiB.
func linearTicks(low, high float64, u unit.Unit, n int) []plot.Tick {
	base := 1.0
	if u == unit.Bytes {
		for base*1024 <= high {
			base *= 1024
		}
	}
	least := (high - low) / base / float64(n) // between ticks
	power := math.Pow10(int(math.Floor(math.Log10(least))))
	step := 10 * power
	for _, digit := range []float64{5, 2, 1} {
		if least <= digit*power {
			step = digit * power
		}
	}
	step *= base
	const rounding = 1e-9 // a tick at the very end of an axis stays on it
	var ticks []plot.Tick
	for i := math.Ceil(low/step - rounding); i*step <= high*(1+rounding); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, u)})
	}
	return ticks
}

// tickLabel is the unit's own format without the zeros at the end of a fraction: 1 ms, not 1.00 ms.
func tickLabel(v float64, u unit.Unit) string {
	if v == 0 {
		return "0"
	}
	text := u.Format(v)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(text)
	}
	number, suffix := text[:end], text[end:]
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + suffix
}

// timeTicks label an axis of seconds with plain numbers.
func timeTicks(low, high float64) []plot.Tick {
	ticks := linearTicks(low, high, unit.None, 8)
	for i, t := range ticks {
		seconds := math.Round(t.Value*1e6)/1e6 + 0 // which makes 0 of −0
		ticks[i].Label = strings.Replace(strconv.FormatFloat(seconds, 'f', -1, 64), "-", "–", 1)
	}
	return ticks
}

// nines is where the quantile q stands on HdrHistogram's axis, on which every further nine takes equal room: 1 for the minimum, 2 for
// the median, 10 for 90 %, 100 for 99 %.
func nines(q float64) float64 { return 1 / (1 - q) }

// setPercentiles makes HdrHistogram's axis, from the minimum to the place end. Its scale is logarithmic.
func setPercentiles(a *plot.Axis, end float64) {
	const roomForHalf = 1e6 // up to which there is room for the label of 50 %
	a.Min, a.Max = nines(0), math.Max(end, nines(0.9))
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(_, high float64) []plot.Tick {
		ticks := []plot.Tick{{Value: nines(0), Label: "0"}, {Value: nines(0.5), Label: "50"}, {Value: nines(0.75)}}
		if high > roomForHalf {
			ticks[1].Label = ""
		}
		label := "90"
		for v := 10.0; v <= high*1.0001; v *= 10 {
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
			switch label {
			case "90":
				label = "99"
			case "99":
				label = "99.9"
			default:
				label += "9"
			}
		}
		return ticks
	})
}

// nameTicks label the places 0, 1, 2, … with names.
func nameTicks(names []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}
