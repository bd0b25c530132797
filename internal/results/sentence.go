package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// String is the ranking in words: who is best, and what that rests on.
//
//	Lowest e2e p99: nats 1.15 ms [1.00–1.30 ms] (n=5), before kafka 5.15 ms [5.00–5.30 ms] (n=5, 4.5 times higher).
//	p = 0.024, Mann–Whitney U, Holm over 3 pairs.
func (r Ranking) String() string { return strings.TrimSpace(r.Claim() + " " + r.Basis()) }

// Claim says in a sentence or two who is best, with the figures of all contenders. It is empty if no contender has a value.
func (r Ranking) Claim() string {
	if r.Best == nil {
		return ""
	}
	claim := r.claimAboutBest()
	if variable := r.tooVariable(); len(variable) > 0 {
		scatter := "scatter"
		if len(variable) == 1 {
			scatter = "scatters"
		}
		claim += fmt.Sprintf(" %s %s too much to be told from the best.", r.list(variable), scatter)
	}
	if open := r.openByClocks(); len(open) > 0 {
		claim += fmt.Sprintf(" The clocks can't tell %s from the best.", r.list(open))
	}
	return claim
}

// claimAboutBest is the claim without the contenders that can't be told from the best although others are behind it. The ranking has a best.
func (r Ranking) claimAboutBest() string {
	tied, behind, untested := r.TiedWithBest(), r.WithAnswer(Different), r.WithAnswer(NotTested)
	best := r.nameAndFigure(*r.Best)
	switch {
	case len(r.Rest) == 0:
		return fmt.Sprintf("%s, known only of %s: %s.", capital(r.Metric.Name), r.Best.Name, r.figure(*r.Best))
	case len(untested) == len(r.Rest):
		return fmt.Sprintf("%s, not tested: %s, then %s.", capital(r.Metric.Name), best, r.list(untested))
	case len(tied) == 1:
		superlative := "Lowest"
		if r.Metric.Better == Higher {
			superlative = "Highest"
		}
		return fmt.Sprintf("%s %s: %s, before %s.", superlative, r.Metric.Name, best, r.list(behind))
	}
	var texts []string
	for _, c := range tied {
		texts = append(texts, r.nameAndFigure(c))
	}
	claim := fmt.Sprintf("No difference shown in %s between %s", r.Metric.Name, enumerate(Shorten(texts)))
	if len(behind) > 0 {
		claim += "; behind them " + r.list(behind)
	}
	return claim + "."
}

// Basis names the tests that the claim rests on, and who was measured but not tested. It is empty for a single contender.
func (r Ranking) Basis() string {
	untested := r.WithAnswer(NotTested)
	switch {
	case len(r.Rest) == 0:
		return ""
	case len(untested) == len(r.Rest):
		return whyUntested(untested)
	case len(untested) == 0:
		return r.evidence()
	}
	return fmt.Sprintf("%s Not tested: %s. %s", r.evidence(), r.list(untested), whyUntested(untested))
}

// evidence states the p values of the tests against the best, and the method: "p ≤ 0.048 where shown, p = 0.310 where not,
// Mann–Whitney U, Holm over 6 pairs." The p values are the weakest evidence: the largest of those that show a difference, the
// smallest of those that don't.
func (r Ranking) evidence() string {
	shown, notShown := r.WithAnswer(Different), r.WithAnswer(NoDifferenceShown)
	byP := func(a, b Standing) int { return cmp.Compare(a.Against.Adjusted, b.Against.Adjusted) }
	var parts []string
	if len(shown) > 0 {
		parts = append(parts, significance(signOf(shown, "≤"), slices.MaxFunc(shown, byP).Against.Adjusted))
	}
	if len(notShown) > 0 {
		parts = append(parts, significance(signOf(notShown, "≥"), slices.MinFunc(notShown, byP).Against.Adjusted))
	}
	if len(parts) == 2 {
		parts[0], parts[1] = parts[0]+" where shown", parts[1]+" where not"
	}
	anyTest := slices.Concat(shown, notShown)[0].Against // all have the same method
	evidence := anyTest.method(strings.Join(parts, ", "), "pairs")
	if bound := largestOpenByClocks(notShown); bound > 0 {
		evidence += "; " + clocksLeaveOpen(bound)
	}
	return evidence + "."
}

// largestOpenByClocks is the largest error of the clocks that keeps a difference from being shown; 0 if none does.
func largestOpenByClocks(standings []Standing) float64 {
	largest := 0.0
	for _, s := range standings {
		if s.Against.withinClocks() {
			largest = max(largest, s.Against.ClockBound())
		}
	}
	return largest
}

