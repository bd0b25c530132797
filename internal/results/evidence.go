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
	if d.withinErrors() {
		why += "; " + d.ErrorsLeaveOpen()
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

// evidence states the p values of tests against the best, of which there is at least one, and their method.
func evidence(tests []Standing) string {
	var p pValues
	var open []Difference // that errors of measurement keep from being shown
	for _, s := range tests {
		p.add(s.Against)
		if s.Against.withinErrors() {
			open = append(open, s.Against)
		}
	}
	text := tests[0].Against.method(p.text(), "pairs") // the same for all tests of a ranking
	if len(open) > 0 {
		text += "; " + errorsLeaveOpen(open...)
	}
	return text + "."
}

// pValues are the p values of tests by what the tests say.
type pValues struct {
	shown []float64 // a difference
	open  []float64 // a difference, which errors of measurement may have made
	none  []float64 // no difference
}

func (p *pValues) add(d Difference) {
	switch {
	case d.Shown():
		p.shown = append(p.shown, d.Adjusted)
	case d.OpenByErrors():
		p.open = append(p.open, d.Adjusted)
	default:
		p.none = append(p.none, d.Adjusted)
	}
}

// text states the weakest evidence for each thing that tests say: the largest p value of those that show a difference, the smallest of
// those that show none. If all say the same, it is "p ≤ 0.048", and else "p ≤ 0.048 where shown, p = 0.310 where not".
func (p pValues) text() string {
	whereNone := "where not"
	if len(p.open) > 0 {
		whereNone = "where the test shows none"
	}
	clauses := []struct{ p, where string }{
		{atMostP(p.shown), "where shown"},
		{atMostP(p.open), "where the measurement leaves it open"},
		{atLeastP(p.none), whereNone},
	}
	var said, saidWhere []string
	for _, c := range clauses {
		if c.p != "" {
			said, saidWhere = append(said, c.p), append(saidWhere, c.p+" "+c.where)
		}
	}
	if len(said) == 1 {
		return said[0]
	}
	return strings.Join(saidWhere, ", ")
}

// atMostP bounds p values from above: "p ≤ 0.048", or "p = 0.048" if it is one. It is empty if there are none.
func atMostP(ps []float64) string {
	switch len(ps) {
	case 0:
		return ""
	case 1:
		return significance("=", ps[0])
	}
	return significance("≤", slices.Max(ps))
}

// atLeastP bounds p values from below: "p ≥ 0.310", or "p = 0.310" if it is one. It is empty if there are none.
func atLeastP(ps []float64) string {
	switch len(ps) {
	case 0:
		return ""
	case 1:
		return significance("=", ps[0])
	}
	return significance("≥", slices.Min(ps))
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

// ErrorsLeaveOpen says why a difference is open by errors of measurement.
func (d Difference) ErrorsLeaveOpen() string { return errorsLeaveOpen(d) }

// errorsLeaveOpen says why differences, of which there is one at least, are open by errors of measurement.
func errorsLeaveOpen(differences ...Difference) string {
	var reasons []string
	bound := 0.0 // of clocks, in nanoseconds
	for _, d := range differences {
		bound = max(bound, d.ClockBound())
	}
	if bound > 0 {
		reasons = append(reasons, "the clocks by which they were taken leave ±"+unit.Nanoseconds.Format(bound)+" open")
	}
	if slices.ContainsFunc(differences, func(d Difference) bool { return d.A.Above+d.B.Above > 0 }) {
		reasons = append(reasons, "messages never came, so a latency is only known to be at least what is shown")
	}
	return strings.Join(reasons, "; ")
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
