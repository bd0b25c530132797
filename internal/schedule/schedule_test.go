package schedule

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// must is for schedules that the test knows to be allowed.
func must(s Schedule, err error) Schedule {
	if err != nil {
		panic(err)
	}
	return s
}

// Ramp changes the rate evenly over a time, and then keeps it.
func Ramp(from, to float64, over time.Duration) (Schedule, error) {
	return Steps([]Step{{from, to, over}}, false)
}

// Bursts sends a burst at the begin of each period.
func Bursts(base, burst float64, period, length time.Duration) (Schedule, error) {
	return Steps([]Step{{burst, burst, length}, {base, base, period - length}}, true)
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	s, ms := time.Second, time.Millisecond
	refused := func(_ Schedule, err error) error { return err }
	for want, err := range map[string]error{
		"constant rate: 0 messages per second; allowed are 1e-06 to 1e+09": refused(Constant(0)),
		"constant rate: -5 messages per second":                            refused(Constant(-5)),
		"constant rate: NaN messages":                                      refused(Constant(math.NaN())),
		"constant rate: +Inf messages":                                     refused(Constant(math.Inf(1))),
		"constant rate: 1e-07 messages":                                    refused(Constant(1e-7)),
		"poisson rate: -Inf messages":                                      refused(Poisson(math.Inf(-1), 1)),
		"steps: none given":                                                refused(Steps(nil, false)),
		"steps: every rate is 0":                                           refused(Steps([]Step{{0, 0, s}, {0, 0, s}}, false)),
		"step 1: -1 messages per second; allowed are 0 or 1e-06 to 1e+09":  refused(Steps([]Step{{-1, -1, s}}, false)),
		"step 2: 2e+09 messages":                                           refused(Steps([]Step{{1, 1, s}, {2e9, 2e9, s}}, false)),
		"step 1: 0s; allowed is more than 0":                               refused(Steps([]Step{{1, 1, 0}, {2, 2, s}}, false)),
		"step 2, all before it included: 131400h0m0s; allowed":             refused(Steps([]Step{{1, 1, 65700 * time.Hour}, {1, 1, 65700 * time.Hour}, {1, 1, s}}, false)),
		"steps: every rate is 0; allowed":                                  refused(Bursts(0, 0, s, ms)),
		"step 1: NaN messages":                                             refused(Ramp(math.NaN(), 1, s)),
		"step 1: -1 messages":                                              refused(Ramp(1, -1, s)),
		"step 1: -1s":                                                      refused(Ramp(1, 2, -s)),
		"step 2: 0s":                                                       refused(Bursts(1, 2, s, s)),
		"step 1: 0s; allowed is more than 0, up":                           refused(Steps([]Step{{1, 2, 0}}, false)),
		"step 2: 0s; allowed is more than 0":                               refused(Steps([]Step{{1, 1, s}, {2, 2, 0}}, true)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q…", err, want)
		}
	}
}

// share returns what client k of n sends if each has one producer, all in turn.
func share(s Schedule, k, n int) Schedule { return dealt{s, Deal{n, n}, k} }

func TestAShareOutsideTheWholePanics(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {-1, 2}, {2, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("share %d of %d was given out", c[0], c[1])
				}
			}()
			Deal{c[1], c[1]}.Share(must(Constant(1)), c[0])
		}()
	}
}

func TestArrivalsAreExactHoweverFarOut(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		i, at int64
	}{
		{300_000, 1, 3_333},
		{300_000, 3, 10_000},
		{300_000, 1e12, 3_333_333_333_333_333},
		{300_000, 1e12 + 1, 3_333_333_333_336_666},
		{7, 7e9 + 1, 1_000_000_000_142_857_142},
		{10_000_000, 1e12, 1e14},
		{10_000_000, 1e12 + 7, 1e14 + 700},
		{0.01, 1, 100e9},
		{0.01, 31_536, 3_153_600e9},
		{1.0 / 3, 1, 3_000_000_003}, // a rate is kept to a billionth
		{14142.135623731, 1e12, 70_710_678_118_654_504},
		{1, math.MaxInt64, Never},
		{1e-6, 1e4, Never},
	} {
		if got := must(Constant(c.rate)).At(c.i); got != c.at {
			t.Errorf("%v/s: arrival %d is at %d, want %d", c.rate, c.i, got, c.at)
		}
	}
}

