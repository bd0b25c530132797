package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// MarkedDoubts lists the doubts about records that mark a figure, one of each kind as WorstDoubts does.
func MarkedDoubts(records []store.Record) []Doubt {
	all := lists.Flat(records, func(r store.Record) []Doubt { return r.Doubts })
	return WorstDoubts(lists.Filter(all, func(d Doubt) bool { return d.Kind().Place().Marks() }))
}

// WorstDoubts lists one doubt of each kind: the one that may affect the largest share of a figure, or else the first, with the
// quantiles that any doubt of the kind affects.
func WorstDoubts(doubts []Doubt) []Doubt {
	var worst []Doubt
	for _, d := range doubts {
		i := slices.IndexFunc(worst, func(known Doubt) bool { return known.Code == d.Code })
		switch {
		case i < 0:
			worst = append(worst, d)
		case d.Share > worst[i].Share:
			d.Quantiles = bothQuantiles(d, worst[i])
			worst[i] = d
		default:
			worst[i].Quantiles = bothQuantiles(worst[i], d)
		}
	}
	return worst
}

// Standstill is the largest share of the time for which a process of ours stood still in a closed loop, by the doubts about it; 0 if it is small.
func Standstill(doubts []Doubt) float64 {
	largest := 0.0
	for _, d := range doubts {
		if d.Kind() == doubt.Pauses {
			largest = max(largest, d.Share)
		}
	}
	return largest
}

// DoubtPlace is the place of marks for doubts about m alone; doubt.Row if there are none.
func (m Metric) DoubtPlace() doubt.Place {
	switch {
	case m.Key == KeyPauseP99 || m.Key == KeyPauseMax || m.Key == KeyOfferedRate: // not of the broker
	case m.Unit == unit.PerSecond:
		return doubt.Rate
	case m.Unit == unit.Nanoseconds:
		return doubt.Latency
	case m.isCPU:
		return doubt.Cost
	case m.Key == KeyLost:
		return doubt.Counts
	}
	return doubt.Row
}

// Touches reports whether a doubt affects a figure with this place for doubts; quantile is the figure's quantile, or 0.
func Touches(d Doubt, place doubt.Place, quantile float64, closedLoop bool) bool {
	atQuantile := len(d.Quantiles) == 0 || slices.Contains(d.Quantiles, quantile)
	of := d.Kind().Place()
	switch of {
	case doubt.Quantile:
		return place == doubt.Latency && quantile != 0 && atQuantile
	case doubt.Delay:
		return place == doubt.Latency && (quantile == 0 || atQuantile) || place == doubt.Rate && closedLoop
	}
	return of == place
}

// DoubtsOf are the doubts about a record that concern m: those with a mark that affect it or the whole row, and those of the
// class too short about all figures. Counts don't depend on the broker's state.
func (m Metric) DoubtsOf(r store.Record) []Doubt {
	var touching []Doubt
	for _, d := range r.Doubts {
		kind := d.Kind()
		isShort := kind.Place() == doubt.Table && kind.Class() == doubt.TooShort
		if m.Counts() && kind.OfSteadyState() {
			continue
		}
		if isShort || kind.Place() == doubt.Row || Touches(d, m.DoubtPlace(), m.Quantile(), r.Spec.ClosedLoop()) {
			touching = append(touching, d)
		}
	}
	return touching
}

// bothQuantiles are those that either doubt affects; none if one of them affects all.
func bothQuantiles(a, b Doubt) []float64 {
	if len(a.Quantiles) == 0 || len(b.Quantiles) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Quantiles, b.Quantiles))))
}

// DoubtClasses lists the classes of the marked doubts about a repetition and its loads, in the order of the classes.
func DoubtClasses(r store.Record) []doubt.Class {
	ofLoads := lists.Map(Loads(r), func(l RepetitionLoad) store.Record { return l.Record })
	return ClassesOf(MarkedDoubts(append(ofLoads, r)))
}

// ClassesOf lists the classes of doubts, each once, in the order of the classes.
func ClassesOf(doubts []Doubt) []doubt.Class {
	return lists.Filter(doubt.Classes(), func(c doubt.Class) bool {
		return slices.ContainsFunc(doubts, func(d Doubt) bool { return d.Kind().Class() == c })
	})
}

// ClassesText lists the classes of doubts: "generator, too short". It is empty if there are no doubts.
func ClassesText(doubts []Doubt) string {
	words := lists.Map(ClassesOf(doubts), func(c doubt.Class) string { return string(c) })
	return strings.Join(words, ", ")
}

// CountClasses counts the repetitions with marked doubts, by class: "generator (1), too short (2)". It is empty if none has.
func CountClasses(records []store.Record) string {
	repetitions := map[doubt.Class]int{}
	for _, r := range records {
		for _, c := range DoubtClasses(r) {
			repetitions[c]++
		}
	}
	marked := lists.Filter(doubt.Classes(), func(c doubt.Class) bool { return repetitions[c] > 0 })
	return strings.Join(lists.Map(marked, func(c doubt.Class) string { return fmt.Sprintf("%s (%d)", c, repetitions[c]) }), ", ")
}

// DoubtsNote is a figure's note about the doubts of the repetitions that it shows; empty if there are none.
func DoubtsNote(records []store.Record) string {
	counts := CountClasses(records)
	if counts == "" {
		return ""
	}
	return fmt.Sprintf("Doubts, by how many of the %d selected repetitions have them: %s.", len(records), counts)
}

// Finding is a reason to distrust a point: a doubt, or why a repetition didn't end ok.
type Finding struct {
	Class string // of a doubt; empty for an ending
	Code  string // of a doubt, or the status if the repetition didn't end ok
	Text  string // for a rate of a curve: begins with the rate
}

// CountedFinding is a finding with the number of the point's repetitions that have it.
type CountedFinding struct {
	Finding
	Repetitions int
}

// Findings lists all reasons to distrust the figures of a point, each once, in the order of the repetitions.
func (p Point) Findings() []CountedFinding {
	var all []CountedFinding
	at := map[Finding]int{} // in all
	for _, r := range p.Records {
		for _, f := range findingsOf(r) {
			i, known := at[f]
			if !known {
				i = len(all)
				at[f] = i
				all = append(all, CountedFinding{Finding: f})
			}
			all[i].Repetitions++
		}
	}
	return all
}

// findingsOf are the findings about a repetition and the rates of its curve, each once.
func findingsOf(r store.Record) []Finding {
	var findings []Finding
	found := map[Finding]bool{}
	add := func(f Finding) {
		if !found[f] {
			found[f] = true
			findings = append(findings, f)
		}
	}
	ofDoubt := func(d Doubt, prefix string) Finding {
		return Finding{Class: string(d.Kind().Class()), Code: d.Code, Text: prefix + d.Text}
	}
	if r.Status != store.OK {
		add(Finding{Code: string(r.Status), Text: r.Reason})
	}
	for _, d := range r.Doubts {
		add(ofDoubt(d, ""))
	}
	for _, l := range Loads(r) {
		if l.Rate == 0 {
			continue // the load of the whole repetition
		}
		if l.Record.Status != store.OK && !l.BrokenOff { // the reason why the repetition broke off is already listed
			add(Finding{Code: string(l.Record.Status), Text: l.Name + ": " + l.Record.Reason})
		}
		for _, d := range l.Record.Doubts {
			if !found[ofDoubt(d, "")] { // of the whole repetition
				add(ofDoubt(d, l.Name+": "))
			}
		}
	}
	return findings
}
