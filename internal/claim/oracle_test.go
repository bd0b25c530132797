package claim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/results"
)

// choices are the points with one of their repetitions each, in every combination.
func choices(points []at) [][]at {
	out := [][]at{nil}
	for _, p := range points {
		var next [][]at
		for _, before := range out {
			for _, rate := range p.rates {
				next = append(next, append(append([]at{}, before...), at{p.axes, []float64{rate}}))
			}
		}
		out = next
	}
	return out
}

// A statement holds where it would hold whichever repetition of each point had been the only one, and doesn't hold where
// it would not hold for any.
func TestAVerdictIsThatOfEveryChoiceOfRepetitions(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 1))
	for _, test := range []struct {
		statement string
		bound     bool // its spread is wider than what choices make: only what it decides is held against them
	}{
		{"ratio: {of: {x: 1}, to: {x: 2}, expect: {from: 0.7, to: 1.2}}", false},
		{"ratio: {of: {x: [1, 2]}, to: {x: [3, 4]}, over: [], pool: max, expect: {to: 1}}", false},
		{"ratio: {of: {x: [1, 2]}, to: {x: [3, 4]}, over: [], pool: mean, expect: {to: 1}}", false},
		{"threshold: {take: max, expect: {from: 14}}", false},
		{"threshold: {take: median, expect: {from: 10, to: 12}}", false},
		{"threshold: {expect: {from: 6}}", false},
		{"threshold: {share: 50%, expect: {from: 10}}", true},
		{"rank: {by: x, first: 1}", false},
		{"rank: {by: x, last: 1}", false},
		{"rank: {by: x, second: 1}", true},
		{"best: lowest, rank: {by: x, first: 1}", false},
		{"rank: {by: x, order: [1, 2]}", false},
		{"slope: {along: x, sign: rising}", false},
		{"slope: {along: x, change: {from: -20%}}", false},
		{"shape: {along: x, form: interior maximum}", false},
		{"shape: {along: x, form: rising}", true},
		{"shape: {along: x, form: falling, within: 30%}", true},
	} {
		c := parse(t, test.statement)
		seen := map[claim.Verdict]int{}
		for range 90 {
			var points []at
			for x := range 4 {
				p := at{fmt.Sprintf("x=%d", x+1), nil}
				middle := 5 + 10*random.Float64()
				for range 1 + random.IntN(3) {
					p.rates = append(p.rates, middle*(0.95+0.1*random.Float64()))
				}
				points = append(points, p)
			}
			whole := evaluate(c, results.Of(records(points...)), "s", claim.Now)
			got, low, high := whole.PointsTo, math.Inf(1), math.Inf(-1)
			want := map[claim.Verdict]int{}
			for _, choice := range choices(points) {
				one := evaluate(c, results.Of(records(choice...)), "s", claim.Now)
				want[one.PointsTo]++
				if f := one.Parts[0].Figure; f.N > 0 {
					low, high = min(low, f.Value), max(high, f.Value)
				}
			}
			if f := whole.Parts[0].Figure; !test.bound && (len(whole.Parts[0].Cells) == 1 || c.Statements[0].Take != claim.TakeEach) && (!near(f.Low, low) || !near(f.High, high)) {
				t.Fatalf("%s: a spread from %v to %v, and of choices from %v to %v: %+v", test.statement, f.Low, f.High, low, high, points)
			}
			seen[got]++
			agreed := len(want) == 1
			switch {
			case got != claim.Undecided && (!agreed || want[got] == 0):
				t.Fatalf("%s: %s, and of choices %v: %+v", test.statement, got, want, points)
			case got == claim.Undecided && agreed && !test.bound:
				t.Fatalf("%s: undecided, and all choices say %v: %+v", test.statement, want, points)
			}
		}
		for _, v := range []claim.Verdict{claim.Reproduced, claim.NotReproduced, claim.Undecided} {
			if seen[v] == 0 {
				t.Errorf("%s: never %s, of %v", test.statement, v, seen)
			}
		}
	}
}
