package schedule

import "testing"

// A record holds the seed of its arrivals so that they can be sent again, also by a later version.
func TestASeedGivesTheSameArrivalsInEveryVersion(t *testing.T) {
	s := must(Poisson(1000, 7))
	for i, want := range map[int64]int64{0: 162485, 1: 2126408, 1023: 1039616448, 1024: 1040099617, 5000: 4978399153, 1e6: 999652539587} {
		if got := s.At(i); got != want {
			t.Errorf("arrival %d is at %d ns, was at %d", i, got, want)
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
		"all together":   second(Steps([]Step{{1, years - 1}, {2, 0}})),
		"shortest burst": second(Bursts(1, 0, 2, 1)),
		"a step of 1 ns": second(Steps([]Step{{0, 1}, {2, 0}})),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"ten years and a bit":   second(Ramp(0, 1, years+1)),
		"steps over ten years":  second(Steps([]Step{{1, years}, {2, 0}})),
		"an empty step":         second(Steps([]Step{{1, 0}, {2, 0}})),
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
