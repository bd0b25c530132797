package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// Bracket is the sustainable rate over repetitions: a summary of the highest rates that passed. Its bounds are the lowest of
// these rates and the highest rate that failed in any search; they are no spread over repetitions.
type Bracket struct {
	Summary
	Values []float64 // the highest rate that passed in each repetition
}

// searchBounds are the bounds that one search found.
type searchBounds struct {
	passing float64 // the highest rate that passed
	failing float64 // the lowest that failed; 0 if none did
}

// Sustained gathers the searches of records.
func Sustained(records []store.Record) Bracket {
	var bounds []searchBounds
	for _, r := range records {
		if r.Result != nil && r.Result.Sustainable != nil && !math.IsNaN(sustainableLow(r.Result)) {
			bounds = append(bounds, searchBounds{passing: r.Result.Sustainable.Low, failing: r.Result.Sustainable.High})
		}
	}
	return bracket(bounds)
}

func bracket(bounds []searchBounds) Bracket {
	var b Bracket
	for _, found := range bounds {
		b.Values = append(b.Values, found.passing)
	}
	b.Summary = Summarize(b.Values)
	b.Confident = false
	for _, found := range bounds {
		failing := found.failing
		if failing == 0 {
			failing = math.Inf(1)
		}
		b.Low, b.High = min(b.Low, found.passing), max(b.High, failing)
	}
	return b
}

// Cell shows the bracket, even of a single search.
func (b Bracket) Cell() document.Cell {
	if b.N == 0 {
		return document.Cell{}
	}
	return document.Cell{Kind: document.Interval, Number: b.Median, Low: b.Low, High: b.High}
}

// Contender is one side of a comparison.
type Contender struct {
	Name   string
	Values []float64 // one per repetition
	// Bracket reaches from the lowest rate that passed to the highest that failed, in the searches of any repetition. It is no spread over repetitions, and nothing is concluded from it.
	Bracket *[2]float64
}

// Contend makes a contender for m from records that conclusions may be drawn from.
func Contend(name string, m Metric, records []store.Record) Contender {
	if m.Key == "sustainable_low" {
		if b := Sustained(records); b.N > 0 {
			return Contender{name, b.Values, &[2]float64{b.Low, b.High}}
		}
	}
	return Contender{Name: name, Values: m.Values(records)}
}

// text is the contender with its figure: "kafka 13.1 ms [12.4–13.4 ms] (n=5)". More is added inside the parentheses.
func (c Contender) text(u unit.Unit, more ...string) string {
	return c.Name + " " + c.figure(u, more...)
}

// figure is the same without the name.
func (c Contender) figure(u unit.Unit, more ...string) string {
	s := Summarize(c.Values)
	text := u.Format(s.Median)
	in := []string{fmt.Sprintf("n=%d", s.N)}
	switch {
	case c.Bracket != nil:
		in = append([]string{"bracket " + u.Range(c.Bracket[0], c.Bracket[1])}, in...)
	case s.Low != s.High:
		text += " [" + u.Range(s.Low, s.High) + "]"
	}
	return text + " (" + strings.Join(append(in, more...), ", ") + ")"
}

// Standing is a contender behind the best of its ranking, and how it differs from the best.
type Standing struct {
	Contender
	Against Difference // A is the best, B this contender
}

// Ranking orders contenders by a metric and tests each against the best.
type Ranking struct {
	Metric Metric
	Best   *Contender // by its median; nil if nobody has a value
	Rest   []Standing // the others, best first
}

// Rank orders contenders, leaving out those without a value, and tests each against the best. Which one is best is only
// known from the same values, so every pair of contenders counts as tested.
func Rank(m Metric, contenders []Contender) Ranking {
	order := byMedian(m, contenders)
	if len(order) == 0 {
		return Ranking{Metric: m}
	}
	r := Ranking{Metric: m, Best: &order[0]}
	for _, c := range order[1:] {
		r.Rest = append(r.Rest, Standing{Contender: c, Against: contrast(r.Best.Values, c.Values)})
	}
	var all []*Difference
	for i := range r.Rest {
		all = append(all, &r.Rest[i].Against)
	}
	k := len(order)
	correct(all, testablePairs(order), k*(k-1)/2)
	return r
}

// byMedian are the contenders that have a value, the best median first.
func byMedian(m Metric, contenders []Contender) []Contender {
	order := slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return len(c.Values) == 0 })
	slices.SortStableFunc(order, func(a, b Contender) int {
		if m.Better == Higher {
			a, b = b, a
		}
		return cmp.Compare(Summarize(a.Values).Median, Summarize(b.Values).Median)
	})
	return order
}

// testablePairs counts the pairs of contenders with enough repetitions for a test to show anything.
func testablePairs(contenders []Contender) int {
	n := 0
	for i, a := range contenders {
		for _, b := range contenders[i+1:] {
			if smallestP(len(a.Values), len(b.Values)) < alpha {
				n++
			}
		}
	}
	return n
}

// BehindBest lists the contenders whose comparison with the best has this answer, best first.
func (r Ranking) BehindBest(answer Answer) []Standing {
	return slices.DeleteFunc(slices.Clone(r.Rest), func(s Standing) bool { return s.Against.Answer() != answer })
}

// TiedWithBest are the best and the contenders that no difference from it was shown for, up to the first that is shown to be
// behind.
func (r Ranking) TiedWithBest() []Contender {
	if r.Best == nil {
		return nil
	}
	tied := []Contender{*r.Best}
	for _, s := range r.Rest[:r.firstBehind()] {
		if s.Against.Answer() == NoDifferenceShown {
			tied = append(tied, s.Contender)
		}
	}
	return tied
}

// Scattered are the contenders that no difference from the best was shown for although one with a better median is shown to
// be behind: their repetitions vary too much.
func (r Ranking) Scattered() []Standing {
	behind := Ranking{Rest: r.Rest[r.firstBehind():]}
	return behind.BehindBest(NoDifferenceShown)
}

// firstBehind is the index among the rest of the first that is shown to be behind. It is their number if none is.
func (r Ranking) firstBehind() int {
	i := slices.IndexFunc(r.Rest, func(s Standing) bool { return s.Against.Answer() == Different })
	if i < 0 {
		return len(r.Rest)
	}
	return i
}

func superlative(m Metric) string {
	if m.Better == Higher {
		return "Highest"
	}
	return "Lowest"
}

// maxNamed is how many contenders a sentence names; a sweep has hundreds, which the tables show.
const maxNamed = 6

// Abridged keeps the first and the last of many.
func Abridged(items []string) []string {
	if len(items) <= maxNamed {
		return items
	}
	left := len(items) - maxNamed + 1
	out := append([]string(nil), items[:maxNamed-2]...)
	return append(out, fmt.Sprintf("%d more", left), items[len(items)-1])
}

func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}
