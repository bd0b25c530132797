package unit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// A number is read back within half of its third digit, whatever its size and unit.
func TestThreeDigitsAreReadBackCloseEnough(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	factors := map[Unit]map[string]float64{
		Nanoseconds: {" ns": 1, " µs": 1e3, " ms": 1e6, " s": 1e9},
		PerSecond:   {"/s": 1, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9},
		Bytes:       {" B": 1, " KiB": 1 << 10, " MiB": 1 << 20, " GiB": 1 << 30, " TiB": 1 << 40},
		Seconds:     {" s": 1}, CPUSeconds: {" s": 1}, Share: {" %": 0.01}, Factor: {"×": 1}, None: {"": 1},
	}
	isDigit := func(r rune) bool { return strings.ContainsRune("0123456789.e-", r) }
	for unit, suffixes := range factors {
		for range 3000 {
			v := math.Pow(10, random.Float64()*16-3)
			if random.IntN(4) == 0 {
				v = math.Trunc(v)
			}
			text := unit.Format(v)
			suffix := strings.TrimLeftFunc(text, isDigit)
			factor, ok := suffixes[suffix]
			number, err := strconv.ParseFloat(strings.TrimSuffix(text, suffix), 64)
			if !ok || err != nil || math.Abs(number*factor-v) > 0.0051*v {
				t.Fatalf("unit %d: %v is written %q", unit, v, text)
			}
			digits := strings.Trim(strings.ReplaceAll(strings.TrimSuffix(text, suffix), ".", ""), "0")
			if len(digits) > 3 && number < 1000 && !strings.Contains(text, "e") {
				t.Fatalf("unit %d: %v is written %q, with %d digits", unit, v, text, len(digits))
			}
			// A larger unit is taken as soon as it makes one of it.
			for other, f := range suffixes {
				if f > factor && v >= f || number >= 1100 && f > factor {
					t.Fatalf("unit %d: %v is written %q instead of in%s", unit, v, text, other)
				}
			}
			if negative := unit.Format(-v); v != 0 && negative != "−"+text {
				t.Fatalf("−%v is written %q", v, negative)
			}
		}
	}
	for range 1000 {
		v := math.Trunc(random.Float64() * math.Pow(10, random.Float64()*12))
		text := Count.Format(v)
		if got, err := strconv.ParseFloat(strings.ReplaceAll(text, "\u202f", ""), 64); err != nil && !strings.Contains(text, " ") || err == nil && got != v {
			t.Fatalf("%v is counted as %q", v, text)
		}
		groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if strings.Join(groups, "") != strconv.FormatFloat(v, 'f', 0, 64) {
			t.Fatalf("%v is counted as %q", v, text)
		}
		for i, g := range groups {
			if len(groups) > 1 && (len(g) > 3 || i > 0 && len(g) != 3) || len(groups) == 1 && len(g) > 4 {
				t.Fatalf("%v is grouped as %q", v, text)
			}
		}
	}
}

func TestNumbersAreWrittenWithThreeDigitsAndAUnit(t *testing.T) {
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Nanoseconds, math.NaN(), "–"},
		{PerSecond, math.Inf(1), "unknown"},
		{Nanoseconds, 0, "0 ns"},
		{Nanoseconds, 1, "1.00 ns"},
		{Nanoseconds, 999, "999 ns"},
		{Nanoseconds, 999_400, "999 µs"},
		{Nanoseconds, 999_600, "1.00 ms"},
		{Nanoseconds, 12_345_678, "12.3 ms"},
		{Nanoseconds, 3_000_000_000, "3.00 s"},
		{Nanoseconds, -1500, "−1.50 µs"},
		{PerSecond, 0.5, "0.500/s"},
		{PerSecond, 40, "40/s"},
		{PerSecond, 999, "999/s"},
		{PerSecond, 1000, "1k/s"},
		{PerSecond, 12_345, "12.3k/s"},
		{PerSecond, 1_234_567, "1.23M/s"},
		{Bytes, 100, "100 B"},
		{Bytes, 1024, "1 KiB"},
		{Bytes, 1 << 30, "1 GiB"},
		{Bytes, 1_500_000, "1.43 MiB"},
		{CPUSeconds, 0.5612, "0.561 s"},
		{CPUSeconds, 0.000001, "1e-06 s"},
		{Share, 0.123, "12.3 %"},
		{Factor, 2, "2.00×"},
		{Count, 1234, "1234"},
		{Count, 1_234_567, "1 234 567"},
		{Count, -12_345, "−12 345"},
		{Count, -0.3, "0"},
		{Count, math.Copysign(0, -1), "0"},
		{PerSecond, math.Copysign(0, -1), "0/s"},
	} {
		if got := c.unit.Format(c.v); got != c.want {
			t.Errorf("unit %d: %v is written %q, want %q", c.unit, c.v, got, c.want)
		}
	}
}

func TestARangeNamesItsUnitOnceWhereItCan(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{math.Inf(-1), math.Inf(1), "unknown"},
		{5000, math.Inf(1), "≥ 5k/s"},
		{math.Inf(-1), 5000, "≤ 5k/s"},
		{5000, 6000, "5–6k/s"},
		{900, 1100, "900/s–1.10k/s"},
	} {
		if got := PerSecond.Range(c.low, c.high); got != c.want {
			t.Errorf("%v..%v is written %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestARangeKeepsAllDigitsOfBothEnds(t *testing.T) {
	for want, c := range map[string]struct {
		unit      Unit
		low, high float64
	}{
		"10 000–20 000":  {Count, 10_000, 20_000},
		"10 345–12 345":  {Count, 10_345, 12_345},
		"2e-05–5e-05×":   {Factor, 2e-5, 5e-5},
		"−2.00–−1.00 ms": {Nanoseconds, -2e6, -1e6},
	} {
		if got := c.unit.Range(c.low, c.high); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAShareThatWasDividedBackIsTheOneThatWasAskedFor(t *testing.T) {
	for share, want := range map[float64]string{0.8999999999999999: "90.0 %", 0.6999999999999998: "70.0 %", 0.123456: "12.3456 %"} {
		if got := Share.Exactly(share); got != want {
			t.Errorf("%v reads %q, want %q", share, got, want)
		}
	}
}

func TestExactNumbersAreWrittenAsOthersWhereThreeDigitsAreEnough(t *testing.T) {
	for _, c := range []struct {
		of   Unit
		v    float64
		want string
	}{
		{Nanoseconds, 1_500_000, "1.50 ms"},
		{Nanoseconds, 1_234_567, "1234567 ns"},
		{Nanoseconds, -1_234_567, "−1234567 ns"},
		{Nanoseconds, math.NaN(), "–"},
		{Nanoseconds, math.Inf(1), "unknown"},
		{Nanoseconds, math.Inf(-1), "unknown"},
		{Bytes, 16384, "16 KiB"},
		{Bytes, 16385, "16385 B"},
		{PerSecond, 999.6, "999.6/s"},
		{Count, 1_234_567, "1 234 567"},
	} {
		if got := c.of.Exactly(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}
