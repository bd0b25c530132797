// What the answers of tests rest on, in words: p values, the numbers of repetitions, and the errors of clocks.

package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// Why says in words what the answer rests on: "p = 0.023, Mann–Whitney U, Holm over 6 tests, n=5 and n=5".
func (d Difference) Why() string {
	if d.empty() {
		return fmt.Sprintf("no test possible with n=%d and n=%d", d.A.N, d.B.N)
	}
	if d.Needed > 0 {
		return runs(d.A.N, d.B.N) + ", so not tested: " + d.neededRuns("differences")
	}
	why := fmt.Sprintf("%s, n=%d and n=%d", d.method(significance("=", d.Adjusted), "tests"), d.A.N, d.B.N)
	if d.withinClocks() {
		why += "; " + clocksLeaveOpen(d.ClockBound())
	}
	return why
}

// Basis names the tests that the claim rests on, and who was measured but not tested. It is empty for a single contender.
//
//	p ≤ 0.048 where shown, p = 0.310 where not, Mann–Whitney U, Holm over 6 pairs.
func (r Ranking) Basis() string {
	var tested, untested []Standing
	for _, s := range r.Rest {
		if s.Against.Answer() == NotTested {
			untested = append(untested, s)
		} else {
			tested = append(tested, s)
		}
	}
	var sentences []string
	if len(tested) > 0 {
		sentences = append(sentences, evidence(tested))
	}
	if len(tested) > 0 && len(untested) > 0 {
		sentences = append(sentences, "Not tested: "+r.list(untested)+".")
	}
	if len(untested) > 0 {
		sentences = append(sentences, whyUntested(untested))
	}
	return strings.Join(sentences, " ")
}

// evidence states the p values of tests against the best, of which there is at least one, and the method. The p values are
// the weakest evidence: the largest of those that show a difference, the smallest of those that don't. A p value below 5 %
// that shows no difference, because the clocks leave it open, is only stated if there are no others.
func evidence(tests []Standing) string {
	var shown, notShown, open []float64
	largestBound := 0.0 // of the clocks that keep a difference from being shown, in nanoseconds
	for _, s := range tests {
		p := s.Against.Adjusted
		switch {
		case s.Against.Shown():
			shown = append(shown, p)
		case p < alpha:
			open = append(open, p)
		default:
			notShown = append(notShown, p)
		}
		if s.Against.withinClocks() {
			largestBound = max(largestBound, s.Against.ClockBound())
		}
	}
	var texts []string
	if len(shown) > 0 {
		texts = append(texts, significance(signOf(shown, "≤"), slices.Max(shown)))
	}
	if len(notShown) > 0 {
		texts = append(texts, significance(signOf(notShown, "≥"), slices.Min(notShown)))
	} else if len(open) > 0 {
		texts = append(texts, significance(signOf(open, "≤"), slices.Max(open)))
	}
	if len(texts) == 2 {
		notWhere := " where not"
		if len(notShown) > 0 && len(open) > 0 { // of which the test does show a difference
			notWhere = " where the test shows none"
		}
		texts[0], texts[1] = texts[0]+" where shown", texts[1]+notWhere
	}
	text := tests[0].Against.method(strings.Join(texts, ", "), "pairs") // the same for all tests of a ranking
	if largestBound > 0 {
		text += "; " + clocksLeaveOpen(largestBound)
	}
	return text + "."
}

// signOf is the sign before the largest or smallest of p values: the sign of a bound, "≤" or "≥", unless it is the only one.
func signOf(ps []float64, bound string) string {
	if len(ps) == 1 {
		return "="
	}
	return bound
}

// significance writes how a p value compares: "p = 0.023", "p ≤ 0.048", "p < 0.001". A bound is rounded so that it holds: of at most
// 0.0484 "p ≤ 0.049". It has three decimals, and more where these would put it on the other side of 5 %: 0.04978 is
// "p = 0.0498", and not 0.050.
func significance(sign string, p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	round := map[string]func(float64) float64{
		"=": math.Round,
		"≤": func(x float64) float64 { return math.Ceil(x - floatError) },
		"≥": func(x float64) float64 { return math.Floor(x + floatError) },
	}[sign]
	decimals, shown := 3, 0.0
	for ; decimals <= 15; decimals++ {
		scale := math.Pow10(decimals)
		shown = round(p*scale) / scale
		if (shown < alpha) == (p < alpha) {
			break
		}
	}
	return "p " + sign + " " + strconv.FormatFloat(shown, 'f', decimals, 64)
}

// floatError is more than scaling a p value to up to 15 decimals misses in float64.
const floatError = 1e-6

// method adds the test and its correction to a p value: "p = 0.023, Mann–Whitney U, Holm over 6 pairs". tests is the word
// for the tests of the family: "tests" or "pairs".
func (d Difference) method(p, tests string) string {
	p += ", Mann–Whitney U"
	if d.Family > 1 {
		p += fmt.Sprintf(", Holm over %d %s", d.Family, tests)
	}
	return p
}

// clocksLeaveOpen says by how much the clocks may have made medians differ, in nanoseconds.
func clocksLeaveOpen(bound float64) string {
	return "the clocks by which they were taken leave ±" + unit.Nanoseconds.Format(bound) + " open"
}

// whyUntested says why contenders, of which there is at least one, were not tested: "One run each: testing 3 pairs at once
// needs at least 5 each."
func whyUntested(untested []Standing) string {
	first := untested[0].Against
	had := capital(runs(first.A.N, first.B.N))
	if slices.ContainsFunc(untested, func(s Standing) bool { return s.Against.B.N != first.A.N }) {
		had = "Too few runs"
	}
	return had + ": " + first.neededRuns("pairs") + "."
}

// neededRuns says how many repetitions a test needs: "testing 6 pairs at once needs at least 5 each". tests is the word for
// the tests of the family: "differences" or "pairs".
func (d Difference) neededRuns(tests string) string {
	if d.Family == 1 {
		return fmt.Sprintf("a test needs at least %d each", d.Needed)
	}
	return fmt.Sprintf("testing %d %s at once needs at least %d each", d.Family, tests, d.Needed)
}

// runs counts the repetitions of both samples: "one run each", "3 runs each", "2 and 3 runs".
func runs(a, b int) string {
	switch {
	case a == 1 && b == 1:
		return "one run each"
	case a == b:
		return fmt.Sprintf("%d runs each", a)
	default:
		return fmt.Sprintf("%d and %d runs", a, b)
	}
}
