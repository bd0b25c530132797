// The explain report names what set the pace of every load that was as fast as it could be: of a search, the first rate above what it found;
// of a closed loop; of a rate that was missed. What docs/explain.md calls the limit comes with the evidence, and with what is next.
//
//	measured                           limit          seen                                       next  …  n
//	redis, 1 KiB, …, sustainable       broker-thread  one thread of the broker, redis-server, …  cpu      2

package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/explain"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "explain",
		Doc:   "what set the pace of searches, closed loops and missed rates: the limit, the next one, and how each showed",
		Build: explainReport,
	})
}

// explained is a load of a point whose repetitions had the same limit.
type explained struct {
	load        results.LoadPoint
	limits      results.Limits // of the last of them
	repetitions int
}

func explainReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: ExplanationTitle}
	counted := slices.DeleteFunc(slices.Clone(set.Points), func(p results.Point) bool { return explain.Explains(p.Records[0].Study) })
	d.Say(statusSentence(counted))
	var found []explained
	keptUp := 0
	for _, l := range results.LoadPointsOf(counted) {
		loads := limitsByCause(l)
		if len(loads) == 0 && l.Used() {
			keptUp++
		}
		found = append(found, loads...)
	}
	if len(found) > 0 {
		d.Add(tableOf("", explainColumns, found))
		d.Say("Each limit is what was seen, not what was proved: run --explain changes what may be the limit of a point, and shows whether the rate moves.")
	}
	if keptUp > 0 {
		d.Say(fmt.Sprintf("Not in the table: %s at which the broker kept up, or at which nothing was looked for.", unit.Counted(keptUp, "load")))
	}
	for _, c := range explain.Cases(set.Records) {
		if a, ok := c.Decide(set.Records); ok {
			d.Add(document.Heading{Level: 1, Text: "Does it move: " + a.Of.Spec.Broker + " " + a.Of.Spec.Measure})
			d.Add(Explanation(a).Blocks...)
		}
	}
	return d, nil
}

// limitsByCause gathers the repetitions of a load by their limit. The list is empty if the load kept up.
func limitsByCause(l results.LoadPoint) []explained {
	var list []explained
	for _, r := range l.Records {
		limits, asked := results.LimitsOf(r)
		if !asked {
			continue
		}
		i := slices.IndexFunc(list, func(e explained) bool { return e.limits.Cause() == limits.Cause() })
		if i < 0 {
			i, list = len(list), append(list, explained{load: l})
		}
		list[i].limits, list[i].repetitions = limits, list[i].repetitions+1
	}
	return list
}

// place returns the limit (0) or the next one (1). If no limit was reached, limits begins with the next one.
func (e explained) place(i int) (cause, seen string) {
	if e.limits.Cause() == "" {
		i--
	}
	switch {
	case i < 0:
		return "none shown", ""
	case i < len(e.limits):
		return e.limits[i].Cause, e.limits[i].Seen
	}
	return "", ""
}

var explainColumns = slices.Concat(
	[]columnOf[explained]{
		textColumn(forPrograms("point_id"), func(e explained) string { return e.load.Point.ID }),
		textColumn(document.Column{Key: "measured", Name: "measured", Identifies: true, Wide: true},
			func(e explained) string {
				return e.load.Point.Name + ", " + e.load.Point.Setting() + ", " + e.load.RowTitle
			}),
	},
	placeColumns(0, "limit", "seen"),
	placeColumns(1, "next", "seen of it"),
	[]columnOf[explained]{repetitionsColumn(func(e explained) int { return e.repetitions })},
)

func placeColumns(i int, name, seen string) []columnOf[explained] {
	cause := func(e explained) string { cause, _ := e.place(i); return cause }
	evidence := func(e explained) string { _, seen := e.place(i); return seen }
	return []columnOf[explained]{
		textColumn(document.Column{Key: name, Name: name}, cause),
		textColumn(document.Column{Key: name + "_seen", Name: seen, Wide: true}, evidence),
	}
}

// ExplanationTitle is that of the report, and of what run --explain adds to a run.
const ExplanationTitle = "What was the limit"

// Explanation says of each change that was tried whether the rate moved.
func Explanation(a explain.Answer) document.Document {
	d := document.Document{Title: ExplanationTitle}
	d.Say(fmt.Sprintf("The limit of %s: %s. Repetitions with and without a change took turns; they are no results of the point.",
		explainedPoint(a.Of), a.Case.Limit()))
	for _, t := range a.Tried {
		d.Add(document.Verdict{About: results.Capital(t.Change.Name), Finding: triedFinding(t), Detail: triedDetail(a, t)})
		d.Say(doubtsLine(t.Change.Name, t.With))
	}
	d.Say(doubtsLine("the point unchanged", a.Before))
	return d
}

// explainedPoint names a point by what its unchanged repetitions are called: "nats peak".
func explainedPoint(r results.Record) string {
	name, _, _ := strings.Cut(r.Label, ", "+explain.Unchanged)
	return name
}

func triedFinding(t explain.Tried) string {
	switch {
	case t.Why != "":
		return "Undecided: " + t.Why + "."
	case t.Verdict == explain.Moved:
		return "The rate moved: " + t.Change.Moved + "."
	case t.Verdict == explain.Contra:
		return "The rate moved, but the other way: the change does not relieve the limit."
	case t.Verdict == explain.Stayed:
		return "The rate didn't move: " + t.Change.Stayed + "."
	}
	return "Undecided: the repetitions scatter too much, or are too few."
}

// triedDetail is such as "With inFlight.messages 20: throughput 1.00k/s (0.99–1.01k/s) → 2.00k/s (…), 2.00× [1.98–2.02×] (3 repetitions each);
// with the change the limit was cpu."
func triedDetail(a explain.Answer, t explain.Tried) string {
	if t.Why != "" {
		return ""
	}
	text := fmt.Sprintf("With %s: %s %s → %s", t.Spec.InWords(t.Change.Path), a.Metric.Name, advise.Figure(a.Metric, a.Before), advise.Figure(a.Metric, t.With))
	if !math.IsNaN(t.Rate.Estimate) {
		text += ", " + changeText(t.Rate)
	}
	repetitions := unit.Counted(len(t.With), "repetition") + " each"
	if len(t.With) != len(a.Before) {
		repetitions = fmt.Sprintf("%d repetitions and %d", len(a.Before), len(t.With))
	}
	return text + fmt.Sprintf(" (%s); with the change the limit was %s.", repetitions, cmp.Or(t.Then, "not shown"))
}
