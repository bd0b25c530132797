// The promise report: for each broker a table of fault trials. A fault trial is a repetition in which the
// broker was killed, paused or restarted on purpose. Each is judged by the guarantee that was asked for:
// exactly-once delivery promises that no message is delivered twice, so one duplicate breaks it.
//
//	guarantee            fault        promise  acked   failed  lost after ack  dup.  outage  why
//	exactly-once, fsync  kill -9, 1s  broken   10 000       0               0     1  1.40 s  1 delivered twice

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

func init() {
	Register(Report{
		Name:  "promise",
		Doc:   "who kept its promise: each guarantee through kills, pauses and restarts, with what was lost, repeated and out of order",
		Build: promiseReport,
	})
}

func promiseReport(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Who kept its promise"}
	trials := faultTrials(set.Points)
	if len(trials) == 0 {
		d.Say("None of these records contains a fault. To make some: brokermark run proof.")
		return d, nil
	}
	d.Say(countVerdicts(trials))
	columns := promiseColumns(trials)
	for _, g := range results.GroupBy(trials, faultTrial.broker) {
		d.Add(document.Heading{Level: 1, Text: g.Name})
		d.Add(tableOf("", columns, g.Members))
	}
	d.Say(promiseTerms(trials))
	if withoutFault := len(recordsOf(set.Points)) - len(trials); withoutFault > 0 {
		d.Say(fmt.Sprintf("Left out: %s without a fault.", unit.Counted(withoutFault, "record")))
	}
	return d, nil
}

// faultTrials judges the repetitions in which faults were planned, and sorts them.
func faultTrials(points []results.Point) []faultTrial {
	faulty := lists.Filter(recordsOf(points), func(r results.Record) bool { return len(r.Spec.Faults) > 0 })
	trials := lists.Map(faulty, judgeFaultTrial)
	slices.SortStableFunc(trials, faultTrial.compare)
	return trials
}

// countVerdicts counts the verdicts and names the trials that broke a promise: "3 trials: 2 kept, 1 broken.
// Broken by kafka (at-most-once, log, restart): 3 delivered twice."
func countVerdicts(trials []faultTrial) string {
	counts := map[promiseVerdict]int{}
	var breaches []string
	for _, t := range trials {
		counts[t.verdict]++
		if t.verdict == verdictBroken {
			breaches = append(breaches, fmt.Sprintf("%s (%s, %s): %s", t.record.Spec.Broker, t.guarantee(), t.fault(), t.why))
		}
	}
	var parts []string
	for _, v := range promiseVerdicts {
		words := string(v)
		if v == verdictNoneMade {
			words = "where nothing was promised"
		}
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], words))
		}
	}
	text := fmt.Sprintf("%s: %s.", unit.Counted(len(trials), "trial"), strings.Join(parts, ", "))
	if len(breaches) > 0 {
		text += " Broken by " + strings.Join(breaches, "; ") + "."
	}
	return text
}

// promiseColumns are the columns of a broker's trials: what was promised, what was done to the broker, the
// verdict, and what it rests on.
func promiseColumns(trials []faultTrial) []columnOf[faultTrial] {
	onlyFirst := !anyTrial(trials, isLaterRepetition)
	repetition := document.Column{Key: "repetition", Name: "rep.", Unit: unit.Count, MachinesOnly: onlyFirst}
	return slices.Concat(
		promiseColumnsForPrograms,
		[]columnOf[faultTrial]{
			textColumn(document.Column{Key: "guarantee", Name: "guarantee", Identifies: true}, faultTrial.guarantee),
			textColumn(document.Column{Key: "fault", Name: "fault", Identifies: true}, faultTrial.fault),
			numberColumn(repetition, faultTrial.repetition),
			cellColumn(document.Column{Key: "verdict", Name: "promise", Attribute: true}, faultTrial.verdictCell),
		},
		promiseFigures(trials),
		[]columnOf[faultTrial]{
			textColumn(document.Column{Key: "why", Name: "why", Wide: true}, func(t faultTrial) string { return t.why }),
		},
	)
}

