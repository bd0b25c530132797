package search

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// drawGoal and drawTally are in whole seconds, so that sums are exact.
func drawGoal(t *rapid.T) Goal {
	final := time.Duration(rapid.IntRange(1, 20).Draw(t, "final")) * time.Second
	return Goal{
		ExceedRatio: float64(rapid.IntRange(0, 9).Draw(t, "exceed")) / 20, FinalDuration: final,
		DurationSum: final * time.Duration(rapid.IntRange(1, 6).Draw(t, "sum")), Width: 0.05,
	}
}

func drawTally(t *rapid.T) Tally {
	seconds := func(name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 60).Draw(t, name)) * time.Second
	}
	return Tally{GoodLong: seconds("good"), BadLong: seconds("bad"), GoodShort: seconds("short good"), BadShort: seconds("short bad")}
}

// appendixA is the load classification as draft-ietf-bmwg-mlrsearch gives it: optimistic and pessimistic.
func appendixA(g Goal, t Tally) (optimistic, pessimistic bool) {
	const rounding = 1e-6
	balancing := t.GoodShort.Seconds() * g.ExceedRatio / (1 - g.ExceedRatio)
	bad := t.BadLong.Seconds() + math.Max(0, t.BadShort.Seconds()-balancing)
	whole := math.Max(t.GoodLong.Seconds()+bad, g.DurationSum.Seconds())
	quantile := whole*g.ExceedRatio + rounding
	return bad <= quantile, whole-t.GoodLong.Seconds() <= quantile
}

func TestClassesAreThoseOfTheDraft(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		g, tally := drawGoal(t), drawTally(t)
		optimistic, pessimistic := appendixA(g, tally)
		want := Undecided
		switch made := float64(tally.GoodShort) * g.ExceedRatio / (1 - g.ExceedRatio); {
		case optimistic && pessimistic:
			want = Lower
		case !optimistic && !pessimistic && float64(tally.BadLong)+math.Max(0, float64(tally.BadShort)-made) > float64(g.FinalDuration)+1e3:
			want = Upper // ours: more than one trial's worth of bad time
		}
		if got := g.Class(tally); got != want {
			t.Fatalf("%+v for %+v: %s, the draft says %s", tally, g, got, want)
		}
	})
}

var order = map[Class]int{Upper: 0, Undecided: 1, Lower: 2}

func TestAGoodTrialNeverMakesARateWorseNorABadOneBetter(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		g, tally := drawGoal(t), drawTally(t)
		before := order[g.Class(tally)]
		for _, length := range []time.Duration{g.FinalDuration / 2, g.FinalDuration, 3 * g.FinalDuration} {
			good, bad := tally, tally
			good.add(g, length, Judgement{Verdict: Pass})
			bad.add(g, length, Judgement{Verdict: Fail})
			if order[g.Class(good)] < before || order[g.Class(bad)] > before {
				t.Fatalf("%+v for %+v: %d, %s after a good trial of %s, %s after a bad one", tally, g, before, g.Class(good), length, g.Class(bad))
			}
		}
	})
}

func TestAVoidTrialSaysNothingAndABrokenPromiseEverything(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		g, tally := drawGoal(t), drawTally(t)
		void := tally
		void.add(g, g.FinalDuration, Judgement{Verdict: Void})
		if void != tally {
			t.Fatalf("%+v became %+v", tally, void)
		}
		tally.add(g, g.FinalDuration/2, Judgement{Verdict: Fail, Broken: true})
		for range 100 {
			tally.add(g, g.FinalDuration, Judgement{Verdict: Pass})
		}
		if c := g.Class(tally); c != Upper || tally.mostlyPassed() {
			t.Fatalf("%+v is %s", tally, c)
		}
	})
}