// signOf is the sign before the largest or smallest p value of tests: the sign of a bound, "≤" or "≥", unless it is of the
// only test.
func signOf(tests []Standing, bound string) string {
	if len(tests) == 1 {
		return "="
	}
	return bound
}

// whyUntested says why contenders were not tested: "One run each: testing 3 pairs at once needs at least 5 each."
func whyUntested(untested []Standing) string {
	first := untested[0].Against
	had := capital(runs(first.A.N, first.B.N))
	if slices.ContainsFunc(untested, func(s Standing) bool { return s.Against.B.N != first.A.N }) {
		had = "Too few runs"
	}
	return had + ": " + first.neededRuns("pairs") + "."
}

// Short says only who is best at a load: "nats 1.31 ms at 1k/s", or between whom no difference was shown.
func (r Ranking) Short(load string) string {
	var names []string
	for _, c := range r.TiedWithBest() {
		names = append(names, c.Name+" "+r.Metric.Unit.Format(c.median()))
	}
	untested := r.WithAnswer(NotTested)
	switch {
	case len(names) == 0:
		return "nobody"
	case len(names) > 1:
		return "no difference shown between " + enumerate(Shorten(names)) + " at " + load
	case len(untested) > 0:
		return fmt.Sprintf("%s at %s (not tested: %s is %s)", names[0], load, untested[0].Contender.Name, untested[0].Against.changeBeside())
	}
	return names[0] + " at " + load
}

// list names contenders with their figures, and how each compares with the best unless no difference was shown: "kafka 13.1 ms
// (n=5, 4.5 times higher) and redis 20.0 ms (n=5, 7.0 times higher)".
func (r Ranking) list(standings []Standing) string {
	var texts []string
	for _, s := range standings {
		if s.Against.Answer() == NoDifferenceShown {
			texts = append(texts, r.nameAndFigure(s.Contender))
		} else {
			texts = append(texts, r.nameAndFigure(s.Contender, s.Against.changeBeside()))
		}
	}
	return enumerate(Shorten(texts))
}

// nameAndFigure is a contender with its figure: "kafka 13.1 ms [12.4–13.4 ms] (n=5)".
func (r Ranking) nameAndFigure(c Contender, notes ...string) string {
	return c.Name + " " + r.figure(c, notes...)
}

// figure is the median of a contender with the interval that tables show, and in parentheses its bracket, the number of repetitions and notes.
func (r Ranking) figure(c Contender, notes ...string) string {
	s, u := Summarize(c.Values), r.Metric.Unit
	s.ClockBound = c.ClockBound
	low, high := s.Bounds()
	text := u.Format(s.Median)
	var inParentheses []string
	switch {
	case c.Bracket != nil:
		inParentheses = append(inParentheses, "bracket "+u.Range(c.Bracket.Low, c.Bracket.High))
	case low != high:
		text += " [" + u.Range(low, high) + "]"
	}
	inParentheses = append(inParentheses, fmt.Sprintf("n=%d", s.N))
	return text + " (" + strings.Join(append(inParentheses, notes...), ", ") + ")"
}

// capital begins a sentence. A word with a digit, such as e2e, stays as it is.
func capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, digits) || text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// maxListed is how many items a sentence lists. A sweep has hundreds, which the tables show.
const maxListed = 6

// Shorten keeps the first items and the last if there are too many for a sentence, and counts those
// between: "a, b, c, d, 7 more, z". It is for items in an order, of which the ends matter.
func Shorten(items []string) []string {
	if len(items) <= maxListed {
		return items
	}
	first, last := items[:maxListed-2], items[len(items)-1]
	return append(slices.Clone(first), fmt.Sprintf("%d more", len(items)-len(first)-1), last)
}

// FirstFew names at most n items and counts the others: "a, b, c and 4 more". It is for items in no particular order.
func FirstFew(items []string, n int) string {
	if len(items) > n {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:n], ", "), len(items)-n)
	}
	return strings.Join(items, ", ")
}

// FirstSentences joins at most n of the texts, of which there is at least one: "kafka missed it. nats missed it." further counts the
// others: "The same holds for 3 more." It is empty if there are no others.
func FirstSentences(texts []string, n int) (first, further string) {
	if len(texts) > n {
		further = fmt.Sprintf("The same holds for %d more.", len(texts)-n)
	}
	return strings.Join(texts[:min(n, len(texts))], ". ") + ".", further
}

// enumerate joins items as a sentence does: "a, b and c".
func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}
