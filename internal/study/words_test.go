package study

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/testkit"
)

var units = map[string]int64{
	"": 1, "B": 1, "k": 1e3, "kB": 1e3, "KiB": 1 << 10, "M": 1e6, "MB": 1e6, "MiB": 1 << 20, "G": 1e9, "GB": 1e9, "GiB": 1 << 30,
	"T": 1e12, "TB": 1e12, "TiB": 1 << 40, "PiB": 1 << 50,
}

func TestASizeIsItsNumberTimesItsUnit(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"", "B", "k", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "PiB"}).Draw(t, "unit")
		n := rapid.Int64Range(-2000, 2000).Draw(t, "n")
		text := fmt.Sprint(n) + rapid.SampledFrom([]string{"", " "}).Draw(t, "space") + unit
		want := new(big.Int).Mul(big.NewInt(n), big.NewInt(units[unit]))
		beyond := new(big.Int).Abs(want).Cmp(big.NewInt(1<<50)) > 0
		got, err := ParseSize(strings.TrimSpace(text))
		if (err != nil) != beyond || err == nil && want.Cmp(big.NewInt(int64(got))) != 0 || err != nil && !strings.Contains(err.Error(), "is beyond 1 PiB") {
			t.Fatalf("%q is %d, %v; want %v", text, got, err, want)
		}
	})
}

func TestASizeIsWrittenWithTheLargestUnitThatDividesIt(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]int64{1, 1e3, 1 << 10, 1e6, 1 << 20, 1e9, 1 << 30, 1e12, 1 << 40, 1 << 50}).Draw(t, "unit")
		s := Size(unit * rapid.Int64Range(-(1<<50)/unit, 1<<50/unit).Draw(t, "n"))
		text := s.String()
		if back, err := ParseSize(text); err != nil || back != s {
			t.Fatalf("%d is written %q, which reads %d, %v", int64(s), text, back, err)
		}
		most := int64(1)
		for _, u := range units {
			if s != 0 && int64(s)%u == 0 {
				most = max(most, u)
			}
		}
		if written := units[strings.TrimLeft(text, "-0123456789")]; written != most {
			t.Fatalf("%d is written %q, in units of %d; want %d", int64(s), text, written, most)
		}
	})
}

func TestASizeWithoutAUnitIsWhole(t *testing.T) {
	for _, text := range []string{"1.5", "100.9", "-8.5", "100.9B", "100.9 b", ".5"} {
		if n, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), "is not a whole number of bytes") {
			t.Errorf("%q is %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]Size{"100.0": 100, "1.5KiB": 1536, "1.5 kB": 1500, "0.5k": 500} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
}

func TestASizeThatIsNoWholeNumberOfBytesIsRefused(t *testing.T) {
	for _, text := range []string{"0.3KiB", "-0.3KiB", "1.1 KiB", "0.0005kB", "1.23456789MiB", "1.0001k"} {
		if n, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), "is not a whole number of bytes") {
			t.Errorf("%q is %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]Size{"1.001kB": 1001, "-1.001kB": -1001, "4.35 kB": 4350, "2.3MB": 2_300_000, "0.25KiB": 256, "0.999999999GB": 999_999_999} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
}

// A bound needn't be a whole number of bytes, as a median isn't either.
func TestAnAmountOfBytesMayBeAFraction(t *testing.T) {
	for text, want := range map[string]float64{"0.3KiB": 307.2, "1.5": 1.5, "1KiB": 1024, "-0.3KiB": -307.2} {
		if n, err := ParseBytes(text); err != nil || n != want {
			t.Errorf("%q is %v, %v; want %v", text, n, err, want)
		}
	}
	for _, text := range []string{"2PiB", "x", "", "1,000", "NaN"} {
		if n, err := ParseBytes(text); err == nil {
			t.Errorf("%q is %v", text, n)
		}
	}
}

func TestSizesBeyondAPebibyteAreRefusedInWhateverForm(t *testing.T) {
	for text, want := range map[string]bool{
		"1125899906842624": true, "-1125899906842624": true, "1125899906842625": false, "-1125899906842625": false, "1024TiB": true, "1025TiB": false,
		"1125899906842624.0": true, "1e16": false, "-1e16": false, "-1e300": false, "-1025TiB": false, "1PiB": true, "-1PiB": true,
	} {
		if _, err := ParseSize(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, v := range []json.Unmarshaler{new(Size), new(Sizes), new(Duration)} {
		if err := v.UnmarshalJSON(nil); err == nil {
			t.Errorf("%T is read from nothing", v)
		}
		if err := v.UnmarshalJSON([]byte(`"`)); err == nil {
			t.Errorf("%T is read from half a text", v)
		}
	}
	sizes := Sizes{{5, 1}}
	if err := json.Unmarshal([]byte("null"), &sizes); err != nil || sizes != nil {
		t.Errorf("null: %v, %v", sizes, err)
	}
	if data, err := json.Marshal(Sizes(nil)); err != nil || string(data) != "null" {
		t.Errorf("%s, %v", data, err)
	}
}

func TestSizesKnowTheirExtremesAndMean(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) WeightedSize {
			return WeightedSize{Size(rapid.Int64Range(1, 1<<30).Draw(t, "size")), float64(rapid.IntRange(1, 9).Draw(t, "weight"))}
		}), 1, 6).Draw(t, "sizes")
		var all []Size // each as often as its weight says
		sum := 0.0
		for _, w := range s {
			for range int(w.Weight) {
				all = append(all, w.Size)
				sum += float64(w.Size)
			}
		}
		mean, got := sum/float64(len(all)), Sizes(s)
		if got.Smallest() != slices.Min(all) || got.Largest() != slices.Max(all) || got.Mean() < mean*(1-1e-9) || got.Mean() > mean*(1+1e-9) {
			t.Fatalf("%d to %d, mean %v; want those of %v", got.Smallest(), got.Largest(), got.Mean(), all)
		}
	})
}

