package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
)

// Bracket is the sustainable rate over repetitions: the median of the highest passing rates, within the lowest
// passing and the highest failing rate of any search.
type Bracket struct {
	Summary
	Values []float64 // the highest passing rate of each repetition
}

// Sustained gathers the searches of records.
func Sustained(records []store.Record) Bracket {
	b := Bracket{Values: metric("sustainable_low").Values(records)}
	b.Summary = Summarize(b.Values)
	for _, r := range records {
		if r.Result == nil || r.Result.Sustainable == nil {
			continue
		}
		high := r.Result.Sustainable.High
		if high == 0 {
			high = math.Inf(1) // nothing failed
		}
		b.Low, b.High = min(b.Low, r.Result.Sustainable.Low), max(b.High, high)
	}
	return b
}

// Cell shows the bracket, even of a single search.
func (b Bracket) Cell() Cell {
	if b.N == 0 {
		return Cell{}
	}
	return Cell{Kind: Interval, Number: b.Median, Low: b.Low, High: b.High}
}

// Contender is one side of a comparison.
type Contender struct {
	Name      string
	Values    []float64 // one per repetition
	Low, High float64   // what the values stand for: their spread, or the bracket of a search
}

// Contend makes a contender for m from records that conclusions may be drawn from.
func Contend(name string, m Metric, records []store.Record) Contender {
	if m.Key == "sustainable_low" {
		b := Sustained(records)
		return Contender{name, b.Values, b.Low, b.High}
	}
	values := m.Values(records)
	s := Summarize(values)
	return Contender{name, values, s.Low, s.High}
}

func (c Contender) text(u Unit) string { return c.Name + " " + c.figure(u) }

func (c Contender) figure(u Unit) string {
	s := Summarize(c.Values)
	text := u.Format(s.Median)
	if c.Low != c.High {
		text += fmt.Sprintf(" [%s]", u.Range(c.Low, c.High))
	}
	return text + fmt.Sprintf(" (n=%d)", s.N)
}

// Ranking is who is best at a metric, as far as the repetitions tell.
type Ranking struct {
	Metric   Metric
	Level    []Contender // the best, and those no difference from it was shown for
	Behind   []Contender // the others, best first
	Evidence string      // what the clearest claim rests on
}

// Rank orders contenders, leaving out those without a value.
func Rank(m Metric, contenders []Contender) Ranking {
	contenders = slices.DeleteFunc(slices.Clone(contenders), func(c Contender) bool { return len(c.Values) == 0 })
	r := Ranking{Metric: m}
	if len(contenders) == 0 {
		return r
	}
	slices.SortStableFunc(contenders, func(a, b Contender) int {
		order := cmp.Compare(Summarize(a.Values).Median, Summarize(b.Values).Median)
		if m.Better == Higher {
			return -order
		}
		return order
	})
	best := contenders[0]
	r.Level = contenders[:1:1]
	for i, c := range contenders[1:] {
		d := Contrast(best.Values, c.Values)
		if d.Shown() || d.Needed > 0 && apart(best, c) {
			r.Behind = append(r.Behind, c)
		} else {
			r.Level = append(r.Level, c)
		}
		if i > 0 {
			continue
		}
		r.Evidence = fmt.Sprintf("Against %s: %s.", c.Name, d.Why())
		if d.Needed > 0 {
			r.Evidence = fmt.Sprintf("Too few repetitions for a test: at least %d each are needed.", d.Needed)
		}
	}
	return r
}

// String is the ranking in a sentence with every figure, "" when nobody was measured.
func (r Ranking) String() string {
	texts := func(contenders []Contender) string {
		var texts []string
		for _, c := range contenders {
			texts = append(texts, c.text(r.Metric.Unit))
		}
		return enumerate(Abridged(texts))
	}
	switch {
	case len(r.Level) == 0:
		return ""
	case len(r.Level)+len(r.Behind) == 1:
		only := r.Level[0]
		return fmt.Sprintf("Only %s was measured: %s %s.", only.Name, r.Metric.Name, only.figure(r.Metric.Unit))
	case len(r.Level) == 1:
		return fmt.Sprintf("%s %s: %s, before %s. %s", superlative(r.Metric), r.Metric.Name, texts(r.Level), texts(r.Behind), r.Evidence)
	case len(r.Behind) == 0:
		return fmt.Sprintf("No difference shown in %s between %s. %s", r.Metric.Name, texts(r.Level), r.Evidence)
	}
	return fmt.Sprintf("No difference shown in %s between %s; behind them %s. %s", r.Metric.Name, texts(r.Level), texts(r.Behind), r.Evidence)
}

// Short says only who is best: "nats 1.31 ms", or between whom no difference was shown.
func (r Ranking) Short() string {
	var names []string
	once := true
	for _, c := range r.Level {
		names = append(names, c.Name+" "+r.Metric.Unit.Format(Summarize(c.Values).Median))
		once = once && len(c.Values) == 1
	}
	switch {
	case len(names) == 0:
		return "nobody"
	case len(names) == 1:
		return names[0]
	case once:
		return "no difference shown (n=1) between " + enumerate(Abridged(names))
	}
	return "no difference shown between " + enumerate(Abridged(names))
}

// apart tells that no value either stands for could belong to the other. A single value without a bracket stands for
// nothing but itself.
func apart(a, b Contender) bool {
	known := func(c Contender) bool { return len(c.Values) > 1 || c.Low != c.High }
	return known(a) && known(b) && (a.High < b.Low || b.High < a.Low)
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
