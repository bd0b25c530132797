package results

import (
	"fmt"
	"strings"
	"testing"
)

// The median of c is behind that of b, which is shown to be behind a; c was seen everywhere.
func TestWhatScattersIsNotLevelWithTheBest(t *testing.T) {
	r := Rank(MustMetric("e2e_p99_ns"), []Contender{
		{Name: "a", Values: []float64{17e6, 17.1e6, 17.2e6, 17.3e6, 17.4e6, 17.5e6}},
		{Name: "b", Values: []float64{310e6, 311e6, 312e6, 313e6, 314e6, 315e6}},
		{Name: "c", Values: []float64{16e6, 17.25e6, 316e6, 320e6, 321e6, 17.15e6, 330e6}},
	})
	const want = "Lowest e2e p99: a 17.2 ms [17.0–17.5 ms] (n=6), before b 312 ms [310–315 ms] (n=6, 18 times higher). " +
		"c 316 ms [16.0–330 ms] (n=7) scatters too much to be told from the best."
	if got := r.Claim(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestASentenceAboutManyNamesTheFirstAndTheLast(t *testing.T) {
	var many []Contender
	for i := range 30 {
		v := float64(i+1) * 1e6
		many = append(many, Contender{Name: fmt.Sprintf("c%d", i), Values: []float64{v}})
	}
	want := "c0 1.00 ms (n=1), then c1 2.00 ms (n=1, 2.0 times higher), c2 3.00 ms (n=1, 3.0 times higher), c3 4.00 ms (n=1, 4.0 times higher), " +
		"c4 5.00 ms (n=1, 5.0 times higher), 24 more and c29 30.0 ms (n=1, 30 times higher)"
	r := Rank(MustMetric("e2e_p99_ns"), many)
	if got := r.String(); !strings.Contains(got, want) {
		t.Errorf("got %q, want it to name %q", got, want)
	}
	if got, want := r.Short("1k/s"), "c0 1.00 ms at 1k/s (not tested: c1 is 2.0 times higher)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range many {
		many[i].Values = []float64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6, 9e6}
	}
	if got, want := Rank(MustMetric("e2e_p99_ns"), many).Short("1k/s"), "no difference shown between c0 5.00 ms, c1 5.00 ms, c2 5.00 ms, c3 5.00 ms, 25 more and c29 5.00 ms at 1k/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Few scattered values can make the estimate contradict the medians by which the sentence orders.
func TestAContenderBehindIsNotCalledAhead(t *testing.T) {
	m := MustMetric(KeyEndToEndP99)
	r := Rank(m, []Contender{{Name: "a", Values: []float64{4e6, 5e6, 100e6}}, {Name: "b", Values: []float64{3e6, 6e6, 7e6}}})
	if got, want := r.Claim(), "e2e p99, not tested: a 5.00 ms [4.00–100 ms] (n=3), then b 6.00 ms [3.00–7.00 ms] (n=3, higher by the median alone)."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := r.Short("1k/s"), "a 5.00 ms at 1k/s (not tested: b is higher by the median alone)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	even := Rank(m, []Contender{{Name: "a", Values: []float64{1e6, 4e6}}, {Name: "b", Values: []float64{2e6, 2e6}}}).Claim()
	if strings.Contains(even, "equal") || !strings.Contains(even, "a 2.50 ms [1.00–4.00 ms] (n=2, higher by the median alone)") {
		t.Errorf("unequal medians: %s", even)
	}
}