func TestATimeIsWrittenShortlyAndReadsBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour}).Draw(t, "unit")
		d := Duration(time.Duration(rapid.Int64Range(-200, 200).Draw(t, "n")) * unit)
		text := d.String()
		if back, err := ParseDuration(text); err != nil || back != d {
			t.Fatalf("%d is written %q, which reads %d, %v", int64(d), text, int64(back), err)
		}
		if d != 0 && (strings.HasSuffix(text, "m0s") || strings.HasSuffix(text, "h0m")) {
			t.Fatalf("%q says nothing of the last unit", text)
		}
	})
	for text, want := range map[Duration]string{0: "0s", Duration(10 * time.Minute): "10m", Duration(time.Hour): "1h", Duration(90 * time.Minute): "1h30m", Duration(time.Hour + 5*time.Second): "1h0m5s"} {
		if text.String() != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	if got := Duration(1500 * time.Millisecond).Seconds(); got != 1.5 {
		t.Errorf("%v s", got)
	}
}

func TestWholeNumbersAreReadExactlyOrRefused(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-3": -3, "1e3": 1000, "5.0": 5, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
		"9007199254740992.0": 1 << 53, "-9007199254740992.0": -1 << 53, "1e15": 1e15,
	} {
		if got, err := wholeNumber(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"9007199254740994.0": "is too large", "-9007199254740994.0": "is too large", "1e400": "is too large", "-1e400": "is too large", "9223372036854775808": "is too large",
		"1.5": "is not a whole number", "x": "is not a whole number", "nan": "is not a whole number", "": "is not a whole number", "-0.5": "is not a whole number",
	} {
		if got, err := wholeNumber(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %d, %v; want %s", text, got, err, want)
		}
	}
}

func TestTheNearestWordIsSuggestedIfAnyIsNear(t *testing.T) {
	for word, want := range map[string]string{
		"topcs": "topics", "TOPICS": "topics", "topic": "topics", "tpcs": "topics", "tcs": "", "xyz": "", "replcas": "replicas", "raet": "rate", "rates": "rate", "t": "to", "": "",
		"subscriptionsPerTopicxxxxxx": "subscriptionsPerTopic", "subscriptionsPerTopicxxxxxxxxxxxxxx": "",
	} {
		if got := suggest.Nearest(word, []string{"rate", "topics", "replicas", "subscriptionsPerTopic", "to"}); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := suggest.DidYouMean("xyz", []string{"topics"}); got != "" {
		t.Errorf("%q", got)
	}
}

func TestProblemsAreSortedAndSaidOnce(t *testing.T) {
	var ps problems
	if ps.err() != nil {
		t.Error(ps.err())
	}
	for _, line := range []int{0, 7, 3, 7} {
		ps.add(place{file: "b", line: line}, "p", "text")
	}
	ps.add(place{file: "a"}, "", "whole")
	ps.add(place{}, "q", "nowhere")
	want := "q: nowhere\na: whole\nb:3: p: text\nb:7: p: text\nb: p: text"
	if got := ps.err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A rate may be written as reports print it.
func TestRatesAreReadAsTheyArePrinted(t *testing.T) {
	for text, want := range map[string]float64{"2000": 2000, "2k": 2000, "2k/s": 2000, "1.5M/s": 1.5e6, "500/s": 500, "2 k/s": 2000, "1e3": 1000} {
		s := New("x")
		if err := s.SetAxis("--load.rate", "load.rate", []string{text}); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		points, err := s.Points()
		if err != nil || points[0].Spec.Load.Rate != want {
			t.Errorf("%s is %v, %v; want %v", text, points[0].Spec.Load.Rate, err, want)
		}
	}
}
