package results

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/verdict"
)

// String is the ranking in words: which is best, and what that rests on.
func (r Ranking) String() string { return strings.TrimSpace(r.Claim() + " " + r.Basis()) }

// contender has exact values of a metric.
func contender(name string, values ...float64) Contender {
	c := Contender{Name: name, Summary: Summarize(values)}
	for _, v := range values {
		c.sample = append(c.sample, verdict.Exactly(v))
	}
	return c
}

// off is a contender whose values two clocks took that are known to so many nanoseconds.
func off(bound float64, c Contender) Contender {
	c.Summary.ClockBound = bound
	for i, v := range c.sample {
		c.sample[i] = verdict.Value{At: v.At, Low: max(0, v.At-bound), High: v.At + bound}
	}
	return c
}

func contrast(a, b []float64) Difference {
	first, second := contender("a", a...), contender("b", b...)
	return Difference{A: first.Summary, B: second.Summary, Ratio: verdict.Compare(first.sample, second.sample, verdict.Pool(first.sample, second.sample))}
}

func from(first float64, n int) []float64 {
	var values []float64
	for i := range n {
		values = append(values, first+float64(i)*1e5)
	}
	return values
}

func TestARankingClaimsNoMoreThanTheRepetitionsAllow(t *testing.T) {
	p99, sustainable := MustMetric("e2e_p99_ns"), MustMetric("sustainable_low")
	bracketed := func(low, high float64, c Contender) Contender {
		c.Bracket = &Bracket{Low: low, High: high, Held: 20}
		return c
	}
	for _, c := range []struct {
		name       string
		metric     Metric
		contenders []Contender
		want       string
	}{
		{"nobody", p99, nil, ""},
		{"without values", p99, []Contender{{Name: "a"}}, ""},
		{"alone", p99, []Contender{contender("a", 1e6)}, "e2e p99, known only of a: 1.00 ms (n=1)."},
		{
			"once each", p99,
			[]Contender{contender("a", 1e6), contender("b", 9e6)},
			"e2e p99, undecided: the runs point to a 1.00 ms (n=1), then b 9.00 ms (n=1, 9.0 times higher). One run each decides nothing: it takes 3 each.",
		},
		{
			"brackets apart", sustainable,
			[]Contender{bracketed(100, 110, contender("a", 100)), bracketed(200, 210, contender("b", 200))},
			"Sustainable, undecided: the runs point to b 200/s (bracket 200–210/s, held 20.0 s, n=1), then a 100/s (bracket 100–110/s, held 20.0 s, n=1, 2.0 times lower). " +
				"One run each decides nothing: it takes 3 each.",
		},
		{
			"three times each", p99,
			[]Contender{contender("a", from(5e6, 3)...), contender("b", from(1e6, 3)...)},
			"Lowest e2e p99: b 1.10 ms [1.00–1.20 ms] (n=3), before a 5.10 ms [5.00–5.20 ms] (n=3, 4.6 times higher). p = 0.001 (Student's t of logarithms).",
		},
		{
			"two may share the first place", p99,
			[]Contender{contender("a", from(5e6, 5)...), contender("b", from(1e6, 5)...), contender("c", from(1.1e6, 5)...)},
			"e2e p99 undecided between b 1.20 ms [1.00–1.40 ms] (n=5) and c 1.30 ms [1.10–1.50 ms] (n=5); behind them a 5.20 ms [5.00–5.40 ms] (n=5, 4.3 times higher). " +
				"p < 0.001 (Student's t of logarithms, Holm over 3 pairs).",
		},
		{
			"two of them are alike", p99,
			[]Contender{contender("a", 100, 100.1, 99.9, 100, 100), contender("b", 100, 100.2, 99.8, 100.1, 100)},
			"e2e p99 less than a tenth apart: a 100 ns [99.9–100 ns] (n=5) and b 100 ns [99.8–100 ns] (n=5).",
		},
		{
			"one of them run once without an estimate", p99,
			[]Contender{contender("b", from(1e6, 5)...), contender("c", 2e6)},
			"e2e p99, undecided: the runs point to b 1.20 ms [1.00–1.40 ms] (n=5), then c 2.00 ms (n=1, 1.7 times higher). 5 and 1 runs decide nothing: it takes 3 each.",
		},
	} {
		if got := Rank(c.metric, c.contenders).String(); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// The median of c is behind that of b, which is shown to be behind a; c was seen everywhere.
func TestWhatScattersIsNotLevelWithTheBest(t *testing.T) {
	r := Rank(MustMetric("e2e_p99_ns"), []Contender{
		contender("a", 17e6, 17.1e6, 17.2e6, 17.3e6, 17.4e6, 17.5e6),
		contender("b", 310e6, 311e6, 312e6, 313e6, 314e6, 315e6),
		contender("c", 16e6, 17.25e6, 316e6, 320e6, 321e6, 17.15e6, 330e6),
	})
	const want = "Lowest e2e p99: a 17.2 ms [17.0–17.5 ms] (n=6), before b 312 ms [310–315 ms] (n=6, 18 times higher). c 316 ms [16.0–330 ms] (n=7, "
	if got := r.Claim(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "×) scatters too much to be told from the best.") {
		t.Errorf("got  %s\nwant %s…", got, want)
	}
}

func TestASentenceAboutManyNamesTheFirstAndTheLast(t *testing.T) {
	var many []Contender
	for i := range 30 {
		many = append(many, contender(fmt.Sprintf("c%d", i), float64(i+1)*1e6))
	}
	want := "c0 1.00 ms (n=1), then c1 2.00 ms (n=1, 2.0 times higher), c2 3.00 ms (n=1, 3.0 times higher), c3 4.00 ms (n=1, 4.0 times higher), " +
		"c4 5.00 ms (n=1, 5.0 times higher), 24 more and c29 30.0 ms (n=1, 30 times higher)"
	r := Rank(MustMetric("e2e_p99_ns"), many)
	if got := r.String(); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to name %q", got, want)
	}
	if got, want := r.Short("1k/s"), "undecided at 1k/s (c0 1.00 ms, c1 is 2.0 times higher)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range many {
		many[i] = contender(many[i].Name, 1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6)
	}
	if got, want := Rank(MustMetric("e2e_p99_ns"), many).Short("1k/s"), "undecided between c0 5.00 ms, c1 5.00 ms, c2 5.00 ms, c3 5.00 ms, 25 more and c29 5.00 ms at 1k/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Rank(MustMetric("e2e_p99_ns"), nil).Short("1k/s"); got != "none" {
		t.Errorf("the best of nobody is %q", got)
	}
}

