package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/ledger"
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
	hidden := dataOnly{"sent": true, "resent": !anyTrial(trials, resent)}
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
var promiseCounts = []string{"sent", "acked", "failed", "resent", "lost_acked", "duplicated", "reordered"}

// promiseVerdict is in the words of docs/guarantees.md.
type promiseVerdict string

const (
	verdictKept     promiseVerdict = "kept"
	verdictBroken   promiseVerdict = "broken"
	verdictNoneMade promiseVerdict = "none made"
	verdictVoid     promiseVerdict = "void"
	verdictRefused  promiseVerdict = "refused"
)

// verdictOf maps the ledger's answers to verdicts.
var verdictOf = map[ledger.Promise]promiseVerdict{ledger.Kept: verdictKept, ledger.Broken: verdictBroken, ledger.NoneMade: verdictNoneMade}

var verdictTones = map[promiseVerdict]document.Tone{verdictBroken: document.Alarm, verdictVoid: document.Caution}

// faultTrial is one repetition in which faults were planned, with its verdict.
type faultTrial struct {
	record       results.Record
	books        results.Books // as judged: without losses where lossesUnsure
	lossesUnsure bool          // missing messages may be late, or may still be in a broker that wasn't started again
	verdict      promiseVerdict
	why          string
}

// broker is its name with the version that ran.
func (t faultTrial) broker() string {
	return strings.TrimSpace(t.record.Spec.Broker + " " + t.record.Versions.Broker)
}

func (t faultTrial) compare(o faultTrial) int {
	a, b := t.record, o.record
	return cmp.Or(
		results.CompareNames(a.Spec.Broker, b.Spec.Broker),
		results.CompareNames(a.Versions.Broker, b.Versions.Broker),
		cmp.Compare(a.Spec.Replicas, b.Spec.Replicas),
		cmp.Compare(slices.Index(deliveryOrder, a.Spec.Delivery), slices.Index(deliveryOrder, b.Spec.Delivery)),
		cmp.Compare(slices.Index(persistenceOrder, a.Spec.Persistence), slices.Index(persistenceOrder, b.Spec.Persistence)),
		results.CompareNames(faultText(a.Spec.Faults), faultText(b.Spec.Faults)),
		cmp.Compare(a.Repetition, b.Repetition),
	)
}

// The words of a guarantee, the weakest first.
var (
	deliveryOrder    = []string{"at-most-once", "at-least-once", "exactly-once"}
	persistenceOrder = []string{"memory", "log", "fsync"}
)

// judgeFaultTrial judges a repetition in three steps: could it show anything; was a promise broken; was the trial good
// enough to show that the promise was kept. A breach counts however poor the trial was.
func judgeFaultTrial(r results.Record) faultTrial {
	t := faultTrial{record: r}
	if r.Result != nil {
		t.books = r.Result.Books
	}
	if t.verdict, t.why = notJudgeable(r); t.verdict != "" {
		return t
	}
	var poor []string // why success would prove nothing
	if notDone := faultNotDone(r); notDone != "" {
		poor = append(poor, notDone)
		// An act that failed, or one without the act that ends it, may have left the broker down with its messages. Before the
		// first act nothing had been done to the broker, which then explains no loss.
		t.lossesUnsure = len(r.Result.Faults) > 0
		if !t.lossesUnsure {
			r.Spec.Faults = nil
		}
	}
	if lateText, late := doubtText(r, results.DoubtLate); late {
		poor, t.lossesUnsure = append(poor, lateText), true
	}
	if r.Status == results.Void || r.Status == results.Failed {
		poor = append(poor, r.Reason)
	}
	if t.lossesUnsure { // duplicates and reordering still count
		t.books.LostAcked = 0
	}
	judged := results.Promise(r, t.books)
	t.verdict, t.why = verdictOf[judged.Promise], wordVerdict(judged, t.books)
	switch {
	case t.verdict != verdictBroken && poor != nil:
		t.verdict, t.why = verdictVoid, poor[0]
	case t.verdict == verdictBroken && faultNotDone(t.record) != "":
		t.why += "; " + faultNotDone(t.record)
	}
	return t
}

// notJudgeable says why a repetition shows nothing about its promise. The verdict is empty if it does.
func notJudgeable(r results.Record) (verdict promiseVerdict, why string) {
	switch {
	case r.Status == results.Refused:
		return verdictRefused, r.Reason
	case (r.Result == nil || r.Result.Books.Sent == 0) && r.Reason == "":
		return verdictVoid, "nothing was measured"
	case r.Result == nil || r.Result.Books.Sent == 0:
		return verdictVoid, "nothing was measured: " + r.Reason
	case r.Status == results.Aborted:
		return verdictVoid, r.Reason
	case !r.Result.Books.BalancedAsStored():
		return verdictVoid, "the books don't balance"
	}
	return "", ""
}

// doubtText is the text of a record's first doubt with a code.
func doubtText(r results.Record, code string) (text string, ok bool) {
	for _, d := range r.Doubts {
		if d.Code == code {
			return d.Text, true
		}
	}
	return "", false
}

// deviations are the words for the counts.
var deviations = map[ledger.Deviation]string{
	ledger.Corrupted: "corrupted", ledger.Lost: "lost", ledger.Duplicated: "delivered twice", ledger.Reordered: "out of order",
}

// gaps are the words for where nothing was promised.
var gaps = map[ledger.Gap]string{ledger.InMemory: "held in memory only", ledger.LeaderOnly: "confirmed by the leader only, which others take over from"}

func wordCounts(counts []ledger.Count) string {
	var words []string
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%d %s", c.Messages, deviations[c.Deviation]))
	}
	return strings.Join(words, ", ")
}

// wordVerdict states the counts that a verdict rests on.
func wordVerdict(v ledger.Verdict, b results.Books) string {
	parts := promiseClauses(v, b)
	if 2*b.Acked < b.Sent && v.Promise != ledger.Broken {
		parts = append(parts, fmt.Sprintf("only %d of %d were acknowledged", b.Acked, b.Sent))
	}
	if b.Unresolved > 0 {
		parts = append(parts, fmt.Sprintf("%d were neither confirmed nor refused", b.Unresolved))
	}
	return strings.Join(parts, "; ")
}

// promiseClauses state the deviations. There are none to state if nothing deviates and the fate of some messages is unknown.
func promiseClauses(v ledger.Verdict, b results.Books) []string {
	switch {
	case v.Promise == ledger.Broken:
		return []string{wordCounts(v.Breaches)}
	case v.Promise == ledger.NoneMade && b.LostAcked > 0:
		return []string{fmt.Sprintf("%s: %d of %d acknowledged messages were lost", gaps[v.Gap], b.LostAcked, b.Acked)}
	case v.Promise == ledger.NoneMade:
		return []string{gaps[v.Gap] + ", but no acknowledged message was lost"}
	case len(v.Allowed) > 0:
		return []string{wordCounts(v.Allowed) + ", which it allows"}
	case b.Unresolved == 0:
		return []string{"nothing lost or delivered twice"}
	}
	return nil
}

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
