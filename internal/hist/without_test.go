package hist

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The oracle knows which value contains which delay.
func TestWithoutIsNeverAboveTheTruthHoweverDelaysAndValuesGoTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		delay func(i int, value int64) int64
	}{
		{"a pause in the fastest messages", func(i int, v int64) int64 { return map[bool]int64{true: 5e7}[v < 1_050_000] }},
		{"a pause in the slowest messages", func(i int, v int64) int64 { return map[bool]int64{true: 5e7}[v > 9_000_000] }},
		{"lag of everyone", func(int, int64) int64 { return rng.Int64N(200_000) }},
		{"rare, long lag", func(i int, v int64) int64 { return map[bool]int64{true: rng.Int64N(1e8)}[i%300 == 0] }},
	} {
		var delayed, delays Histogram
		var truth []int64
		for i := range 20_000 {
			v := 1_000_000 + int64(rng.ExpFloat64()*1e6)
			d := c.delay(i, v)
			truth = append(truth, v)
			delayed.Record(v + d)
			delays.Record(d)
		}
		slices.Sort(truth)
		bound := Quantiles(delayed.Snapshot().Quantile).Without(delays.Snapshot(), 1, 0)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			want := truth[max(0, int(q*20_000)-1)]
			if got := bound(q); got > want+want/256 {
				t.Errorf("%s: at least %d without delays at %v, the truth is %d", c.name, got, q, want)
			}
		}
		// A tenth may be lost where delays are short beside the values.
		if got, want := bound(0.5), truth[10_000]; c.name != "lag of everyone" && got < want*9/10 {
			t.Errorf("%s: at least %d without delays at p50, the truth is %d", c.name, got, want)
		}
	}
}

func TestWithoutTakesOffWhatEachBoundAllows(t *testing.T) {
	var values, delays Histogram
	values.RecordN(300, 980)
	values.RecordN(500, 20)
	delays.RecordN(0, 990)
	delays.RecordN(200, 10)
	for _, c := range []struct {
		name    string
		delays  Snapshot
		times   float64
		longest int64
		q       float64
		want    int64
	}{
		{"no delays", Snapshot{}, 1, 0, 0.99, 500},
		{"a hundredth was delayed, and two are slow", delays.Snapshot(), 1, 0, 0.995, 500},
		{"two hundredths may have been delayed", delays.Snapshot(), 2, 0, 0.995, 300},
		{"the rank falls below the slow ones", delays.Snapshot(), 1, 0, 0.985, 300},
		{"the maximum loses the longest delay", delays.Snapshot(), 1, 450, 1, 500},
		{"the median", delays.Snapshot(), 1, 450, 0.5, 300},
		{"the longest alone", Snapshot{}, 1, 450, 1, 50},
	} {
		if got := Quantiles(values.Snapshot().Quantile).Without(c.delays, c.times, c.longest)(c.q); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