func TestTotalsOverHoursAreExact(t *testing.T) {
	hours := func(n int64) int64 { return n * int64(time.Hour) }
	for name, c := range map[string]struct {
		s       Schedule
		d, want int64
	}{
		"300,000/s for 10 h":      {must(Constant(300_000)), hours(10), 10_800_000_000},
		"0.01/s for 10 h":         {must(Constant(0.01)), hours(10), 360},
		"40/s for 1 h":            {must(Constant(40)), hours(1), 144_000},
		"steps of half a message": {must(Steps([]Step{{1, 1, time.Second / 2}, {3, 3, time.Second / 2}, {1, 1, time.Second}, {0, 0, 1}}, false)), hours(1), 3},
		"a pause and a hold":      {must(Steps([]Step{{100, 100, time.Second}, {0, 0, time.Second}, {50, 50, 0}}, false)), hours(1), 100 + 50*3598},
		"uneven bursts": {
			must(Bursts(0.7, 33.3, time.Second, 100*time.Millisecond)), hours(10), 36_000 * 396 / 100,
		},
		"bursts in silence": {must(Bursts(0, 1000, 10*time.Second, time.Second)), hours(1), 360_000},
		"ramp, then hold":   {must(Ramp(0, 1000, 10*time.Second)), int64(20 * time.Second), 15_000},
		"ramp to silence":   {must(Ramp(1000, 0, 10*time.Second)), hours(5), 5_000},
	} {
		if got := c.s.Count(c.d); got != c.want {
			t.Errorf("%s: %d arrivals, want %d", name, got, c.want)
		}
	}
}

func TestArrivalTables(t *testing.T) {
	ms := int64(time.Millisecond)
	for name, c := range map[string]struct {
		s    Schedule
		want []int64 // ms
	}{
		"constant": {must(Constant(4)), []int64{0, 250, 500, 750, 1000}},
		"a share":  {share(must(Constant(4)), 1, 3), []int64{250, 1000, 1750}},
		"steps carry what is left of a message": {
			must(Steps([]Step{{2, 2, 750 * time.Millisecond}, {4, 4, 500 * time.Millisecond}, {1, 1, 0}}, false)),
			[]int64{0, 500, 875, 1125, 1750, 2750}, // L(0.75 s) = 1.5, L(1.25 s) = 3.5
		},
		"a pause delays": {must(Steps([]Step{{2, 2, time.Second}, {0, 0, 3 * time.Second}, {2, 2, 0}}, false)), []int64{0, 500, 4000, 4500}},
		"silence first":  {must(Steps([]Step{{0, 0, time.Second}, {2, 2, 0}}, false)), []int64{1000, 1500}},
		"bursts":         {must(Bursts(1, 4, 2*time.Second, time.Second)), []int64{0, 250, 500, 750, 1000, 2000, 2250}},
		"silent start of a period": {
			must(Bursts(2, 0, 2*time.Second, time.Second)), []int64{1000, 1500, 3000, 3500, 5000},
		},
		"an odd number per period": {
			must(Bursts(0, 1, 2*time.Second, 1500*time.Millisecond)), []int64{0, 1000, 2500, 4000, 5000},
		},
		"steps that repeat": {
			must(Steps([]Step{{2, 2, time.Second}, {0, 0, time.Second}, {1, 1, time.Second}}, true)), []int64{0, 500, 2000, 3000, 3500, 5000},
		},
		"slopes that repeat": { // 4 up and 4 down in each 4 s: L(t) = t² and 8 − (4 − t)²
			must(Steps([]Step{{0, 4, 2 * time.Second}, {4, 0, 2 * time.Second}}, true)),
			[]int64{0, 1000, 1414, 1732, 2000, 2268, 2586, 3000, 4000, 5000, 5414},
		},
		"a slope between steps": { // L(1 s) = 2, L(3 s) = 8
			must(Steps([]Step{{2, 2, time.Second}, {2, 4, 2 * time.Second}, {1, 1, time.Second}}, false)),
			[]int64{0, 500, 1000, 1449, 1828, 2162, 2464, 2742, 3000, 4000, 5000},
		},
		"ramp up":   {must(Ramp(0, 4, 2*time.Second)), []int64{0, 1000, 1414, 1732, 2000, 2250}},
		"ramp down": {must(Ramp(4, 0, 2*time.Second)), []int64{0, 267, 585, 1000, Never / ms}},
	} {
		for i, want := range c.want {
			if got := c.s.At(int64(i)); (got+ms/2)/ms != want && got/ms != want {
				t.Errorf("%s: arrival %d is at %d ns, want %d ms", name, i, got, want)
			}
		}
	}
}

