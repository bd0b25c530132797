package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// GoalName names a goal of a search by its bound: "p99 ≤ 10ms", "max ≤ 1s", "no latency bound".
func GoalName(g store.GoalResult) string {
	bound := time.Duration(g.LatencyNs)
	switch {
	case bound == 0:
		return "no latency bound"
	case g.Quantile >= 1:
		return fmt.Sprintf("max ≤ %s", bound)
	}
	return fmt.Sprintf("p%s ≤ %s", strconv.FormatFloat(100*g.Quantile, 'g', 10, 64), bound)
}

// Goal is one goal of the searches of a point, over its repetitions: the highest rate at which a quantile of latency stays
// under a bound. If three searches for "p99 ≤ 10ms" ended with 40k–42k, 41k–43k and 40k–41k messages per second, N is 3 and
// Sustained 40k..43k.
type Goal struct {
	Name        string          // "p99 ≤ 10ms"
	LatencyNs   int64           // the bound at Quantile; 0 if there is none
	Quantile    float64         // 0.99
	N           int             // searches that had this goal, also those that left it open
	Sustained   Bracket         // the range of rates at which they ended; its own N counts those that found a bound
	Conditional Summary         // conditional throughput, messages per second, of the repetitions in which a rate passed
	Undecided   []remark.Remark // why repetitions left the goal open, one for each that did
}

// Goals gathers the answers of searches to each of their goals.
func Goals(records []store.Record) []Goal {
	answers := lists.Flat(records, answersOf)
	return lists.Map(GroupBy(answers, GoalName), func(g Group[store.GoalResult]) Goal { return goalOf(g.Members) })
}

// answersOf are the answers of a repetition's search to its goals.
func answersOf(r store.Record) []store.GoalResult {
	if r.Result == nil || r.Result.Sustainable == nil {
		return nil
	}
	return r.Result.Sustainable.Goals
}

// goalOf sums up the answers to one goal.
func goalOf(answers []store.GoalResult) Goal {
	first := answers[0]
	g := Goal{Name: GoalName(first), LatencyNs: first.LatencyNs, Quantile: first.Quantile, N: len(answers)}
	var bounds []searchBounds
	var conditional []float64
	for _, a := range answers {
		if b := storedBounds(a.Low, a.High, a.HeldNs); b != nil {
			bounds = append(bounds, *b)
		}
		if a.Low > 0 {
			conditional = append(conditional, a.Conditional)
		}
		if a.Undecided != "" {
			g.Undecided = append(g.Undecided, remark.Stored(a.Undecided, a.Figures))
		}
	}
	g.Sustained, g.Conditional = enclosing(bounds), Summarize(conditional)
	return g
}

// Answer says whether the goal was decided: "decided", "undecided", or "undecided in 1 of 3".
func (g Goal) Answer() string {
	switch len(g.Undecided) {
	case 0:
		return "decided"
	case g.N:
		return "undecided"
	}
	return fmt.Sprintf("undecided in %d of %d", len(g.Undecided), g.N)
}

// FlatGoal is the answer to one goal of a search: always all keys.
type FlatGoal struct {
	Goal        string   `json:"goal"`               // "p99 ≤ 10ms"
	LatencyNs   *int64   `json:"latency_ns"`         // bound at the quantile; null: none
	Quantile    *float64 `json:"quantile"`           // of the bound
	Low         float64  `json:"sustainable_low"`    // 0: no rate passed
	High        *float64 `json:"sustainable_high"`   // null: no rate failed
	Held        float64  `json:"sustainable_held_s"` // length of the longest trial that passed at sustainable_low
	Conditional *float64 `json:"conditional_throughput"`
	Undecided   string   `json:"undecided"` // why, "" where the goal was decided
}

// FlatGoals are the answers of a record's search. They are empty, and never nil, if there was none.
func FlatGoals(r store.Record) []FlatGoal {
	flat := []FlatGoal{}
	for _, g := range answersOf(r) {
		f := FlatGoal{Goal: GoalName(g), Low: g.Low, Held: float64(g.HeldNs) / 1e9, Undecided: g.Undecided}
		if g.LatencyNs > 0 {
			f.LatencyNs, f.Quantile = &g.LatencyNs, &g.Quantile
		}
		if g.High > 0 {
			f.High = &g.High
		}
		if g.Low > 0 {
			f.Conditional = &g.Conditional
		}
		flat = append(flat, f)
	}
	return flat
}

