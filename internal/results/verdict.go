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

// Bracket is the sustainable rate over repetitions: the median of the highest passing rates, within the lowest
// passing and the highest failing rate of any search.
type Bracket struct {
	Summary
	Values []float64 // the highest passing rate of each repetition
}

// Sustained gathers the searches of records.
func Sustained(records []store.Record) Bracket {
	var bounds [][2]float64
	for _, r := range records {
		if r.Result != nil && r.Result.Sustainable != nil && !math.IsNaN(sustainableLow(r.Result)) {
			bounds = append(bounds, [2]float64{r.Result.Sustainable.Low, r.Result.Sustainable.High})
		}
	}
	return bracket(bounds)
}

// bracket gathers the lower and upper bounds of searches; an upper bound of 0 is none.
func bracket(bounds [][2]float64) Bracket {
	var b Bracket
	for _, found := range bounds {
		b.Values = append(b.Values, found[0])
	}
	b.Summary = Summarize(b.Values)
	b.Confident = false
	for _, found := range bounds {
		high := found[1]
		if high == 0 {
			high = math.Inf(1) // nothing failed
		}
		b.Low, b.High = min(b.Low, found[0]), max(b.High, high)
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
	// Bracket is where searches say that their values lie: between the lowest rate that passed and the highest that
	// failed, of any repetition. It is no spread over repetitions, and nothing is concluded from it.
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

// text is the contender with its figure: "kafka 13.1 ms [12.4–13.4 ms] (n=5)". What else there is to say of it stands
// in the parentheses.
func (c Contender) text(u unit.Unit, more ...string) string {
	s := Summarize(c.Values)
	text := c.Name + " " + u.Format(s.Median)
	in := []string{fmt.Sprintf("n=%d", s.N)}
	switch {
	case c.Bracket != nil:
		in = append([]string{"bracket " + u.Range(c.Bracket[0], c.Bracket[1])}, in...)
	case s.Low != s.High:
		text += " [" + u.Range(s.Low, s.High) + "]"
	}
	return text + " (" + strings.Join(append(in, more...), ", ") + ")"
}

// Standing is a contender and how it differs from the best of its ranking.
type Standing struct {
	Contender
	Against Difference // A is the best, B this contender; not set for the best itself
	median  float64
}

// Ranking is who is best at a metric, as far as the repetitions tell.
type Ranking struct {
	Metric Metric
	Order  []Standing // by median, the best first
}

// Rank orders contenders, leaving out those without a value, and tests each against the best. Which one is best is only
// known from the same values, so every pair of contenders counts as tested.
func Rank(m Metric, contenders []Contender) Ranking {
	r := Ranking{Metric: m}
	runs := map[int]int{} // contenders by their number of repetitions
	for _, c := range contenders {
		if len(c.Values) > 0 {
			r.Order = append(r.Order, Standing{Contender: c, median: Summarize(c.Values).Median})
			runs[len(c.Values)]++
		}
	}
	slices.SortStableFunc(r.Order, func(a, b Standing) int {
		if m.Better == Higher {
			a, b = b, a
		}
		return cmp.Compare(a.median, b.median)
	})
	var all []*Difference
	for i := range r.Order[min(1, len(r.Order)):] {
		r.Order[i+1].Against = contrast(r.Order[0].Values, r.Order[i+1].Values)
		all = append(all, &r.Order[i+1].Against)
	}
	k := len(r.Order)
	correct(all, pairs(runs), k*(k-1)/2)
	return r
}

// pairs counts the pairs of contenders whose repetitions are enough for a test.
func pairs(runs map[int]int) int {
	n := 0
	for a, as := range runs {
		for b, bs := range runs {
			switch {
			case smallestP(a, b) >= alpha || a > b:
			case a == b:
				n += as * (as - 1) / 2
			default:
				n += as * bs
			}
		}
	}
	return n
}

// Of lists the contenders behind the best that the comparison with it came to answer for, best first.
func (r Ranking) Of(answer Answer) []Standing {
	var out []Standing
	for i, s := range r.Order {
		if i > 0 && s.Against.Answer() == answer {
			out = append(out, s)
		}
	}
	return out
}

// Level are the best and those that no difference from it was shown for, as far as none before them is shown to be behind.
func (r Ranking) Level() []Standing {
	level, _ := r.undecided()
	return append(slices.Clone(r.Order[:min(1, len(r.Order))]), level...)
}

// Scattered are those that no difference from the best was shown for although one with a better median is shown to be
// behind: their repetitions scatter too much.
func (r Ranking) Scattered() []Standing {
	_, scattered := r.undecided()
	return scattered
}

func (r Ranking) undecided() (level, scattered []Standing) {
	behind := false
	for i, s := range r.Order {
		switch answer := s.Against.Answer(); {
		case i == 0:
		case answer == Different:
			behind = true
		case answer == NoDifferenceShown && behind:
			scattered = append(scattered, s)
		case answer == NoDifferenceShown:
			level = append(level, s)
		}
	}
	return level, scattered
}

func superlative(m Metric) string {
	if m.Better == Higher {
		return "Highest"
	}
	return "Lowest"
}

// longest is how many contenders a sentence names; a sweep has hundreds, which the tables show.
const longest = 6

// Abridged keeps the first and the last of many.
func Abridged(items []string) []string {
	if len(items) <= longest {
		return items
	}
	left := len(items) - longest + 1
	out := append([]string(nil), items[:longest-2]...)
	return append(out, fmt.Sprintf("%d more", left), items[len(items)-1])
}

func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}