func TestRatesAreAsAsked(t *testing.T) {
	ramp := must(Ramp(0, 1000, 10*time.Second))
	bursts := must(Bursts(5, 70, 2*time.Second, time.Second))
	steps := must(Steps([]Step{{10, 10, time.Second}, {0, 0, time.Second}, {20, 20, 0}}, false))
	for _, c := range []struct {
		s    Schedule
		t    float64 // s
		want float64
	}{
		{must(Constant(0.01)), 3, 0.01},
		{must(Poisson(123, 1)), 3, 123},
		{must(Poisson(123, 1)), -1, 0},
		{must(Constant(5)), -1, 0},
		{ramp, -1, 0},
		{ramp, 5, 500},
		{ramp, 11, 1000},
		{bursts, 0.5, 70},
		{bursts, 3.5, 5},
		{bursts, -1, 0},
		{steps, 0.999, 10},
		{steps, 1, 0},
		{steps, 99, 20},
		{share(steps, 1, 4), 99, 5},
	} {
		if got := c.s.Rate(int64(c.t * 1e9)); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v at %v s: %v/s, want %v", c.s, c.t, got, c.want)
		}
	}
}

// anySchedule draws from every shape, over the whole range of rates.
var anySchedule = rapid.Custom(func(t *rapid.T) Schedule {
	rate := func(what string) float64 {
		f := math.Pow(10, rapid.Float64Range(-2, 7).Draw(t, what))
		if rapid.Bool().Draw(t, "whole") {
			f = math.Ceil(f)
		}
		return f
	}
	silent := func(what string) float64 {
		if rapid.IntRange(0, 4).Draw(t, "silent") == 0 {
			return 0
		}
		return rate(what)
	}
	span := func(what string) time.Duration { return time.Duration(rapid.Int64Range(2, 1e11).Draw(t, what)) }
	var s Schedule
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		s = must(Constant(rate("rate")))
	case 1:
		s = must(Poisson(rate("rate"), rapid.Uint64().Draw(t, "seed")))
	case 2:
		var steps []Step
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			from := silent("rate")
			to := from
			if rapid.Bool().Draw(t, "slope") {
				to = silent("to")
			}
			steps = append(steps, Step{from, to, span("for")})
		}
		last := rate("last")
		s = must(Steps(append(steps, Step{last, last, span("for")}), rapid.Bool().Draw(t, "repeat")))
	case 3:
		s = must(Ramp(silent("from"), rate("to"), span("over")))
	case 4:
		every := span("every")
		s = must(Bursts(silent("base"), rate("burst"), every, time.Duration(rapid.Int64Range(1, int64(every)-1).Draw(t, "length"))))
	}
	if rapid.Bool().Draw(t, "shared") {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		s = share(s, rapid.IntRange(0, n-1).Draw(t, "k"), n)
	}
	return s
})

