// What answers are based on, in words: p values, numbers of repetitions, and limits of the measurement.

package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Why describes the basis of the answer: "p = 0.023, Holm over 6 tests, n=5 and n=5".
func (d Difference) Why() string {
	repetitions := fmt.Sprintf("n=%d and n=%d", d.A.N, d.B.N)
	why := []string{significance("=", d.P) + inFamily(d.Family, "tests"), repetitions}
	switch {
	case d.empty():
		return "nothing to compare with " + repetitions
	case !d.Tested() && tooFew(d) != "":
		why = []string{tooFew(d)}
	case !d.Tested():
		why = []string{repetitions}
	case d.Answer == Undecided && d.interval() != "":
		why = []string{"the ratio lies within " + d.interval(), repetitions}
	case d.Answer == Undecided:
		why = []string{repetitions}
	case d.Answer == DoesNotDiffer:
		why = []string{"by less than a tenth, " + d.interval(), repetitions}
	}
	if d.Answer == Undecided && d.Bounded() {
		why = append(why, d.LeftOpen())
	}
	return strings.Join(why, ", ")
}

// Basis describes the basis of the claim. It is empty for a single contender.
//
//	p ≤ 0.048 (Student's t of logarithms, Holm over 6 pairs).
func (r Ranking) Basis() string {
	var sentences []string
	shown := lists.Map(r.Behind(), func(s Standing) float64 { return s.Against.P })
	if len(shown) > 0 {
		sign := "≤"
		if len(shown) == 1 {
			sign = "="
		}
		sentences = append(sentences, fmt.Sprintf("%s (Student's t of logarithms%s).",
			significance(sign, slices.Max(shown)), inFamily(r.Rest[0].Against.Family, "pairs")))
	}
	against := func(s Standing) Difference { return s.Against }
	open := lists.Filter(lists.Map(r.Undecided(), against), func(d Difference) bool { return d.Bounded() })
	if text := leftOpen(open...); text != "" {
		sentences = append(sentences, Capital(text)+".")
	}
	if untested := r.untested(); len(untested) > 0 {
		if len(untested) < len(r.Rest) {
			sentences = append(sentences, "Undecided: "+r.list(untested)+".")
		}
		if text := tooFew(lists.Map(untested, against)...); text != "" {
			sentences = append(sentences, Capital(text)+".")
		}
	}
	return strings.Join(sentences, " ")
}

// significance formats a p value: "p = 0.023", "p ≤ 0.048", "p < 0.001". A bound is rounded so that it holds: "p ≤ 0.049" for at most
// 0.0484. It has three decimals, and more if three would put it on the other side of 5 %: 0.04978 is "p = 0.0498", not 0.050.
func significance(sign string, p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	round := map[string]func(float64) float64{
		"=": math.Round,
		"≤": func(x float64) float64 { return math.Ceil(x - floatError) },
	}[sign]
	decimals, shown := 3, 0.0
	for ; decimals <= 15; decimals++ {
		scale := math.Pow10(decimals)
		shown = round(p*scale) / scale
		if (shown < verdict.Alpha) == (p < verdict.Alpha) {
			break
		}
	}
	return "p " + sign + " " + strconv.FormatFloat(shown, 'f', decimals, 64)
}

// floatError exceeds the float64 error of scaling a p value to up to 15 decimals.
const floatError = 1e-6

// inFamily describes the correction for tests that are made together: ", Holm over 6 pairs". tests is the word for them.
func inFamily(family int, tests string) string {
	if family < 2 {
		return ""
	}
	return fmt.Sprintf(", Holm over %d %s", family, tests)
}

// LeftOpen says which limit of the measurement leaves the difference open regardless of the number of repetitions; empty if none does.
func (d Difference) LeftOpen() string { return leftOpen(d) }

func leftOpen(differences ...Difference) string {
	var reasons []string
	bound := 0.0 // of clocks, in nanoseconds
	searched, never, few := false, false, false
	for _, d := range differences {
		bound = max(bound, d.A.ClockBound+d.B.ClockBound)
		for _, s := range []Summary{d.A, d.B} {
			searched = searched || s.Searched && s.Above > 0
			never = never || !s.Searched && s.Above > 0
			few = few || s.TooFew
		}
	}
	if bound > 0 {
		reasons = append(reasons, "the clocks by which they were taken leave ±"+unit.Nanoseconds.Format(bound)+" open")
	}
	if never {
		reasons = append(reasons, "messages never came, so a latency is only known to be at least what is shown")
	}
	if searched {
		reasons = append(reasons, "the brackets of the searches leave it open")
	}
	if few {
		reasons = append(reasons, TooFewMessages)
	}
	return strings.Join(reasons, "; ")
}

// TooFewMessages is why a quantile of few messages allows no conclusion.
var TooFewMessages = fmt.Sprintf("too few messages for a verdict: it takes %d beyond a quantile, so a p99 takes %d", leastBeyond, 100*leastBeyond)

// tooFew says why differences, of which there is at least one, have no answer: "one run each decides nothing: it takes 3 each".
// It is empty if they have enough repetitions.
func tooFew(differences ...Difference) string {
	first := differences[0]
	if !slices.ContainsFunc(differences, func(d Difference) bool { return min(d.A.N, d.B.N) < verdict.Enough }) {
		return ""
	}
	had := runs(first.A.N, first.B.N)
	if slices.ContainsFunc(differences, func(d Difference) bool { return d.A.N != first.A.N || d.B.N != first.A.N }) && len(differences) > 1 {
		had = "too few runs"
	}
	decide := " decide nothing"
	if first.A.N == 1 && first.B.N == 1 && had != "too few runs" {
		decide = " decides nothing"
	}
	return fmt.Sprintf("%s%s: it takes %d each", had, decide, verdict.Enough)
}

// runs counts the repetitions of both samples: "one run each", "3 runs each", "2 and 3 runs".
func runs(a, b int) string {
	switch {
	case a == 1 && b == 1:
		return "one run each"
	case a == b:
		return fmt.Sprintf("%d runs each", a)
	}
	return fmt.Sprintf("%d and %d runs", a, b)
}
