// Package unit writes numbers for people: each unit with its scales, three digits, and the suffix.
package unit

import (
	"math"
	"strconv"
	"strings"
)

// Unit is the unit of a column's numbers. Numbers stay in it everywhere but on the page.
type Unit int

// Units.
const (
	None        Unit = iota // a plain number
	Count                   // a whole number
	Nanoseconds             // shown as ns, µs, ms or s
	Seconds
	PerSecond // a rate, shown as 12.3k/s
	Bytes
	CPUSeconds // CPU-seconds (per million messages)
	Share      // 0..1, shown as a percentage
	Factor     // shown as 1.23×
)

type scale struct {
	from   float64
	factor float64
	suffix string
}

var scales = map[Unit][]scale{
	Nanoseconds: {{1e9, 1e9, " s"}, {1e6, 1e6, " ms"}, {1e3, 1e3, " µs"}, {0, 1, " ns"}},
	PerSecond:   {{1e9, 1e9, "G/s"}, {1e6, 1e6, "M/s"}, {1e3, 1e3, "k/s"}, {0, 1, "/s"}},
	Bytes:       {{1 << 40, 1 << 40, " TiB"}, {1 << 30, 1 << 30, " GiB"}, {1 << 20, 1 << 20, " MiB"}, {1 << 10, 1 << 10, " KiB"}, {0, 1, " B"}},
	Seconds:     {{0, 1, " s"}},
	CPUSeconds:  {{0, 1, " s"}},
	Share:       {{0, 0.01, " %"}},
	Factor:      {{0, 1, "×"}},
}

// Format writes v for people, with three significant digits (counts are whole).
func (u Unit) Format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return "unknown"
	case u == Count:
		return grouped(v)
	case v < 0:
		return "−" + u.Format(-v)
	}
	for _, s := range scales[u] {
		// What would be rounded up to the scale belongs to it: 999.9 µs is 1.00 ms, not 1000 µs.
		if v >= s.from*0.9995 {
			return significant(v/s.factor, u) + s.suffix
		}
	}
	return significant(v, u)
}

// Range writes low–high with the unit once where both share it.
func (u Unit) Range(low, high float64) string {
	a, b := u.Format(low), u.Format(high)
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return "unknown"
	case math.IsInf(high, 0):
		return "≥ " + a
	case math.IsInf(low, 0):
		return "≤ " + b
	}
	digits := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == '−' }
	if suffix := strings.TrimLeftFunc(b, digits); strings.TrimLeftFunc(a, digits) == suffix {
		a = strings.TrimSuffix(a, suffix)
	}
	return a + "–" + b
}

// significant keeps three digits. Whole rates, sizes and plain numbers are mostly settings and stay short: 20k/s.
func significant(v float64, u Unit) string {
	if v == math.Trunc(v) && (v == 0 || v < 100 && (u == PerSecond || u == Bytes || u == None)) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // always a number
	if rounded < 1e-4 {
		return strconv.FormatFloat(rounded, 'g', 3, 64)
	}
	return strconv.FormatFloat(rounded, 'f', max(0, 2-int(math.Floor(math.Log10(rounded)))), 64)
}

// grouped writes a whole number with thin gaps: 1 234 567.
func grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteString("−")
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && len(digits) > 4 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Exactly writes v with as many digits as it takes to tell it from every other value of twelve; most settings are short anyway.
func (u Unit) Exactly(v, scale float64, suffix string) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64) // what follows is the rounding of a division
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64); err == nil && short == v {
		return u.Format(v)
	}
	return strconv.FormatFloat(v*scale, 'f', -1, 64) + suffix
}
