package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
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
	trials, withoutFault := faultTrials(set.Points)
	if len(trials) == 0 {
		d.Say("None of these records contains a fault. To make some: brokermark run proof.")
		return d, nil
	}
	d.Say(countVerdicts(trials))
	columns := promiseColumns(trials)
	for _, ofBroker := range byBroker(trials) {
		d.Add(document.Heading{Level: 1, Text: ofBroker[0].broker()})
		d.Add(tableOf(columns, ofBroker))
	}
	d.Say(promiseTerms(trials))
	if withoutFault > 0 {
		d.Say(fmt.Sprintf("Left out: %s without a fault.", plural(withoutFault, "record")))
	}
	return d, nil
}

// promiseTerms explains the columns, a sentence each.
func promiseTerms(trials []faultTrial) string {
	terms := []string{
		"Acked: confirmed as the guarantee demands. With at-most-once nothing is confirmed, and every message handed to the client counts.",
		"Failed: the client reported an error; the message may have been delivered nevertheless.",
	}
	if anyTrial(trials, resent) {
		terms = append(terms, "Resent: sent once more because the connection was lost or no answer came.")
	}
	terms = append(terms, "Lost: acked and never delivered.")
	if slices.ContainsFunc(trials, func(t faultTrial) bool { return t.lossesUnsure && t.record.Result.Books.LostAcked > 0 }) {
		terms = append(terms, "Messages that may only be late, or still be in a broker that did not come back, are not counted as lost.")
	}
	return strings.Join(append(terms,
		"Dup.: deliveries of a message that had been delivered.",
		"Reord.: first deliveries after a later message of the same stream.",
		"Outage: the longest time in which nothing was delivered"+sampleIntervals(trials)+"."), " ")
}

func anyTrial(trials []faultTrial, is func(results.Record) bool) bool {
	return slices.ContainsFunc(trials, func(t faultTrial) bool { return is(t.record) })
}

// sampleIntervals states how far apart the samples were that outages were read from. It is empty without an outage.
func sampleIntervals(trials []faultTrial) string {
	var intervals []int64
	for _, t := range trials {
		if t.record.Result == nil {
			continue
		}
		if ns := t.record.Result.OutageSampleNs(); ns > 0 && !slices.Contains(intervals, ns) {
			intervals = append(intervals, ns)
		}
	}
	if len(intervals) == 0 {
		return ""
	}
	slices.Sort(intervals)
	var words []string
	for _, ns := range intervals {
		words = append(words, fmt.Sprintf("%g ms", float64(ns)/1e6))
	}
	return ", from samples " + strings.Join(words, " or ") + " apart"
}

// faultTrials judges every repetition in which faults were planned and counts the others.
func faultTrials(points []results.Point) (trials []faultTrial, withoutFault int) {
	for _, p := range points {
		for _, r := range p.Records {
			if len(r.Spec.Faults) == 0 {
				withoutFault++
				continue
			}
			trials = append(trials, judgeFaultTrial(r))
		}
	}
	slices.SortStableFunc(trials, faultTrial.compare)
	return trials, withoutFault
}

// byBroker splits trials into one group for each broker and version. The trials are sorted by both.
func byBroker(trials []faultTrial) [][]faultTrial {
	var groups [][]faultTrial
	for i, t := range trials {
		if i == 0 || t.broker() != trials[i-1].broker() {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], t)
	}
	return groups
}