func TestArrivalsNeverGoBackAndCountAgrees(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := anySchedule.Draw(t, "schedule")
		walk := Sequential(s)
		from := rapid.Int64Range(0, 100_000).Draw(t, "from")
		last := int64(0)
		for i := from; i < from+40; i++ {
			at := walk.At(i)
			if at < last {
				t.Fatalf("arrival %d is at %d, the one before at %d", i, at, last)
			}
			if last = at; at == Never {
				break
			}
			if before := walk.Count(at); before > i {
				t.Fatalf("%d arrivals before %d, where arrival %d is", before, at, i)
			}
			if until := walk.Count(at + 1); until <= i {
				t.Fatalf("%d arrivals up to %d, where arrival %d is", until, at, i)
			}
		}
		if d := rapid.Int64Range(-5, 2e9).Draw(t, "d"); s.Count(d) != walk.Count(d) {
			t.Fatalf("%d arrivals before %d, %d in sequence", s.Count(d), d, walk.Count(d))
		}
		for range 3 {
			i := rapid.Int64Range(0, 100_000).Draw(t, "i")
			if a, b := s.At(i), walk.At(i); a != b {
				t.Fatalf("arrival %d is at %d, in sequence at %d", i, a, b)
			}
		}
	})
}

func TestSharesTogetherAreTheWhole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, n := anySchedule.Draw(t, "schedule"), rapid.IntRange(1, 9).Draw(t, "n")
		const each = 300
		var merged []int64
		var counted int64
		for k := range n {
			mine := Sequential(share(s, k, n))
			for i := range int64(each) {
				merged = append(merged, mine.At(i))
			}
			counted += mine.Count(1e8)
		}
		slices.Sort(merged)
		whole := Sequential(s)
		for i, got := range merged {
			if want := whole.At(int64(i)); got != want {
				t.Fatalf("arrival %d of %d shares is at %d, of the whole at %d", i, n, got, want)
			}
		}
		if want := s.Count(1e8); counted != want {
			t.Fatalf("the shares have %d arrivals in 0.1 s, the whole %d", counted, want)
		}
	})
}

func TestDueIsWhatCountingSays(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := Sequential(anySchedule.Draw(t, "schedule"))
		from := rapid.Int64Range(0, 5000).Draw(t, "from")
		now := s.At(from + rapid.Int64Range(0, 300).Draw(t, "ahead"))
		now = min(now, Never-10) + rapid.Int64Range(-2, 2).Draw(t, "off")
		limit := rapid.IntRange(-1, 400).Draw(t, "limit")
		want := 0
		for want < limit && s.At(from+int64(want)) <= now {
			want++
		}
		if got := Due(s, from, now, limit); got != want {
			t.Fatalf("%d due at %d, want %d", got, now, want)
		}
	})
}

func shapes() map[string]Schedule {
	return map[string]Schedule{
		"constant": must(Constant(300_000)),
		"poisson":  must(Poisson(300_000, 7)),
		"steps":    must(Steps([]Step{{1e5, 1e5, time.Second}, {3e5, 3e5, time.Second}, {2e5, 2e5, 0}}, false)),
		"ramp":     must(Ramp(1, 1e6, 10*time.Second)),
		"bursts":   must(Bursts(1e4, 1e6, 100*time.Millisecond, 10*time.Millisecond)),
	}
}

func TestSendersAllocateNothing(t *testing.T) {
	for name, s := range shapes() {
		s = Sequential(share(s, 1, 2))
		i, at := int64(0), int64(0)
		if got := testing.AllocsPerRun(5000, func() {
			at = s.At(i)
			i += int64(Due(s, i, at, 64))
		}); got != 0 {
			t.Errorf("%s: %g allocations per arrival", name, got)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	for name, s := range shapes() {
		b.Run(name, func(b *testing.B) {
			s, sum := Sequential(s), int64(0)
			for i := int64(0); b.Loop(); i++ {
				sum += s.At(i)
			}
			_ = sum
		})
	}
}

func BenchmarkPoissonAfterAnHourAtAMillion(b *testing.B) {
	s := must(Poisson(1e6, 1))
	for b.Loop() {
		s.Count(int64(time.Hour))
	}
}
