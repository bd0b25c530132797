package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/unit"
)

// Claim says in a sentence or two which contender is best, with the figures of all. It is empty if no contender has a value.
//
//	Lowest e2e p99: nats 1.15 ms [1.00–1.30 ms] (n=5), before kafka 5.15 ms [5.00–5.30 ms] (n=5, 4.5 times higher).
func (r Ranking) Claim() string {
	if r.Best == nil {
		return ""
	}
	claim := r.whoIsBest(*r.Best)
	if variable := r.withoutPlace(false); len(variable) > 0 {
		scatter := "scatter"
		if len(variable) == 1 {
			scatter = "scatters"
		}
		claim += fmt.Sprintf(" %s %s too much to be told from the best.", r.list(variable), scatter)
	}
	if open := r.withoutPlace(true); len(open) > 0 {
		claim += fmt.Sprintf(" The measurement can't tell %s from the best.", r.list(open))
	}
	return claim
}

// whoIsBest is the sentence about the best contender, those that share its place, and those behind it.
func (r Ranking) whoIsBest(best Contender) string {
	untested := r.untested()
	if len(r.Rest) == 0 {
		return fmt.Sprintf("%s, known only of %s: %s.", Capital(r.Metric.Name), best.Name, r.figure(best))
	}
	if len(untested) == len(r.Rest) {
		return fmt.Sprintf("%s, undecided: the runs point to %s, then %s.", Capital(r.Metric.Name), r.nameAndFigure(best), r.list(untested))
	}
	first := lists.Map(r.TiedWithBest(), func(c Contender) string { return r.nameAndFigure(c) }) // the best and those that share its place
	behind := r.Behind()
	if len(first) == 1 && len(behind) > 0 {
		superlative := "Lowest"
		if r.Metric.Better == Higher {
			superlative = "Highest"
		}
		return fmt.Sprintf("%s %s: %s, before %s.", superlative, r.Metric.Name, first[0], r.list(behind))
	}
	claim := fmt.Sprintf("%s %s", Capital(r.tie(r.Metric.Name+" ")), Enumerate(Shorten(first)))
	if len(behind) > 0 {
		claim += "; behind them " + r.list(behind)
	}
	return claim + "."
}

// tie describes the contenders that share the first place: they are less than a tenth apart, or not even that is shown.
func (r Ranking) tie(of string) string {
	if slices.ContainsFunc(r.shares(), func(s Standing) bool { return s.Against.Answer != DoesNotDiffer }) {
		return of + "undecided between"
	}
	return of + "less than a tenth apart:"
}

// Short names only the best contender at a load, "nats 1.31 ms at 1k/s", or those between which it is undecided.
func (r Ranking) Short(load string) string {
	names := lists.Map(r.TiedWithBest(), func(c Contender) string { return c.Name + " " + c.Summary.Format(r.Metric.Unit) })
	untested := r.untested()
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > 1:
		return r.tie("") + " " + Enumerate(Shorten(names)) + " at " + load
	case len(untested) > 0:
		return fmt.Sprintf("undecided at %s (%s, %s is %s)",
			load, names[0], untested[0].Contender.Name, untested[0].Against.Change())
	}
	return names[0] + " at " + load
}

// list names contenders with their figures and comparisons with the best: "kafka 13.1 ms (n=5, 4.5 times higher) and redis 20.0
// ms (n=5, 0.9–1.3× of the best)".
func (r Ranking) list(standings []Standing) string {
	var texts []string
	for _, s := range standings {
		note := s.Against.Change()
		if s.Against.Tested() && s.Against.Answer != Differs {
			note = s.Against.interval()
		}
		texts = append(texts, r.nameAndFigure(s.Contender, note))
	}
	return Enumerate(Shorten(texts))
}

// nameAndFigure is a contender with its figure: "kafka 13.1 ms [12.4–13.4 ms] (n=5)".
func (r Ranking) nameAndFigure(c Contender, notes ...string) string {
	return c.Name + " " + r.figure(c, notes...)
}

// figure is the median of a contender with the interval that tables show, and in parentheses the number of repetitions and notes. A
// sustainable rate from searches has its bracket in the parentheses instead of the interval, or a note that it has no upper end.
func (r Ranking) figure(c Contender, notes ...string) string {
	s, u := c.Summary, r.Metric.Unit
	text := s.Format(u)
	var inParentheses []string
	if c.Bracket != nil {
		text = strings.Replace(text, "≥", "at least", 1)
		inParentheses = []string{c.Bracket.words(), "held " + unit.Seconds.Format(c.Bracket.Held)}
	} else if low, high := s.Bounds(); low != high && !s.AtLeast() {
		text += " [" + u.Range(low, high) + "]"
	}
	inParentheses = append(inParentheses, fmt.Sprintf("n=%d", s.N))
	return text + " (" + lists.Join(", ", append(inParentheses, notes...)...) + ")"
}

// words describes the bounds of the sustainable rate: "bracket 812–887k/s". If the broker failed at no rate of a search, there is
// no upper end.
func (b Bracket) words() string {
	switch {
	case !math.IsInf(b.High, 1):
		return "bracket " + unit.PerSecond.Range(b.Low, b.High)
	case b.N == 1:
		return "the broker failed at no rate that was tried"
	case b.Low == b.Median:
		return "in some searches the broker failed at no rate"
	}
	return fmt.Sprintf("each search passed %s, in some the broker failed at no rate", unit.PerSecond.Format(b.Low))
}

// maxListed is the number of items that a sentence lists at most. A sweep has hundreds, which the tables show.
const maxListed = 6

// Shorten keeps the first items and the last if there are too many for a sentence, and counts those between: "a, b, c, d, 7 more,
// z". It is for ordered items whose ends matter.
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

// FirstSentences joins at most n of the texts, of which there is at least one: "kafka missed it. nats missed it." further
// counts the others: "The same holds for 3 more." It is empty if there are no others.
func FirstSentences(texts []string, n int) (first, further string) {
	if len(texts) > n {
		further = fmt.Sprintf("The same holds for %d more.", len(texts)-n)
	}
	return strings.Join(texts[:min(n, len(texts))], ". ") + ".", further
}

// Enumerate joins items for a sentence: "a, b and c".
func Enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// Capital capitalizes the first letter of a sentence. A word with a digit, such as e2e, stays unchanged.
func Capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, digits) || text == "" {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
