package results

import (
	"fmt"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// GoalName names a goal of a search by its bound: "p99 ≤ 10ms", "max ≤ 1s", "no latency bound".
func GoalName(g store.GoalResult) string {
	switch bound := time.Duration(g.LatencyNs); {
	case bound == 0:
		return "no latency bound"
	case g.Quantile >= 1:
		return fmt.Sprintf("max ≤ %s", bound)
	default:
		return fmt.Sprintf("p%s ≤ %s", strconv.FormatFloat(100*g.Quantile, 'g', 10, 64), bound)
	}
}

// Goal is one goal of the searches of a point, over its repetitions: the highest rate at which a quantile of latency stays
// under a bound. If three searches for "p99 ≤ 10ms" ended with 40k–42k, 41k–43k and 40k–41k messages per second, N is 3 and
// Sustained 40k..43k.
type Goal struct {
	Name        string          // "p99 ≤ 10ms"
	LatencyNs   int64           // the bound at Quantile; 0 if there is none
	Quantile    float64         // 0.99
	N           int             // searches that had this goal, also those that left it open
	Sustained   Bracket         // between which rates they ended; its own N counts those that found a bound
	Conditional Summary         // conditional throughput, messages per second, of the repetitions in which a rate passed
	Undecided   []remark.Remark // why repetitions left the goal open, one for each that did
}

// Goals gathers what searches found for each of their goals.
func Goals(records []store.Record) []Goal {
	var answers []store.GoalResult
	for _, r := range records {
		answers = append(answers, answersOf(r)...)
	}
	var goals []Goal
	for _, g := range GroupBy(answers, GoalName) {
		goals = append(goals, goalOf(g.Members))
	}
	return goals
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
	default:
		return fmt.Sprintf("undecided in %d of %d", len(g.Undecided), g.N)
	}
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

// BoundsText says between which rates a search ended: the highest that passed, in a trial of heldNs, and the lowest that failed; 0 where
// none did.
func BoundsText(passed, failed float64, heldNs int64) string {
	held := ", held " + time.Duration(heldNs).String()
	switch {
	case passed == 0 && failed == 0:
		return "no rate was found"
	case passed == 0:
		return "no rate passed, the lowest that failed was " + unit.PerSecond.Format(failed)
	case failed == 0:
		return "at least " + unit.PerSecond.Format(passed) + held + ", no rate failed"
	default:
		return unit.PerSecond.Range(passed, failed) + held
	}
}