// A reader must never take one answer for another, so each sentence has the words of its own answers and no others.
func TestASentenceHasTheWordsOfItsAnswersAndNoOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	seen := map[string]int{}
	for range 400 {
		var contenders []Contender
		n := 1 + random.IntN(9)
		for i := range 2 + random.IntN(4) {
			var values []float64
			level := float64(1 + random.IntN(3)*100)
			for range max(1, n-random.IntN(2)*random.IntN(n)) {
				values = append(values, level+random.Float64())
			}
			contenders = append(contenders, contender(fmt.Sprint("c", i), values...))
		}
		r := Rank(MustMetric("publish_rate"), contenders)
		text := r.String()
		if got, want := strings.Contains(strings.ToLower(text), "decid") || strings.Contains(text, "too much"), len(r.Undecided()) > 0; got != want {
			t.Fatalf("%q is undecided: %v, want %v", text, got, want)
		}
		behind := len(r.Behind()) > 0
		if got := strings.Contains(text, "Highest ") || strings.Contains(text, "behind them"); got != behind {
			t.Fatalf("%q ranks: %v, want %v", text, got, behind)
		}
		if got := strings.Contains(text, "p = ") || strings.Contains(text, "p ≤ ") || strings.Contains(text, "p < "); got != behind {
			t.Fatalf("%q has a p value: %v, want %v", text, got, behind)
		}
		for _, c := range contenders {
			if strings.Count(text, c.Name+" ") != 1 {
				t.Fatalf("%q doesn't name %s once", text, c.Name)
			}
		}
		seen[fmt.Sprint(behind, len(r.Undecided()) > 0, len(r.untested()) > 0)]++
	}
	if len(seen) < 5 {
		t.Errorf("few cases were tried: %v", seen)
	}
}