func TestOnlyTrialsOfFullLengthMakeALowerBound(t *testing.T) {
	g := confirmed(2, 0)
	var tally Tally
	for range 1000 {
		tally.add(g, g.FinalDuration-1, Judgement{Verdict: Pass})
	}
	if c := g.Class(tally); c != Undecided || !tally.mostlyPassed() {
		t.Errorf("short trials alone: %s", c)
	}
	tally.add(g, g.FinalDuration, Judgement{Verdict: Pass})
	if c := g.Class(tally); c != Undecided {
		t.Errorf("one of two: %s", c)
	}
	tally.add(g, g.FinalDuration, Judgement{Verdict: Pass})
	if c := g.Class(tally); c != Lower {
		t.Errorf("two of two: %s", c)
	}
}

func TestAsManyGoodTrialsAsWereAskedForConfirm(t *testing.T) {
	for times := 1; times < 8; times++ {
		g := confirmed(times, 0)
		var tally Tally
		for n := range times {
			if c := g.Class(tally); c != Undecided {
				t.Errorf("%d of %d: %s", n, times, c)
			}
			tally.add(g, g.FinalDuration, Judgement{Verdict: Pass})
		}
		if c := g.Class(tally); c != Lower {
			t.Errorf("%d of %d: %s", times, times, c)
		}
	}
}

func TestTwoOfThreeDecideByDefault(t *testing.T) {
	for _, c := range []struct {
		trials string // g: good, b: bad; capital: full length
		want   Class
	}{
		{"", Undecided},
		{"b", Undecided},
		{"bbbbb", Undecided}, // just as long as a full trial
		{"bbbbbb", Upper},
		{"gbbbbbb", Upper},
		{"ggbbbbbb", Undecided}, // the good ones make up for one of the bad
		{"B", Undecided},
		{"bB", Upper},
		{"gB", Undecided},
		{"BB", Upper},
		{"BG", Undecided},
		{"BGG", Lower},
		{"BGB", Upper},
		{"gGG", Lower},
	} {
		g := confirmed(2, 0)
		var tally Tally
		for _, trial := range c.trials {
			length, v := time.Second, Pass
			if trial == 'B' || trial == 'G' {
				length = g.FinalDuration
			}
			if trial == 'B' || trial == 'b' {
				v = Fail
			}
			tally.add(g, length, Judgement{Verdict: v})
		}
		if got := g.Class(tally); got != c.want {
			t.Errorf("%q: %s, want %s", c.trials, got, c.want)
		}
	}
}

func TestAnUndecidedRateIsTakenForTheLongerHalf(t *testing.T) {
	for _, c := range []struct {
		tally Tally
		want  bool
	}{
		{Tally{GoodShort: 1}, true},
		{Tally{BadShort: 1}, false},
		{Tally{GoodLong: 5, BadLong: 5}, false},
		{Tally{GoodLong: 5, BadLong: 5, GoodShort: 1}, true},
		{Tally{GoodLong: 5, BadShort: 6}, false},
		{Tally{BadLong: 5, GoodShort: 6}, true},
	} {
		if got := c.tally.mostlyPassed(); got != c.want {
			t.Errorf("%+v: %v", c.tally, got)
		}
	}
}

func TestTheConditionalThroughputIsWhatCameThroughInAllButTheWorstTime(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		name   string
		exceed float64
		sum    time.Duration
		trials []served
		want   float64
	}{
		{"nothing", 0.5, 4 * second, nil, 0},
		{"one that is enough", 0.5, 4 * second, []served{{90, 2 * second}}, 90},
		{"one that isn't", 0.25, 4 * second, []served{{90, 2 * second}}, 0},
		{"the worst counts where nothing is excused", 0, 4 * second, []served{{90, second}, {80, second}, {100, 2 * second}}, 80},
		{"a quarter is excused", 0.25, 4 * second, []served{{90, second}, {80, second}, {100, 2 * second}}, 90},
		{"half is", 0.5, 4 * second, []served{{90, second}, {80, second}, {100, 2 * second}}, 100},
		{"more than the sum", 0.5, second, []served{{90, second}, {80, second}, {100, 2 * second}, {70, 2 * second}}, 90},
	} {
		if got := (Goal{ExceedRatio: c.exceed, DurationSum: c.sum}).conditional(c.trials); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