func promiseColumns(trials []faultTrial) []columnOf[faultTrial] {
	// text is a column of the spec for programs; shown is one for readers as well.
	text := func(key string, of func(study.Spec) string) columnOf[faultTrial] {
		return columnOf[faultTrial]{document.Column{Key: key, Data: true}, func(t faultTrial) document.Cell { return document.Text(of(t.record.Spec)) }}
	}
	shown := func(key string, of func(study.Spec) string) columnOf[faultTrial] {
		c := text(key, of)
		c.Name, c.Row, c.Data = key, true, false
		return c
	}
	columns := []columnOf[faultTrial]{
		text("broker", func(s study.Spec) string { return s.Broker }),
		{document.Column{Key: "version", Data: true}, func(t faultTrial) document.Cell { return document.Text(t.record.Versions.Broker) }},
		text("delivery", func(s study.Spec) string { return s.Delivery }),
		text("persistence", func(s study.Spec) string { return s.Persistence }),
		{document.Column{Key: "replicas", Unit: unit.Count, Data: true}, func(t faultTrial) document.Cell { return document.Number(t.record.Spec.Replicas) }},
		text("acks", func(s study.Spec) string { return s.Acks }),
		text("ordering", func(s study.Spec) string { return s.Ordering }),
		shown("guarantee", guaranteeOf),
		shown("fault", func(s study.Spec) string { return faultText(s.Faults) }),
		{
			document.Column{Key: "repetition", Name: "rep.", Unit: unit.Count, Data: !anyTrial(trials, repeated)},
			func(t faultTrial) document.Cell { return document.Number(t.record.Repetition) },
		},
		{document.Column{Key: "verdict", Name: "promise"}, func(t faultTrial) document.Cell {
			return document.Text(string(t.verdict)).Toned(verdictTones[t.verdict])
		}},
	}
	hidden := dataOnly{results.KeySent: true, results.KeyResent: !anyTrial(trials, resent)}
	figures := append(countColumns(promiseCounts, hidden, faultTrial.counts),
		columnOf[faultTrial]{document.Column{Key: "outage_ns", Name: "outage", Unit: unit.Nanoseconds}, faultTrial.outage})
	for _, c := range figures {
		columns = append(columns, columnOf[faultTrial]{c.Column, func(t faultTrial) document.Cell {
			cell := c.cell(t)
			return cell.Excluded(t.verdict == verdictVoid && cell.Kind != document.Blank)
		}})
	}
	return append(columns, columnOf[faultTrial]{document.Column{Key: "why", Name: "why", Wide: true}, func(t faultTrial) document.Cell {
		return document.Text(t.why)
	}})
}

// promiseCounts are the counts by which a promise is judged, and the counts that explain them.
var promiseCounts = []string{results.KeySent, results.KeyAcked, results.KeyFailed, results.KeyResent, results.KeyLostAcked, results.KeyDuplicated, results.KeyReordered}

var verdictTones = map[promiseVerdict]document.Tone{verdictBroken: document.Alarm, verdictVoid: document.Caution}

// counts are the books as judged. They are nil if nothing was measured.
func (t faultTrial) counts() *results.Books {
	if t.record.Result == nil {
		return nil
	}
	return &t.books
}

// outage is blank if nothing was measured, or if nobody watched for an outage.
func (t faultTrial) outage() document.Cell {
	if t.record.Result == nil || t.record.Result.Outage == nil {
		return document.Cell{}
	}
	return document.Number(t.record.Result.Outage.ReceiveNs)
}

// guaranteeOf names the guarantee; the usual replicas and ordering are left out.
func guaranteeOf(s study.Spec) string {
	text := s.Delivery + ", " + s.Persistence
	if s.Replicas > 1 {
		text += fmt.Sprintf(", %d copies", s.Replicas)
	}
	if s.Ordering != "ordered" {
		text += ", " + s.Ordering
	}
	return text
}

// countVerdicts counts the verdicts and names the trials that broke a promise.
func countVerdicts(trials []faultTrial) string {
	counts := map[promiseVerdict]int{}
	var breaches []string
	for _, t := range trials {
		counts[t.verdict]++
		if t.verdict == verdictBroken {
			s := t.record.Spec
			breaches = append(breaches, fmt.Sprintf("%s (%s, %s): %s", s.Broker, guaranteeOf(s), faultText(s.Faults), t.why))
		}
	}
	var parts []string
	for _, v := range []struct {
		verdict promiseVerdict
		words   string
	}{
		{verdictKept, "%d kept"},
		{verdictBroken, "%d broken"},
		{verdictNoneMade, "%d where nothing was promised"},
		{verdictVoid, "%d void"},
		{verdictRefused, "%d refused"},
	} {
		if n := counts[v.verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf(v.words, n))
		}
	}
	text := fmt.Sprintf("%s: %s.", plural(len(trials), "trial"), strings.Join(parts, ", "))
	if breaches != nil {
		text += " Broken by " + strings.Join(breaches, "; ") + "."
	}
	return text
}