func TestAChangeIsToldInTheWordsThatFitIt(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want string
	}{
		{1_190_000, 25_600, "46 times lower"},
		{25_600, 1_190_000, "46 times higher"},
		{100, 1000, "10 times higher"},
		{100, 990, "9.9 times higher"},
		{100, 995, "10 times higher"},
		{100, 150, "1.5 times higher"},
		{100, 149, "49.0 % higher"},
		{100, 70, "30.0 % lower"},
		{150, 100, "1.5 times lower"},
		{100, 100, "equal"},
		{0, 0, "equal"},
		{0, 5, "higher"},
		{5, 0, "lower"},
	} {
		if got := contrast([]float64{c.a}, []float64{c.b}).Change(); got != c.want {
			t.Errorf("%v to %v is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestWhySaysWhatAnAnswerRestsOn(t *testing.T) {
	for want, d := range map[string]Difference{
		"nothing to compare with n=0 and n=2":            contrast(nil, from(1e6, 2)),
		"one run each decides nothing: it takes 3 each":  contrast(from(1e6, 1), from(9e6, 1)),
		"2 and 1 runs decide nothing: it takes 3 each":   contrast(from(1e6, 2), from(9e6, 1)),
		"p < 0.001, n=5 and n=5":                         contrast(from(1e6, 5), from(9e6, 5)),
		"the ratio lies within 0.823–1.22×, n=4 and n=4": contrast(from(1e6, 4), from(1e6, 4)),
		"by less than a tenth, 0.991–1.01×, n=4 and n=4": contrast(from(100e6, 4), from(100e6, 4)),
	} {
		if got := d.Why(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, bound := range []struct {
		sign string
		p    float64
		want string
	}{
		{"≤", 0.0484, "p ≤ 0.049"},
		{"≤", 0.048, "p ≤ 0.048"},
		{"≤", 0.0496, "p ≤ 0.0496"},
		{"≤", 0.0001, "p < 0.001"},
		{"=", 0.001, "p = 0.001"},
		{"=", 0.0009999, "p < 0.001"},
		{"=", 0.05, "p = 0.050"},
		{"=", 23 * 2 / 924.0, "p = 0.0498"},
		{"=", 0.049996, "p = 0.049996"},
	} {
		if got := significance(bound.sign, bound.p); got != bound.want {
			t.Errorf("a p value of %v is written %q, want %q", bound.p, got, bound.want)
		}
	}
}

// "Lowest e2e p99: jetstream 942 µs at 20/s" was said of 80 messages.
func TestNothingIsConcludedFromTooFewMessages(t *testing.T) {
	m := MustMetric(KeyEndToEndP99)
	runs := func(messages, ns int64) []store.Record {
		var records []store.Record
		for range 5 {
			h := hist.New()
			h.RecordN(ns, messages)
			r := store.Record{Status: store.OK, Result: &store.Result{}}
			r.Result.Latency.EndToEnd = h.Snapshot()
			records = append(records, r)
		}
		return records
	}
	for messages, want := range map[int64]Answer{80: Undecided, 999: Undecided, 1000: Differs} {
		r := Rank(m, []Contender{NewContender("a", m, runs(messages, 1e6)), NewContender("b", m, runs(messages, 9e6))})
		if r.Rest[0].Against.Answer != want || strings.Contains(r.String(), "oo few messages") != (want == Undecided) {
			t.Errorf("%d messages: %s", messages, r)
		}
	}
	if p50 := MustMetric(KeyEndToEndP50); p50.Over(runs(20, 1e6)).TooFew || !p50.Over(runs(19, 1e6)).TooFew {
		t.Error("a median takes 20 messages")
	}
	if MustMetric(KeyEndToEndMax).Over(runs(1, 1e6)).TooFew {
		t.Error("the longest of few is a fact of these")
	}
}
