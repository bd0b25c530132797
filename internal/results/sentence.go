package results

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/unit"
)

// String is the ranking in words: what it says, and what that rests on.
//
//	Lowest e2e p99: nats 1.15 ms [1.00–1.30 ms] (n=5), before kafka 5.15 ms [5.00–5.30 ms] (n=5, 4.5 times higher).
//	p = 0.024, Mann–Whitney U, Holm over 3 pairs.
func (r Ranking) String() string { return strings.TrimSpace(r.Claim() + " " + r.Basis()) }

// Claim says in a sentence or two who is best, with the figures of everyone. It is empty if no contender has a value.
func (r Ranking) Claim() string {
	if r.Best == nil {
		return ""
	}
	claim := r.mainClaim()
	variable, verb := r.TooVariable(), "scatter"
	if len(variable) == 0 {
		return claim
	}
	if len(variable) == 1 {
		verb = "scatters"
	}
	return fmt.Sprintf("%s %s %s too much to be told from the best.", claim, r.list(variable), verb)
}

// mainClaim is the claim about everyone but those that are too variable. It needs a best.
func (r Ranking) mainClaim() string {
	tied, behind, untested := r.TiedWithBest(), r.BehindBest(Different), r.BehindBest(NotTested)
	u := r.Metric.Unit
	switch {
	case len(r.Rest) == 0:
		return fmt.Sprintf("Only %s was measured: %s %s.", r.Best.Name, r.Metric.Name, r.Best.figure(u))
	case len(untested) == len(r.Rest):
		return fmt.Sprintf("%s, not tested: %s, then %s.", capital(r.Metric.Name), r.Best.text(u), r.list(untested))
	case len(tied) == 1:
		return fmt.Sprintf("%s %s: %s, before %s.", superlative(r.Metric), r.Metric.Name, r.Best.text(u), r.list(behind))
	}
	var texts []string
	for _, c := range tied {
		texts = append(texts, c.text(u))
	}
	claim := fmt.Sprintf("No difference shown in %s between %s", r.Metric.Name, enumerate(Shorten(texts)))
	if len(behind) > 0 {
		claim += "; behind them " + r.list(behind)
	}
	return claim + "."
}

// Basis names the tests that the claim rests on, and who was measured but not tested. It is empty for a single contender.
func (r Ranking) Basis() string {
	untested := r.BehindBest(NotTested)
	switch {
	case len(r.Rest) == 0:
		return ""
	case len(untested) == len(r.Rest):
		return r.whyUntested(untested)
	case len(untested) == 0:
		return r.evidence()
	}
	return fmt.Sprintf("%s Not tested: %s. %s", r.evidence(), r.list(untested), r.whyUntested(untested))
}

// evidence states the method and the p values of the tests against the best: the largest of those that show a difference, the
// smallest of those that don't. "p ≤ 0.048 where shown, p = 0.310 where not, Mann–Whitney U, Holm over 6 pairs."
func (r Ranking) evidence() string {
	shown, notShown := r.BehindBest(Different), r.BehindBest(NoDifferenceShown)
	largest, smallest := 0.0, 1.0
	for _, s := range shown {
		largest = max(largest, s.Against.Adjusted)
	}
	for _, s := range notShown {
		smallest = min(smallest, s.Against.Adjusted)
	}
	var parts []string
	if len(shown) > 0 {
		parts = append(parts, significance(signOf(shown, "≤"), largest))
	}
	if len(notShown) > 0 {
		parts = append(parts, significance(signOf(notShown, "≥"), smallest))
	}
	if len(parts) == 2 {
		parts[0], parts[1] = parts[0]+" where shown", parts[1]+" where not"
	}
	tested := append(shown, notShown...)
	return fmt.Sprintf("%s, Mann–Whitney U%s.", strings.Join(parts, ", "), tested[0].Against.over("pairs"))
}

// signOf is the sign before the extreme p value of tests: bound, or "=" if there is one test only.
func signOf(tests []Standing, bound string) string {
	if len(tests) == 1 {
		return "="
	}
	return bound
}

// whyUntested says why standings were not tested: "One run each: 3 pairs at once need at least 5 each."
func (r Ranking) whyUntested(untested []Standing) string {
	d := untested[0].Against
	for _, s := range untested {
		if s.Against.B.N != d.A.N {
			return "Too few runs: " + d.need("pair") + "."
		}
	}
	return capital(runs(d.A.N, d.B.N)) + ": " + d.need("pair") + "."
}

// Short says only who is best at a load: "nats 1.31 ms at 1k/s", or between whom no difference was shown.
func (r Ranking) Short(load string) string {
	var names []string
	for _, c := range r.TiedWithBest() {
		names = append(names, c.Name+" "+r.Metric.Unit.Format(c.median()))
	}
	untested := r.BehindBest(NotTested)
	switch {
	case len(names) == 0:
		return "nobody"
	case len(names) > 1:
		return "no difference shown between " + enumerate(Shorten(names)) + " at " + load
	case len(untested) > 0:
		return fmt.Sprintf("%s at %s (not tested: %s is %s)", names[0], load, untested[0].Name, untested[0].Against.Change())
	}
	return names[0] + " at " + load
}

// list names standings with their figures. How a standing compares with the best is added unless no difference was shown.
func (r Ranking) list(standings []Standing) string {
	var texts []string
	for _, s := range standings {
		if s.Against.Answer() == NoDifferenceShown {
			texts = append(texts, s.text(r.Metric.Unit))
		} else {
			texts = append(texts, s.text(r.Metric.Unit, s.Against.Change()))
		}
	}
	return enumerate(Shorten(texts))
}

// text is the contender with its figure: "kafka 13.1 ms [12.4–13.4 ms] (n=5)". further words stand inside the parentheses.
func (c Contender) text(u unit.Unit, further ...string) string {
	return c.Name + " " + c.figure(u, further...)
}

// figure is the median with its interval or bracket, and the number of repetitions.
func (c Contender) figure(u unit.Unit, further ...string) string {
	s := Summarize(c.Values)
	text := u.Format(s.Median)
	var words []string
	switch {
	case c.Bracket != nil:
		words = append(words, "bracket "+u.Range(c.Bracket.Low, c.Bracket.High))
	case s.Low != s.High:
		text += " [" + u.Range(s.Low, s.High) + "]"
	}
	words = append(words, fmt.Sprintf("n=%d", s.N))
	return text + " (" + strings.Join(append(words, further...), ", ") + ")"
}

func superlative(m Metric) string {
	if m.Better == Higher {
		return "Highest"
	}
	return "Lowest"
}

// capital begins a sentence. A word with a digit, such as e2e, stays as it is.
func capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, "0123456789") || text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