// promiseColumnsForPrograms have each word of the guarantee by itself.
var promiseColumnsForPrograms = []columnOf[faultTrial]{
	textColumn(forPrograms("broker"), func(t faultTrial) string { return t.record.Spec.Broker }),
	textColumn(forPrograms("version"), func(t faultTrial) string { return t.record.Versions.Broker }),
	textColumn(forPrograms("delivery"), func(t faultTrial) string { return t.record.Spec.Delivery }),
	textColumn(forPrograms("persistence"), func(t faultTrial) string { return t.record.Spec.Persistence }),
	numberColumn(document.Column{Key: "replicas", Unit: unit.Count, MachinesOnly: true},
		func(t faultTrial) int { return t.record.Spec.Replicas }),
	textColumn(forPrograms("acks"), func(t faultTrial) string { return t.record.Spec.Acks }),
	textColumn(forPrograms("ordering"), func(t faultTrial) string { return t.record.Spec.Ordering }),
}

// forPrograms is a column that people don't see.
func forPrograms(key string) document.Column { return document.Column{Key: key, MachinesOnly: true} }

// promiseFigures are the counts by which a promise is judged, those that explain them, and the outage.
func promiseFigures(trials []faultTrial) []columnOf[faultTrial] {
	hidden := hiddenColumns{results.KeySent: true, results.KeyResent: !anyTrial(trials, wasResent)}
	outage := document.Column{Key: "outage_ns", Name: "outage", Unit: unit.Nanoseconds}
	return append(metricColumns(promiseCounts, hidden, faultTrial.countCell), cellColumn(outage, faultTrial.outageCell))
}

// promiseCounts are the keys of the counts.
var promiseCounts = []string{
	results.KeySent, results.KeyAcked, results.KeyFailed, results.KeyResent,
	results.KeyLostAcked, results.KeyDuplicated, results.KeyReordered,
}

func (t faultTrial) guarantee() string { return guaranteeText(t.record.Spec) }
func (t faultTrial) fault() string     { return faultText(t.record.Spec.Faults) }
func (t faultTrial) repetition() int   { return t.record.Repetition }

func (t faultTrial) verdictCell() document.Cell {
	cell := document.Text(string(t.verdict))
	switch t.verdict {
	case verdictBroken:
		return cell.Toned(document.Alarm)
	case verdictUndecided, verdictVoid:
		return cell.Toned(document.Caution)
	}
	return cell
}

// countCell is a count of the books as judged, by its key.
func (t faultTrial) countCell(key string) document.Cell {
	if t.record.Result == nil {
		return document.Cell{}
	}
	return t.figure(document.Number(results.MustMetric(key).CountIn(t.books)))
}

// outageCell is blank if nothing was measured, and for records without samples of deliveries.
func (t faultTrial) outageCell() document.Cell {
	if !t.hasOutage() {
		return document.Cell{}
	}
	return t.figure(document.Number(t.record.Result.Outage.ReceiveNs))
}

// figure puts the figures of a void trial in parentheses, because no conclusion is drawn from them.
func (t faultTrial) figure(cell document.Cell) document.Cell {
	return cell.Excluded(t.verdict == verdictVoid && cell.Kind != document.Blank)
}

func (t faultTrial) hasOutage() bool { return t.record.Result != nil && t.record.Result.Outage != nil }

// guaranteeText names the guarantee: "exactly-once, log, 3 copies". A single copy and "ordered" are usual,
// and left out.
func guaranteeText(s study.Spec) string {
	text := s.Delivery + ", " + s.Persistence
	if s.Replicas > 1 {
		text += fmt.Sprintf(", %d copies", s.Replicas)
	}
	if s.Ordering != "ordered" {
		text += ", " + s.Ordering
	}
	return text
}

func anyTrial(trials []faultTrial, condition func(results.Record) bool) bool {
	return slices.ContainsFunc(trials, func(t faultTrial) bool { return condition(t.record) })
}