// String is the answer in words: "p99 ≤ 10ms: 40–42k/s, conditional throughput 39.9k/s".
func (f FlatGoal) String() string {
	high := 0.0
	if f.High != nil {
		high = *f.High
	}
	text := f.Goal + ": " + BoundsText(f.Low, high, int64(f.Held*1e9))
	if f.Conditional != nil {
		text += ", conditional throughput " + unit.PerSecond.Format(*f.Conditional)
	}
	if f.Undecided != "" {
		text += "; undecided: " + f.Undecided
	}
	return text
}

// BoundsText describes the bounds of a search: the highest rate that passed, in a trial of heldNs, and the lowest that failed; 0
// if none did.
func BoundsText(passed, failed float64, heldNs int64) string {
	held := ", held " + time.Duration(heldNs).String()
	switch {
	case passed == 0 && failed == 0:
		return "no rate was found"
	case passed == 0:
		return "no rate passed, the lowest that failed was " + unit.PerSecond.Format(failed)
	case failed == 0:
		return "at least " + unit.PerSecond.Format(passed) + held + ", no rate failed"
	}
	return unit.PerSecond.Range(passed, failed) + held
}

// Bracket is the sustainable rate over repetitions. Each repetition searched for it and ended with two bounds: the highest
// rate that passed, and the lowest that failed. Three searches that ended with 40k–42k, 41k–43k and 40k–41k messages per
// second have the median 40k, of the rates that passed, and the bracket 40k..43k, which encloses all bounds.
//
// A bracket is not an interval of the median, as that of a Summary is: it also reflects how close to each other the searches
// brought their bounds.
type Bracket struct {
	N      int     // searches that found a bound; without any, the rates are NaN
	Median float64 // of the rates that passed, messages per second
	Low    float64 // the least of the rates that passed; 0 if some search saw none pass
	High   float64 // the greatest of all bounds, as a rule a rate that failed; +Inf if some search saw none fail
	Held   float64 // seconds for which each search has held its rate in one trial: the least; 0 if some search held none
}

// searchBounds are the bounds that one search ended with, messages per second.
type searchBounds struct {
	passed float64 // the highest rate that passed; 0 if none did
	held   float64 // seconds for which it was held in one trial
	failed float64 // the lowest rate that failed; +Inf if none did
}

// storedBounds reads the bounds of a search as records hold them: low is 0 if no rate passed, high is 0 if none failed. If both
// are 0 every trial was void, and it returns nil.
func storedBounds(low, high float64, heldNs int64) *searchBounds {
	if low == 0 && high == 0 {
		return nil
	}
	if high == 0 {
		high = math.Inf(1)
	}
	return &searchBounds{passed: low, failed: high, held: float64(heldNs) / 1e9}
}

// searchOf reads the bounds of a record's search. It returns nil if nothing was found, or nothing was searched.
func searchOf(r store.Record) *searchBounds {
	if r.Result == nil || r.Result.Sustainable == nil {
		return nil
	}
	s := r.Result.Sustainable
	b := storedBounds(s.Low, s.High, s.HeldNs)
	if b != nil && s.Open() {
		b.failed = math.Inf(1) // the failure there was not the broker's
	}
	return b
}

// Searched reports whether any of the records holds a search for the sustainable rate.
func Searched(records []store.Record) bool {
	return slices.ContainsFunc(records, func(r store.Record) bool { return r.Result != nil && r.Result.Sustainable != nil })
}

// Sustained gathers the results of the records' searches.
func Sustained(records []store.Record) Bracket {
	var searches []searchBounds
	for _, r := range records {
		if b := searchOf(r); b != nil {
			searches = append(searches, *b)
		}
	}
	return enclosing(searches)
}

func enclosing(searches []searchBounds) Bracket {
	if len(searches) == 0 {
		return Bracket{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	var passed []float64
	high, held := 0.0, searches[0].held
	for _, s := range searches {
		held = min(held, s.held)
		passed = append(passed, s.passed)
		high = max(high, s.passed, s.failed) // a rate may pass in a search in which a lower one failed
	}
	return Bracket{N: len(searches), Median: Summarize(passed).Median, Low: slices.Min(passed), High: high, Held: held}
}

// Summary is the bracket in the form of other figures, for code that shows both.
func (b Bracket) Summary() Summary {
	return Summary{N: b.N, Median: b.Median, Low: b.Low, High: b.High}
}

// HeldCell shows for how long the rates were held. It is blank if none was.
func (b Bracket) HeldCell() document.Cell {
	if b.Held == 0 {
		return document.Cell{}
	}
	return document.Number(b.Held)
}

// Cell shows the median and the bracket, even of a single search. It is blank if there was none.
func (b Bracket) Cell() document.Cell {
	if b.N == 0 {
		return document.Cell{}
	}
	return document.Cell{Kind: document.Interval, Number: b.Median, Low: b.Low, High: b.High, AtLeast: math.IsInf(b.High, 1)}
}
