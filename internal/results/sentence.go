package results

import (
	"fmt"
	"strings"
)

// String is the ranking in words.
func (r Ranking) String() string { return strings.TrimSpace(r.Claim() + " " + r.Basis()) }

// Claim says in a sentence with every figure who is best, "" when nobody was measured.
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
	level, behind, untested := r.Level(), r.Of(Different), r.Of(NotTested)
	switch {
	case len(level) == 0:
		return ""
	case len(r.Order) == 1:
		return fmt.Sprintf("Only %s was measured: %s %s.", level[0].Name, r.Metric.Name, strings.TrimPrefix(level[0].text(r.Metric.Unit), level[0].Name+" "))
	case len(untested) == len(r.Order)-1:
		best := level[0].text(r.Metric.Unit)
		return fmt.Sprintf("%s, not tested: %s, then %s.", capital(r.Metric.Name), best, r.list(untested))
	case len(level) == 1:
		return fmt.Sprintf("%s %s: %s, before %s.", superlative(r.Metric), r.Metric.Name, r.list(level), r.list(behind))
	case len(behind) == 0:
		return fmt.Sprintf("No difference shown in %s between %s.", r.Metric.Name, r.list(level))
	}
	return fmt.Sprintf("No difference shown in %s between %s; behind them %s.", r.Metric.Name, r.list(level), r.list(behind))
}

// Basis says what the claim rests on, and who else was measured but not tested.
func (r Ranking) Basis() string {
	untested := r.Of(NotTested)
	switch {
	case len(r.Order) < 2:
		return ""
	case len(untested) == len(r.Order)-1:
		return r.need(untested)
	case len(untested) == 0:
		return r.evidence()
	}
	return fmt.Sprintf("%s Not tested: %s. %s", r.evidence(), r.list(untested), r.need(untested))
}

// list names standings with their figures, all but the best with how they compare with it.
func (r Ranking) list(standings []Standing) string {
	var texts []string
	for _, s := range standings {
		var more []string
		if s.Against.A.N > 0 && s.Against.Answer() != NoDifferenceShown {
			more = []string{s.Against.Change()}
		}
		texts = append(texts, s.text(r.Metric.Unit, more...))
	}
	return enumerate(Abridged(texts))
}

// evidence is what the tests against the best rest on: "p ≤ 0.048 where shown, p = 0.310 where not, Mann–Whitney U, Holm
// over 6 pairs."
func (r Ranking) evidence() string {
	var parts []string
	behind, level := r.Of(Different), r.Of(NoDifferenceShown)
	largest, smallest := 0.0, 1.0
	for _, s := range behind {
		largest = max(largest, s.Against.Adjusted)
	}
	for _, s := range level {
		smallest = min(smallest, s.Against.Adjusted)
	}
	if n := len(behind); n > 0 {
		parts = append(parts, significance(map[bool]string{true: "=", false: "≤"}[n == 1], largest))
	}
	if n := len(level); n > 0 {
		parts = append(parts, significance(map[bool]string{true: "=", false: "≥"}[n == 1], smallest))
	}
	if len(parts) == 2 {
		parts[0], parts[1] = parts[0]+" where shown", parts[1]+" where not"
	}
	tested := append(behind, level...)
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
	figure := func(s Standing) string { return s.Name + " " + r.Metric.Unit.Format(s.median) }
	level, untested := r.Level(), r.Of(NotTested)
	var names []string
	for _, s := range level {
		names = append(names, figure(s))
	}
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
