// Package unit writes numbers for people: three digits with a suffix. Nanoseconds.Format(1234567) is "1.23 ms",
// PerSecond.Range(85600, 107000) is "85.6–107k/s". It knows units, and no metric.
package unit

import (
	"math"
	"strconv"
	"strings"
)

// Unit is the unit of a number.
type Unit int

// Units.
const (
	None        Unit = iota // a plain number
	Count                   // a whole number, shown as 1 234 567
	Nanoseconds             // shown as ns, µs, ms or s
	Seconds
	PerSecond  // a rate, shown as 12.3k/s
	Bytes      // shown as B, KiB, MiB, GiB or TiB
	CPUSeconds // processor time per million messages, shown as s
	Share      // a fraction of 1, shown as a percentage
	Factor     // shown as 1.23×
)

// scale is a multiple of a unit, such as {1e6, " ms"} of Nanoseconds.
type scale struct {
	factor float64
	suffix string
}

// scales of the units, the largest first. None and Count have neither multiples nor a suffix.
var scales = map[Unit][]scale{
	None:        {{1, ""}},
	Count:       {{1, ""}},
	Nanoseconds: {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {1, " ns"}},
	PerSecond:   {{1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}},
	Bytes:       {{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}},
	Seconds:     {{1, " s"}},
	CPUSeconds:  {{1, " s"}},
	Share:       {{0.01, " %"}},
	Factor:      {{1, "×"}},
}

// Format writes v with three significant digits, and counts with all digits. NaN is "–", infinity "unknown".
func (u Unit) Format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return "unknown"
	case u == Count:
		return grouped(math.Round(v))
	case v < 0:
		return "−" + u.Format(-v)
	}
	s := u.scaleOf(v)
	return u.significant(v/s.factor) + s.suffix
}

// scaleOf is the largest scale of which v, to three digits, is at least one: 999.9 µs are 1.00 ms, not 1000 µs.
func (u Unit) scaleOf(v float64) scale {
	const roundedUp = 0.9995
	for _, s := range scales[u] {
		if v >= s.factor*roundedUp {
			return s
		}
	}
	return scales[u][len(scales[u])-1]
}

// Range writes low–high, with the suffix once if both have the same. An infinite end is open: "≥ 5k/s".
func (u Unit) Range(low, high float64) string {
	lowText, highText := u.Format(low), u.Format(high)
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return "unknown"
	case math.IsInf(high, 0):
		return "≥ " + lowText
	case math.IsInf(low, 0):
		return "≤ " + highText
	}
	if suffix := u.scaleOf(math.Abs(high)).suffix; u.scaleOf(math.Abs(low)).suffix == suffix {
		lowText = strings.TrimSuffix(lowText, suffix)
	}
	return lowText + "–" + highText
}

// significant keeps three digits. Whole rates, sizes and plain numbers below 100 have no decimals, because most are
// settings: 20k/s.
func (u Unit) significant(v float64) string {
	rounded := round(v, 3)
	hasSettings := u == PerSecond || u == Bytes || u == None
	switch {
	case v == 0:
		return "0" // also for −0
	case hasSettings && v == math.Trunc(v) && v < 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case rounded < 1e-4:
		return strconv.FormatFloat(rounded, 'g', 3, 64)
	}
	exponent := int(math.Floor(math.Log10(rounded))) // 1 for 12.3, 0 for 1.23, −1 for 0.123
	return strconv.FormatFloat(rounded, 'f', max(0, 2-exponent), 64)
}

// round keeps a number of significant digits.
func round(v float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // always a number
	return rounded
}

// grouped writes a whole number in groups of three digits: 1 234 567. Four digits stay together.
func grouped(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
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

// Exactly writes v as Format does if three digits are exact, and otherwise in the smallest scale with as many as it
// has: 1,500,000 ns are "1.50 ms", 1,234,567 ns are "1234567 ns". From the 13th digit on it is the rounding of a
// division.
func (u Unit) Exactly(v float64) string {
	if v < 0 {
		return "−" + u.Exactly(-v)
	}
	smallest := u.scaleOf(0)
	v = round(v/smallest.factor, 12)
	isWholeCount := u == Count && v == math.Trunc(v)
	if v == round(v, 3) || isWholeCount || math.IsNaN(v) {
		return u.Format(v * smallest.factor)
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + smallest.suffix
}
