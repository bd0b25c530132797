package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

func TestABracketIsNoSpread(t *testing.T) {
	values := []float64{100, 104, 96, 98, 102, 101, 99}
	records := searches(values, 1.05)
	b := Sustained(records)
	if b.N != 7 || b.Median != 100 || b.Low != 96 || math.Abs(b.High-104*1.05) > 1e-9 || b.Summary().Confident {
		t.Errorf("bracket %+v", b)
	}
	c := NewContender("a", MustMetric("sustainable_low"), records)
	if c.Bracket.Low != b.Low || c.Bracket.High != b.High || c.Summary.N != len(values) {
		t.Errorf("contender %+v", c)
	}
	// Brackets that don't overlap show nothing by themselves, and overlapping ones nothing however often they were found.
	other := NewContender("b", MustMetric("sustainable_low"), searches([]float64{1000}, 1.01))
	if r := Rank(MustMetric("sustainable_low"), []Contender{NewContender("a", MustMetric("sustainable_low"), records[:1]), other}); len(r.untested()) != 1 {
		t.Errorf("one search each: %s", r)
	}
	wide := NewContender("b", MustMetric("sustainable_low"), searches([]float64{82, 82.1, 82.2, 81.9, 82}, 1.4))
	if r := Rank(MustMetric("sustainable_low"), []Contender{c, wide}); len(r.Undecided()) != 1 || !strings.Contains(r.String(), "The brackets of the searches leave it open.") {
		t.Errorf("brackets overlap: %s", r)
	}
	if open := Sustained(searches([]float64{5}, 0)); !math.IsInf(open.High, 1) || open.Low != 5 {
		t.Errorf("nothing failed: %+v", open)
	}
	if none := NewContender("a", MustMetric("sustainable_low"), nil); none.Bracket != nil || none.Summary.N != 0 {
		t.Errorf("no search: %+v", none)
	}
	if cell := Sustained(nil).Cell(); cell.Kind != document.Blank {
		t.Errorf("no search: %+v", cell)
	}
	if cell := Sustained(records[:1]).Cell(); cell.Kind != document.Interval || cell.Low != 100 || cell.High != 105 {
		t.Errorf("one search: %+v", cell)
	}
}

// What the generator limited is a lower bound: two clients are not ranked by which of them gave up first.
func TestARateThatTheGeneratorLimitedHasNoUpperEnd(t *testing.T) {
	m := MustMetric(KeySustainableLow)
	slow, fast := searches([]float64{100, 101, 102, 99, 100}, 1.01), searches([]float64{200, 201, 199, 202, 200}, 1.01)
	if r := Rank(m, []Contender{NewContender("slow", m, slow), NewContender("fast", m, fast)}); r.Best.Name != "fast" || len(r.Behind()) != 1 {
		t.Fatalf("without a limit: %s", r)
	}
	for i := range slow[:5] {
		slow[i].Result.Sustainable.Limits = store.Limits{{Cause: "generator", Reached: true}}
	}
	r := Rank(m, []Contender{NewContender("slow", m, slow), NewContender("fast", m, fast)})
	if len(r.Behind()) != 0 || !math.IsInf(Sustained(slow).High, 1) || !m.Over(slow).AtLeast() {
		t.Errorf("bracket %+v, %s", Sustained(slow), r)
	}
	if cell := Sustained(slow).Cell(); !cell.AtLeast || Sustained(fast).Cell().AtLeast { // a chart shows the number alone
		t.Errorf("%+v, which is at least so much, and %+v", cell, Sustained(fast).Cell())
	}
	if got, want := NewContender("slow", m, slow).Bracket.words(), "each search passed 99/s, in some the broker failed at no rate"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if one := Rank(m, []Contender{NewContender("slow", m, slow[:1])}).Claim(); one != "Sustainable, known only of slow: at least 100/s (the broker failed at no rate that was tried, held 20.0 s, n=1)." {
		t.Error(one)
	}
	if same := Sustained(append(slow[:1:1], slow[0])).words(); same != "in some searches the broker failed at no rate" {
		t.Error(same)
	}
	for i := range fast[:5] {
		fast[i].Result.Sustainable.Limits = store.Limits{{Cause: "client-send", Reached: true}}
	}
	if r := Rank(m, []Contender{NewContender("slow", m, searches([]float64{100, 101, 102, 99, 100}, 1.01)), NewContender("fast", m, fast)}); len(r.Behind()) != 1 {
		t.Errorf("one is at least twice as fast: %s", r)
	}
	flat := Flat(slow[0])[0]
	if high, atLeast := flat.Value(KeySustainableHigh), flat.Value("at_least").([]string); high != nil || !slices.Contains(atLeast, KeySustainableLow) {
		t.Errorf("a flat record has the upper end %v, at least %v", high, atLeast)
	}
}
