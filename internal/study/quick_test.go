package study

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// quickly are the spec of doc as it is and as Quick leaves it, after flags.
func quickly(t interface {
	Helper()
	Fatal(args ...any)
}, doc string, flags ...string,
) (full, quick Spec) {
	t.Helper()
	for i, into := range []*Spec{&full, &quick} {
		s, err := Parse("f.yaml", []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range flags {
			if err := s.Set(f); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 {
			s.Quick()
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(doc, err)
		}
		*into = points[0].Spec
	}
	return full, quick
}

// cuts are the settings that Quick bounds, with the bound and what reads them; base makes the setting mean something.
var cuts = []struct {
	path, base string
	most       float64
	whole      bool
	of         func(Spec) float64
}{
	{"duration", "rate: 5", 4, false, func(s Spec) float64 { return s.Duration.Seconds() }},
	{"warmup.for", "rate: 5", 1, false, func(s Spec) float64 { return s.Warmup.For.Seconds() }},
	{"warmup.max", "rate: 5\nwarmup: {auto: true, for: 1ms}", 3, false, func(s Spec) float64 { return s.Warmup.Max.Seconds() }},
	{"sustainable.trial", "measure: sustainable", 1, false, func(s Spec) float64 { return s.Sustainable.Trial.Seconds() }},
	{"sustainable.confirm", "measure: sustainable", 2, false, func(s Spec) float64 { return s.Sustainable.Confirm.Seconds() }},
	{"sustainable.warmup", "measure: sustainable", 0.5, false, func(s Spec) float64 { return s.Sustainable.Warmup.Seconds() }},
	{"sustainable.soak", "measure: sustainable", 2, false, func(s Spec) float64 { return s.Sustainable.Soak.Seconds() }},
	{"sustainable.confirms", "sustainable.maxTrials: 1000", 1, true, func(s Spec) float64 { return float64(s.Sustainable.Confirms) }},
	{"count.messages", "measure: count", 100_000, true, func(s Spec) float64 { return float64(s.Count.Messages) }},
	{"count.bytes", "measure: count", 20e6, true, func(s Spec) float64 { return float64(s.Count.Bytes) }},
	{"backlog.messages", "measure: backlog", 20_000, true, func(s Spec) float64 { return float64(s.Backlog.Messages) }},
	{"backlog.bytes", "measure: backlog", 20e6, true, func(s Spec) float64 { return float64(s.Backlog.Bytes) }},
}

func TestQuickBoundsEverySettingThatNoFlagGives(t *testing.T) {
	for _, c := range cuts {
		testkit.Check(t, func(t *rapid.T) {
			v := c.most * rapid.SampledFrom([]float64{0.2, 0.5, 1, 1, 2, 30}).Draw(t, "share")
			text := fmt.Sprintf("%.0fms", math.Max(1, v*1000))
			if c.whole {
				v = math.Round(math.Max(v, 1))
				if c.path != "sustainable.confirms" {
					v = math.Round(v) + float64(rapid.IntRange(-1, 1).Draw(t, "beside"))
				}
				text = fmt.Sprintf("%.0f", v)
			}
			_, quick := quickly(t, c.base+"\n"+c.path+": "+text)
			if got, want := c.of(quick), math.Min(v, c.most); math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s: %s became %v, want %v", c.path, text, got, want)
			}
			_, kept := quickly(t, c.base, c.path+"="+text)
			if got := c.of(kept); math.Abs(got-v) > 1e-9 {
				t.Fatalf("the flag %s=%s became %v", c.path, text, got)
			}
		})
	}
}

func TestQuickKeepsWhatFaultsAndLargeMessagesNeed(t *testing.T) {
	full, quick := quickly(t, "rate: 5\nwarmup: {auto: true}\nfaults: [{at: 20s, do: kill}]")
	if quick.Duration != full.Duration || quick.Warmup != full.Warmup {
		t.Errorf("%+v became %s after %+v", full.Warmup, quick.Duration, quick.Warmup)
	}
	if _, quick := quickly(t, "size: 50MB\ncount.bytes: 1GB"); quick.Count.Bytes != 50e6 {
		t.Errorf("%d bytes of messages of 50 MB", quick.Count.Bytes)
	}
	// A flag's warm-up goes before the bound of the longest.
	if _, quick := quickly(t, "rate: 5\nwarmup: auto", "warmup.for=9s"); quick.Warmup.For != seconds(9) || quick.Warmup.Max != seconds(9) {
		t.Errorf("%+v", quick.Warmup)
	}
	if _, quick := quickly(t, "curve.rates: [1, 2, 3, 4]", "curve.rates=[5, 6, 7, 8]"); len(quick.Curve.Rates) != 4 {
		t.Errorf("the flag's rates became %v", quick.Curve.Rates)
	}
}

func TestQuickTakesTheEndsAndTheMiddleOfACurve(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rates")
		var rates []float64
		for i := range n {
			rates = append(rates, float64(i+1))
		}
		got := three(rates)
		if n <= 3 {
			if !slices.Equal(got, rates) {
				t.Fatalf("%v became %v", rates, got)
			}
			return
		}
		if len(got) != 3 || got[0] != 1 || got[2] != float64(n) || math.Abs(got[1]-float64(n+1)/2) > 0.5 {
			t.Fatalf("%v became %v", rates, got)
		}
	})
	if _, quick := quickly(t, "measure: curve"); len(quick.Curve.Fractions) != 3 || quick.Curve.Fractions[2] != 0.9 {
		t.Errorf("%v", quick.Curve.Fractions)
	}
	if _, quick := quickly(t, "curve.rates: [1, 2, 3, 4, 5]"); !slices.Equal(quick.Curve.Rates, []float64{1, 3, 5}) {
		t.Errorf("%v", quick.Curve.Rates)
	}
}

