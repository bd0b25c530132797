package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/brokermark/brokermark/internal/unit"
)

// logAxis scales an axis whose numbers span from low to high logarithmically, with at most most labels in u. Values at
// or below 0 have no place on it.
func logAxis(a *plot.Axis, u unit.Unit, low, high float64, most int) {
	if !(low > 0) || !(high > 0) {
		low, high = 1, 10
	}
	// At least a fifth of a decade around the data: a flat line isn't a cliff.
	low, high = low/1.15, high*1.15
	if high/low < 3 {
		middle := math.Sqrt(low * high)
		low, high = middle/math.Sqrt(3), middle*math.Sqrt(3)
	}
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return logTicks(low, high, u, most) })
}

// hasPlace tells whether an axis can show v. The scale of a logarithmic axis panics at values that it can't show.
func hasPlace(a plot.Axis, v float64) bool {
	_, log := a.Scale.(plot.LogScale)
	return !log || !(v <= 0)
}

// logTicks labels decades, and values between them if there is room.
func logTicks(low, high float64, u unit.Unit, most int) []plot.Tick {
	var ticks []plot.Tick
	for _, labelled := range []string{"123457", "125", "13", "1"} {
		for step := 1; ; step++ {
			var n int
			if ticks, n = decades(low, high, u, labelled, step); n <= most {
				return ticks
			}
			if labelled != "1" {
				break
			}
		}
	}
	return ticks
}

// decades has a tick at every multiple of a power of ten, with labels on the multiples of every step-th power; n is
// how many those are.
func decades(low, high float64, u unit.Unit, labelled string, step int) (ticks []plot.Tick, n int) {
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if strings.Contains(labelled, strconv.Itoa(m)) && e%step == 0 {
				t.Label = tickLabel(v, u)
				n++
			}
			ticks = append(ticks, t)
		}
	}
	return ticks, n
}

// linearAxis starts at 0 unless there are negative values; it has about most labels.
func linearAxis(a *plot.Axis, u unit.Unit, low, high float64, most int) {
	if math.IsNaN(high) || math.IsInf(high, 0) || high <= 0 {
		high = 1
	}
	a.Min, a.Max = math.Min(0, low), high*1.05
	a.Scale = plot.LinearScale{}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return linearTicks(low, high, u, most) })
}

// linearTicks are at round numbers, about n of them; bytes are round in powers of two.
func linearTicks(low, high float64, u unit.Unit, n int) []plot.Tick {
	base := 1.0
	if u == unit.Bytes {
		for base*1024 <= high {
			base *= 1024
		}
	}
	raw := (high - low) / base / float64(n)
	magnitude := math.Pow10(int(math.Floor(math.Log10(raw))))
	step := magnitude * base * 10
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*magnitude {
			step = m * magnitude * base
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, u)})
	}
	return ticks
}

// tickLabel is the unit's own format without zeros that say nothing: 1 ms, not 1.00 ms.
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

// plainTicks label an axis of plain numbers; + 0 takes the sign from a zero.
func plainTicks(low, high float64) []plot.Tick {
	ticks := linearTicks(low, high, unit.None, 8)
	for i, t := range ticks {
		ticks[i].Label = strings.Replace(strconv.FormatFloat(math.Round(t.Value*1e6)/1e6+0, 'f', -1, 64), "-", "–", 1)
	}
	return ticks
}

// percentileAxis is HdrHistogram's: a value at quantile q stands at 1/(1−q), logarithmically, so that every nine
// takes equal room.
func percentileAxis(a *plot.Axis, most float64) {
	a.Min, a.Max = 1, math.Max(most, 10)
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(func(_, high float64) []plot.Tick {
		half := "50"
		if high > 1e6 {
			half = "" // no room for it
		}
		ticks := []plot.Tick{{Value: 1, Label: "0"}, {Value: 2, Label: half}, {Value: 4, Label: ""}}
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
