package results

import (
	"fmt"
	"strings"
)

// String is the ranking in words.
func (r Ranking) String() string { return strings.TrimSpace(r.Claim() + " " + r.Basis()) }

// Claim says in a sentence with every figure who is best. It is empty if nobody was measured.
func (r Ranking) Claim() string {
	claim := r.claim()
	switch scattered := r.Scattered(); len(scattered) {
	case 0:
		return claim
	case 1:
		return fmt.Sprintf("%s %s scatters too much to be told from the best.", claim, r.list(scattered))
	default:
		return fmt.Sprintf("%s %s scatter too much to be told from the best.", claim, r.list(scattered))
	}
}

func (r Ranking) claim() string {
	if r.Best == nil {
		return ""
	}
	tied, behind, untested := r.TiedWithBest(), r.BehindBest(Different), r.BehindBest(NotTested)
	best := r.Best.text(r.Metric.Unit)
	switch {
	case len(r.Rest) == 0:
		return fmt.Sprintf("Only %s was measured: %s %s.", r.Best.Name, r.Metric.Name, r.Best.figure(r.Metric.Unit))
	case len(untested) == len(r.Rest):
		return fmt.Sprintf("%s, not tested: %s, then %s.", capital(r.Metric.Name), best, r.list(untested))
	case len(tied) == 1:
		return fmt.Sprintf("%s %s: %s, before %s.", superlative(r.Metric), r.Metric.Name, best, r.list(behind))
	}
	var texts []string
	for _, c := range tied {
		texts = append(texts, c.text(r.Metric.Unit))
	}
	claim := fmt.Sprintf("No difference shown in %s between %s", r.Metric.Name, enumerate(Abridged(texts)))
	if len(behind) > 0 {
		claim += "; behind them " + r.list(behind)
	}
	return claim + "."
}

// Basis names the tests that the claim rests on, and who else was measured but not tested.
func (r Ranking) Basis() string {
	untested := r.BehindBest(NotTested)
	switch {
	case len(r.Rest) == 0:
		return ""
	case len(untested) == len(r.Rest):
		return r.need(untested)
	case len(untested) == 0:
		return r.evidence()
	}
	return fmt.Sprintf("%s Not tested: %s. %s", r.evidence(), r.list(untested), r.need(untested))
}

// list names standings with their figures, and how those that are shown to be behind, or weren't tested, compare with the best.
func (r Ranking) list(standings []Standing) string {
	var texts []string
	for _, s := range standings {
		var more []string
		if s.Against.Answer() != NoDifferenceShown {
			more = []string{s.Against.Change()}
		}
		texts = append(texts, s.text(r.Metric.Unit, more...))
	}
	return enumerate(Abridged(texts))
}

// evidence states the p values and the method of the tests against the best: "p ≤ 0.048 where shown, p = 0.310 where not, Mann–Whitney U, Holm
// over 6 pairs."
func (r Ranking) evidence() string {
	var parts []string
	behind, tied := r.BehindBest(Different), r.BehindBest(NoDifferenceShown)
	largest, smallest := 0.0, 1.0
	for _, s := range behind {
		largest = max(largest, s.Against.Adjusted)
	}
	for _, s := range tied {
		smallest = min(smallest, s.Against.Adjusted)
	}
	if n := len(behind); n > 0 {
		parts = append(parts, significance(map[bool]string{true: "=", false: "≤"}[n == 1], largest))
	}
	if n := len(tied); n > 0 {
		parts = append(parts, significance(map[bool]string{true: "=", false: "≥"}[n == 1], smallest))
	}
	if len(parts) == 2 {
		parts[0], parts[1] = parts[0]+" where shown", parts[1]+" where not"
	}
	tested := append(behind, tied...)
	return fmt.Sprintf("%s, Mann–Whitney U%s.", strings.Join(parts, ", "), tested[0].Against.over("pairs"))
}

// need says why standings were not tested: "One run each: 3 pairs at once need at least 5 each."
func (r Ranking) need(untested []Standing) string {
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
		names = append(names, c.Name+" "+r.Metric.Unit.Format(Summarize(c.Values).Median))
	}
	untested := r.BehindBest(NotTested)
	switch {
	case len(names) == 0:
		return "nobody"
	case len(names) > 1:
		return "no difference shown between " + enumerate(Abridged(names)) + " at " + load
	case len(untested) > 0:
		return fmt.Sprintf("%s at %s (not tested: %s is %s)", names[0], load, untested[0].Name, untested[0].Against.Change())
	}
	return names[0] + " at " + load
}

// capital begins a sentence; words such as e2e stay as they are.
func capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, "0123456789") || text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