func TestQuickSqueezesALoadAsMuchAsThePhaseItChangesIn(t *testing.T) {
	_, quick := quickly(t, "duration: 40s\nload: {shape: steps, steps: [{rate: 1, for: 10s}, {rate: 2, for: 30s}]}")
	if s := quick.Load.Steps; len(s) != 2 || s[0] != (Step{Rate: 1, For: seconds(1)}) || s[1] != (Step{Rate: 2, For: seconds(3)}) {
		t.Errorf("steps %+v", s)
	}
	_, quick = quickly(t, "duration: 40s\nload: {shape: bursts, rate: 1, burst: {rate: 9, every: 10s, for: 1ns}}")
	if b := quick.Load.Burst; b == nil || *b != (Burst{9, seconds(1), 1}) {
		t.Errorf("burst %+v", b)
	}
	full, quick := quickly(t, "duration: 4s\nload: {shape: bursts, rate: 1, burst: {rate: 9, every: 3s, for: 1s}}")
	if *quick.Load.Burst != *full.Load.Burst {
		t.Errorf("burst %+v, %+v before", quick.Load.Burst, full.Load.Burst)
	}
	full, quick = quickly(t, "load: {shape: steps, steps: [{rate: 1, for: 7s}]}", "duration=40s")
	if !slices.Equal(quick.Load.Steps, full.Load.Steps) {
		t.Errorf("steps %+v, %+v before", quick.Load.Steps, full.Load.Steps)
	}
}

// An estimate is what its phases add up to: a second to settle after the last phase of load, a quarter of one between two
// and after a trial, ten times as long as many producers flood a broker until it has worked that off, or as long as it needs for the
// ten megabytes that the buffers of each take, fifty thousand messages or a hundred megabytes a second where no rate is given.
func TestEstimatesAddUpTheirPhases(t *testing.T) {
	for doc, want := range map[string]float64{
		"rate: 5\nwarmup: 4s\nduration: 20s":                                                                                      4 + 20 + 1,
		"measure: peak\nwarmup: 0s\nduration: 20s":                                                                                20 + 1,
		"measure: peak\nwarmup: 1s\nduration: 2s\ndelivery: at-most-once\ntopics: 4":                                              1 + 2 + 4*10e6/100/50_000 + 1,
		"measure: peak\nwarmup: 1s\nduration: 2s\ndelivery: at-most-once\ntopics: 40":                                             10*(1+2) + 1,
		"measure: peak\nwarmup: 10s\nduration: 20s\ndelivery: at-most-once\ntopics: 40\nsize: 1kB":                                10 + 20 + 40*10e6/1000/50_000 + 1,
		"measure: peak\nwarmup: 1s\nduration: 2s\ndelivery: at-most-once\ntopics: 40\nsubscriptionsPerTopic: 0":                   1 + 2 + 1,
		"rate: 5\nwarmup: {auto: true, for: 2s, max: 10s}\nduration: 20s":                                                         (2+10)/2.0 + 20 + 1,
		"curve.rates: [1, 2, 3]\nwarmup: 4s\nduration: 20s":                                                                       3*(4+20+0.25) + 0.75,
		"sustainable: {trial: 3s, confirm: 10s, warmup: 1s, confirms: 2, maxTrials: 24}":                                          3 + 6*(1+3+0.25) + 4*(1+10+0.25) + 2*(1+10/4.0+0.25),
		"sustainable: {budget: 25s}":                                                                                              3 + 25,
		"sustainable: {budget: 25s, goals: [{}, {latency: 1s}]}":                                                                  3 + 2*25,
		"sustainable: {trial: 3s, confirm: 10s, warmup: 1s, goals: [{}, {latency: 1s}, {latency: 2s}], soak: 60s}":                3 + 2*(6*(1+3+0.25)+3*(1+10+0.25)+2*(1+10/4.0+0.25)) + 60,
		"sustainable: {trial: 3s, confirm: 10s, warmup: 1s, confirms: 2, maxTrials: 6}":                                           3 + 5*(1+3+0.25) + 4*(1+10+0.25) + 2*(1+10/4.0+0.25),
		"sustainable: {trial: 3s, confirm: 10s, warmup: 0s, confirms: 5, maxTrials: 7}":                                           3 + 3*(3+0.25) + 7*(10+0.25) + 2*(10/4.0+0.25),
		"curve.fractions: [0.5, 0.9]\nwarmup: 4s\nduration: 20s\nsustainable: {trial: 3s, confirm: 10s, warmup: 1s, confirms: 2}": 3 + 6*(1+3+0.25) + 4*(1+10+0.25) + 2*(1+10/4.0+0.25) + 2*(4+20+0.25) + 0.75,
		"count.messages: 100000\nsize: 100":                                                                                       100_000/50_000.0 + 1,
		"count.messages: 100000\nsize: 10kB":                                                                                      100_000/(100e6/10_000) + 1,
		"count.messages: 100000\nsize: 100\nrate: 1000":                                                                           100_000/1000.0 + 1,
		"count.bytes: 1MB\nsize: 100\nrate: 1000":                                                                                 10_000/1000.0 + 1,
		"backlog.messages: 100000\nsize: 100":                                                                                     2*100_000/50_000.0 + 1,
		"backlog.bytes: 10MB\nsize: 100":                                                                                          2*100_000/50_000.0 + 1,
	} {
		if got := EstimateSeconds(one(t, doc).Spec); math.Abs(got-want) > 1e-9 {
			t.Errorf("%q is estimated as %v s, want %v", doc, got, want)
		}
	}
}
