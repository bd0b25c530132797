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
	digits, suffix := u.split(v)
	return digits + suffix
}

// Range writes low–high, with the suffix once if both have the same: "5–6k/s", "900/s–1.10k/s". If one end is infinite
// the range is open: "≥ 5k/s". If both are it is "unknown".
func (u Unit) Range(low, high float64) string {
	lowDigits, lowSuffix := u.split(low)
	highDigits, highSuffix := u.split(high)
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return "unknown"
	case math.IsInf(high, 0):
		return "≥ " + lowDigits + lowSuffix
	case math.IsInf(low, 0):
		return "≤ " + highDigits + highSuffix
	case lowSuffix == highSuffix:
		return lowDigits + "–" + highDigits + highSuffix
	}
	return lowDigits + lowSuffix + "–" + highDigits + highSuffix
}

// split is the text of v in its two parts: "12.3" and " ms".
func (u Unit) split(v float64) (digits, suffix string) {
	switch {
	case math.IsNaN(v):
		return "–", ""
	case math.IsInf(v, 0):
		return "unknown", ""
	case u == Count:
		return grouped(math.Round(v)), ""
	}
	size := math.Abs(v)
	s := u.scaleOf(size)
	digits = u.threeDigits(size / s.factor)
	if v < 0 {
		digits = "−" + digits
	}
	return digits, s.suffix
}

// scaleOf is the largest scale of which v is at least one once it is rounded to three digits: 999.6 µs are 1.00 ms.
func (u Unit) scaleOf(v float64) scale {
	const roundedUp = 0.9995 // the least number that is 1.00 with three digits
	for _, s := range scales[u] {
		if v >= s.factor*roundedUp {
			return s
		}
	}
	return u.smallestScale()
}

func (u Unit) smallestScale() scale { return scales[u][len(scales[u])-1] }

// threeDigits writes v, which is not negative, with three significant digits: "123", "12.3", "1.23", "0.0123", and 1023 as
// "1020". Whole rates, sizes and plain numbers below 100 have no decimals, because most of them are settings: "20", not "20.0".
func (u Unit) threeDigits(v float64) string {
	isSetting := (u == PerSecond || u == Bytes || u == None) && v == math.Trunc(v) && v < 100
	if v == 0 || isSetting {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded := round(v, 3)
	if rounded < 1e-4 {
		return strconv.FormatFloat(rounded, 'g', 3, 64) // "1e-06"
	}
	decimals := 2 - int(math.Floor(math.Log10(rounded))) // 1 for 12.3, 2 for 1.23, 3 for 0.123
	return strconv.FormatFloat(rounded, 'f', max(0, decimals), 64)
}

// Exactly writes v with all its digits: as Format does if three are enough, and otherwise in the smallest scale. 1,500,000 ns
// are "1.50 ms", 1,234,567 ns are "1234567 ns". From the 13th digit on a number is the rounding of a division, so a share of
// 0.8999999999999999 is "90.0 %".
func (u Unit) Exactly(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return u.Format(v)
	case v < 0:
		return "−" + u.Exactly(-v)
	}
	const known = 12 // digits
	s := u.scaleOf(v)
	exact := round(v/s.factor, known)
	isWholeCount := u == Count && exact == math.Trunc(exact)
	if isWholeCount || exact == round(exact, 3) {
		return u.Format(exact * s.factor)
	}
	smallest := u.smallestScale()
	return strconv.FormatFloat(round(v/smallest.factor, known), 'f', -1, 64) + smallest.suffix
}

// round keeps a number of significant digits.
func round(v float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // it is always a number
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

// Counted is a number of things: "1 run", "2 runs".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
