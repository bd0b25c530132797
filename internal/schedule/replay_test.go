package schedule

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// A record holds the seed of its arrivals so that they can be sent again, also by a later version.
func TestASeedGivesTheSameArrivalsInEveryVersion(t *testing.T) {
	s := must(Poisson(1000, 7))
	for i, want := range map[int64]int64{0: 162485, 1: 2126408, 1023: 1039616448, 1024: 1040099617, 5000: 4978399153, 1e6: 999652539587} {
		if got := s.At(i); got != want {
			t.Errorf("arrival %d is at %d ns, was at %d", i, got, want)
		}
	}
}

// What the second client sends, and which of its producers: a deal is part of what a record's seed repeats.
func TestADealtSeedGivesTheSameArrivalsInEveryVersion(t *testing.T) {
	s := must(Poisson(1000, 7))
	indices := [3]int64{0, 17, 300}
	for d, want := range map[Deal]struct {
		at    [3]int64
		turns [3]int
	}{
		{3, 7}:           {[3]int64{1974447, 63167931, 1106486300}, [3]int{0, 1, 0}},
		{200, 500}:       {[3]int64{413960247, 3016022663, 46032611837}, [3]int{2, 1, 1}},
		{1000, 3000}:     {[3]int64{925115011, 17543088316, 267333996190}, [3]int{2, 0, 2}},
		{20_000, 20_000}: {[3]int64{27193314352, 456997321583, 6312829093936}, [3]int{0, 0, 0}},
	} {
		mine, turns := d.Share(s, 1), d.Turns(s, 1)
		for k, i := range indices {
			if at, turn := mine.At(i), turns.Of(i); at != want.at[k] || turn != want.turns[k] {
				t.Errorf("%+v: arrival %d is at %d ns and producer %d's, was at %d and %d's", d, i, at, turn, want.at[k], want.turns[k])
			}
		}
	}
}

func TestCountingEndsBeforeAnArrivalAtTheEdgeOfABlock(t *testing.T) {
	s := must(Poisson(1000, 7))
	for _, i := range []int64{0, 1022, 1023, 1024, 2047, 2048, 5119, 5120} {
		for _, c := range []struct{ d, want int64 }{{s.At(i), i}, {s.At(i) + 1, i + 1}} {
			if got := s.Count(c.d); got != c.want {
				t.Errorf("%d arrivals before %d, want %d", got, c.d, c.want)
			}
			w := Sequential(s)
			w.At(i + 3000) // counting goes back from there
			if got := w.Count(c.d); got != c.want {
				t.Errorf("%d arrivals before %d after looking ahead, want %d", got, c.d, c.want)
			}
		}
	}
}

func TestTheLongestAndTheSmallestThatCanBeSentAreAllowed(t *testing.T) {
	const years = 10 * 365 * 24 * 3600 * 1e9
	for name, err := range map[string]error{
		"lowest rate":    second(Constant(1e-6)),
		"highest rate":   second(Constant(1e9)),
		"ten years":      second(Ramp(0, 1, years)),
		"all together":   second(Steps([]Step{{1, 1, years - 1}, {2, 2, 0}}, false)),
		"shortest burst": second(Bursts(1, 0, 2, 1)),
		"a step of 1 ns": second(Steps([]Step{{0, 0, 1}, {2, 2, 0}}, false)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"ten years and a bit":   second(Ramp(0, 1, years+1)),
		"steps over ten years":  second(Steps([]Step{{1, 1, years}, {2, 2, 0}}, false)),
		"an empty step":         second(Steps([]Step{{1, 1, 0}, {2, 2, 0}}, false)),
		"a burst of its period": second(Bursts(1, 0, 2, 2)),
		"half a billionth":      second(Constant(0.99e-6)),
		"a little too much":     second(Constant(1e9 + 1)),
	} {
		if err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}

func second(_ Schedule, err error) error { return err }

// An arrival is counted as soon as a single quantum of it, a billionth of a billionth, lies before d.
func TestCountsAreExactToTheQuantum(t *testing.T) {
	whole := big.NewInt(quantaPerMessage)
	testkit.Check(t, func(t *rapid.T) {
		q := 10*rapid.Int64Range(100, 1e8).Draw(t, "rate / 10") + rapid.SampledFrom([]int64{1, 3, 7, 9}).Draw(t, "last digit") // coprime to quantaPerMessage
		one := new(big.Int).ModInverse(big.NewInt(q), whole).Int64()                                                           // so many ns are a whole number of messages and one quantum
		d := rapid.SampledFrom([]int64{one - 1, one, one + 1}).Draw(t, "d")
		want := new(big.Int).Mul(big.NewInt(q), big.NewInt(d))
		want.Add(want, whole).Sub(want, big.NewInt(1)).Div(want, whole)
		rate := float64(q) / quantaPerHertz
		for name, s := range map[string]Schedule{"constant": must(Constant(rate)), "steps": must(Steps([]Step{{rate, rate, 0}}, false))} {
			if got := s.Count(d); got != want.Int64() {
				t.Fatalf("%s: %d arrivals before %d, want %v", name, got, d, want)
			}
			if got := s.At(want.Int64() - 1); got >= d {
				t.Fatalf("%s: arrival %v is at %d, not before %d", name, want, got, d)
			}
		}
	})
}

func TestRareArrivalsAreCountedUpToTheEndOfTime(t *testing.T) {
	for seed := range uint64(5) {
		s := must(Poisson(1e-6, seed))
		n := s.Count(Never)
		if s.At(n-1) >= Never || s.At(n) != Never {
			t.Errorf("seed %d: %d arrivals before the end of time; the last is at %d, the next at %d", seed, n, s.At(n-1), s.At(n))
		}
	}
}

func TestEveryLoadHasItsRateFromTheFirstInstant(t *testing.T) {
	for name, c := range map[string]struct {
		s    Schedule
		want float64
	}{
		"constant": {must(Constant(5)), 5}, "poisson": {must(Poisson(5, 1)), 5}, "ramp": {must(Ramp(5, 7, 100)), 5},
		"steps": {must(Steps([]Step{{5, 5, 1}, {7, 7, 0}}, false)), 5}, "bursts": {must(Bursts(7, 5, 2, 1)), 5}, "a share": {share(must(Constant(15)), 0, 3), 5},
	} {
		if before, got := c.s.Rate(-1), c.s.Rate(0); before != 0 || got != c.want {
			t.Errorf("%s: %v/s before it begins and %v/s when it does, want 0 and %v", name, before, got, c.want)
		}
		if n := c.s.Count(0); n != 0 {
			t.Errorf("%s: %d arrivals before it begins", name, n)
		}
	}
	if got := must(Ramp(5, 7, 100)).Rate(100); got != 7 {
		t.Errorf("%v/s at the end of a ramp to 7/s", got)
	}
}

// At 1,000,000,000/s every nanosecond has an arrival: the slope's last one too has a place of its own.
func TestARampToItsOwnRateIsConstant(t *testing.T) {
	for _, rate := range []float64{1e9, 1e6, 4, 1e-3} {
		flat, steady := must(Ramp(rate, rate, 5000)), must(Constant(rate))
		for i := range int64(10_000) {
			if got, want := flat.At(i), steady.At(i); got < want-1 || got > want+1 {
				t.Fatalf("at %g/s arrival %d is at %d ns, want %d", rate, i, got, want)
			}
		}
	}
	if fastest := must(Ramp(1e9, 1e9, 5000)); fastest.At(4999) != 4999 || fastest.Count(4999) != 4999 || fastest.Count(5000) != 5000 {
		t.Errorf("the last arrival of the slope is at %d ns, %d come before 5000", fastest.At(4999), fastest.Count(5000))
	}
	if first := must(Ramp(0, 4, 2e9)).At(0); first != 0 {
		t.Errorf("a ramp from silence begins at %d ns", first)
	}
}

func TestAnArrivalBeyondAllTimeNeverComes(t *testing.T) {
	const years = 10 * 365 * 24 * 3600 * 1e9
	for name, s := range map[string]Schedule{
		"constant": must(Constant(1e-6)), "steps": must(Steps([]Step{{1e-6, 1e-6, 0}}, false)), "steps to silence": must(Steps([]Step{{1, 1, 1e9}, {0, 0, 0}}, false)),
		"ramp": must(Ramp(1, 1e-6, 1e9)), "ramp to silence": must(Ramp(1, 0, 1e9)), "poisson": must(Poisson(1e-6, 1)),
		"bursts": must(Bursts(1e-6, 2e-6, 1e9, 1e8)), "one burst in ten years": must(Bursts(0, 1e-6, years, 1)), "a share": share(must(Constant(1e-6)), 2, 3),
	} {
		for _, i := range []int64{20_000, 1 << 40, Never - 1, Never} {
			if got := s.At(i); got != Never {
				t.Errorf("%s: arrival %d is at %d", name, i, got)
			}
		}
	}
}
