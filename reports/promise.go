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
		Build: promise,
	})
}

func promise(set *results.Set) (document.Document, error) {
	d := document.Document{Title: "Who kept its promise"}
	trials, withoutFault := faultTrials(set.Points)
	if len(trials) == 0 {
		d.Say("There is no record of a fault; brokermark run proof makes some.")
		return d, nil
	}
	d.Say(countVerdicts(trials))
	columns := promiseColumns(trials)
	for _, ofBroker := range byBroker(trials) {
		d.Add(document.Heading{Level: 1, Text: ofBroker[0].broker()})
		t := document.Table{Columns: columns}
		for _, trial := range ofBroker {
			t.Rows = append(t.Rows, trial.row())
		}
		d.Add(t)
	}
	d.Say(promiseTerms(trials))
	if withoutFault > 0 {
		d.Say(fmt.Sprintf("Left out: %s without a fault.", plural(withoutFault, "record")))
	}
	return d, nil
}

// promiseTerms explains the columns.
func promiseTerms(trials []faultTrial) string {
	text := "Acked: confirmed as the guarantee demands; at most once: handed over. Failed: the client reported an error; the message may have been delivered " +
		"nevertheless. "
	if anyTrial(trials, resent) {
		text += "Resent: sent once more because the connection was lost or no answer came. "
	}
	text += "Lost: acked and never delivered"
	if slices.ContainsFunc(trials, func(t faultTrial) bool { return t.late }) {
		text += "; what was only late is not counted"
	}
	return text + ". Dup.: deliveries of a message that had been delivered. Reord.: first deliveries after a later message of the same " +
		"stream. Outage: the longest time in which nothing was delivered" + samplesApart(trials) + "."
}

func anyTrial(trials []faultTrial, is func(results.Record) bool) bool {
	return slices.ContainsFunc(trials, func(t faultTrial) bool { return is(t.record) })
}

// samplesApart states the interval between the samples that outages were read from; "" without an outage.
func samplesApart(trials []faultTrial) string {
	var all []int64
	for _, t := range trials {
		if t.record.Result == nil {
			continue
		}
		if ns := t.record.Result.OutageSampleNs(); ns > 0 && !slices.Contains(all, ns) {
			all = append(all, ns)
		}
	}
	slices.Sort(all)
	var words []string
	for _, ns := range all {
		words = append(words, fmt.Sprintf("%g ms", float64(ns)/1e6))
	}
	if words == nil {
		return ""
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
			trials = append(trials, judge(r))
		}
	}
	slices.SortStableFunc(trials, faultTrial.compare)
	return trials, withoutFault
}

// byBroker splits sorted trials into one group for each broker and version.
func byBroker(trials []faultTrial) [][]faultTrial {
	var out [][]faultTrial
	for i, t := range trials {
		if i == 0 || t.broker() != trials[i-1].broker() {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
}

func promiseColumns(trials []faultTrial) []document.Column {
	return slices.Concat([]document.Column{
		{Key: "broker", Data: true},
		{Key: "version", Data: true},
		{Key: "delivery", Data: true},
		{Key: "persistence", Data: true},
		{Key: "replicas", Unit: unit.Count, Data: true},
		{Key: "acks", Data: true},
		{Key: "ordering", Data: true},
		{Key: "guarantee", Name: "guarantee", Row: true},
		{Key: "fault", Name: "fault", Row: true},
		{Key: "repetition", Name: "rep.", Unit: unit.Count, Data: !anyTrial(trials, repeated)},
		{Key: "verdict", Name: "promise"},
	}, metricColumns(promiseCounts, dataOnly{"sent": true, "resent": !anyTrial(trials, resent)}), []document.Column{
		{Key: "outage_ns", Name: "outage", Unit: unit.Nanoseconds},
		{Key: "why", Name: "why", Wide: true},
	})
}

// promiseCounts are the counts by which a promise is judged, and the counts that explain them.
var promiseCounts = []string{"sent", "acked", "failed", "resent", "lost_acked", "duplicated", "reordered"}

// promiseVerdict is in the words of docs/guarantees.md.
type promiseVerdict string

const (
	kept     promiseVerdict = "kept"
	broken   promiseVerdict = "broken"
	noneMade promiseVerdict = "none made"
	void     promiseVerdict = "void"
	refused  promiseVerdict = "refused"
)

// verdictOf maps the ledger's answers to verdicts.
var verdictOf = map[ledger.Promise]promiseVerdict{ledger.Kept: kept, ledger.Broken: broken, ledger.NoneMade: noneMade}

var verdictTones = map[promiseVerdict]document.Tone{broken: document.Alarm, void: document.Caution}

// faultTrial is one repetition in which faults were planned, with its verdict.
type faultTrial struct {
	record  results.Record
	books   results.Books // as judged: without the losses that are only late deliveries
	late    bool          // deliveries still came when the drain allowance was used up
	verdict promiseVerdict
	why     string
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
		cmp.Compare(slices.Index(deliveries, a.Spec.Delivery), slices.Index(deliveries, b.Spec.Delivery)),
		cmp.Compare(slices.Index(persistences, a.Spec.Persistence), slices.Index(persistences, b.Spec.Persistence)),
		results.CompareNames(faultText(a.Spec.Faults), faultText(b.Spec.Faults)),
		cmp.Compare(a.Repetition, b.Repetition),
	)
}

// The words of a guarantee, the weakest first.
var (
	deliveries   = []string{"at-most-once", "at-least-once", "exactly-once"}
	persistences = []string{"memory", "log", "fsync"}
)

// judge judges a repetition by its counts. They prove nothing where it was cut short or its faults did not happen.
func judge(r results.Record) faultTrial {
	t := faultTrial{record: r}
	if r.Result != nil {
		t.books = r.Result.Books
	}
	lateText, late := doubtText(r, "late")
	if t.late = late; late { // missing messages may only be late; duplicates and reordering still count
		t.books.LostAcked = 0
	}
	t.verdict, t.why = t.decide(lateText)
	return t
}

func (t faultTrial) decide(lateText string) (v promiseVerdict, why string) {
	r := t.record
	switch notDone := faultNotDone(r); {
	case r.Status == results.Refused:
		return refused, r.Reason
	case t.books.Sent == 0 && r.Reason == "":
		return void, "nothing was measured"
	case t.books.Sent == 0:
		return void, "nothing was measured: " + r.Reason
	case r.Status == results.Aborted:
		return void, r.Reason
	case notDone != "":
		return void, notDone
	case !r.Result.Books.BalancedAsStored():
		return void, "the books don't balance"
	}
	promise := results.Promise(r, t.books)
	switch {
	case promise.Promise == ledger.Broken:
		// A breach counts however poor the trial was: under too little load, or with other deliveries late.
	case t.late:
		return void, lateText
	case r.Status == results.Void || r.Status == results.Failed:
		// The trial was not good enough to show that the promise was kept.
		return void, r.Reason
	}
	return verdictOf[promise.Promise], wordVerdict(promise, t.books)
}

// doubtText is the text of a record's doubt of that code.
func doubtText(r results.Record, code string) (text string, ok bool) {
	for _, d := range r.Doubts {
		if d.Code == code {
			return d.Text, true
		}
	}
	return "", false
}

// deviations are the words for what was counted.
var deviations = map[ledger.Deviation]string{
	ledger.Corrupted: "corrupted", ledger.Lost: "lost", ledger.Duplicated: "delivered twice", ledger.Reordered: "out of order",
}

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
	if b.Acked < b.Sent/2 && v.Promise != ledger.Broken {
		parts = append(parts, fmt.Sprintf("only %d of %d were acknowledged", b.Acked, b.Sent))
	}
	if b.Unresolved > 0 {
		parts = append(parts, fmt.Sprintf("%d were neither confirmed nor refused", b.Unresolved))
	}
	return strings.Join(parts, "; ")
}

// promiseClauses state the deviations. There are none to state where nothing deviates and the fate of some messages is unknown.
func promiseClauses(v ledger.Verdict, b results.Books) []string {
	switch {
	case v.Promise == ledger.Broken:
		return []string{wordCounts(v.Breaches)}
	case v.Promise == ledger.NoneMade && b.LostAcked > 0:
		return []string{fmt.Sprintf("held in memory only: %d of %d acknowledged messages were lost", b.LostAcked, b.Acked)}
	case v.Promise == ledger.NoneMade:
		return []string{"held in memory only, but no acknowledged message was lost"}
	case v.Allowed != nil:
		return []string{wordCounts(v.Allowed) + ", which it allows"}
	case b.Unresolved == 0:
		return []string{"nothing lost or delivered twice"}
	}
	return nil
}

// row is the trial's row under promiseColumns.
func (t faultTrial) row() document.Row {
	s := t.record.Spec
	row := document.Row{
		"broker":      document.Text(s.Broker),
		"version":     document.Text(t.record.Versions.Broker),
		"delivery":    document.Text(s.Delivery),
		"persistence": document.Text(s.Persistence),
		"replicas":    document.Number(s.Replicas),
		"acks":        document.Text(s.Acks),
		"ordering":    document.Text(s.Ordering),
		"guarantee":   document.Text(guaranteeOf(s)),
		"fault":       document.Text(faultText(s.Faults)),
		"repetition":  document.Number(t.record.Repetition),
		"verdict":     document.Text(string(t.verdict)).Toned(verdictTones[t.verdict]),
		"why":         document.Text(t.why),
	}
	if t.record.Result == nil {
		return row
	}
	countCells(row, promiseCounts, t.books)
	for _, key := range promiseCounts {
		row[key] = row[key].Excluded(t.verdict == void)
	}
	if o := t.record.Result.Outage; o != nil {
		row["outage_ns"] = document.Number(o.ReceiveNs).Excluded(t.verdict == void)
	}
	return row
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
		if t.verdict == broken {
			s := t.record.Spec
			breaches = append(breaches, fmt.Sprintf("%s (%s, %s): %s", s.Broker, guaranteeOf(s), faultText(s.Faults), t.why))
		}
	}
	var parts []string
	for _, v := range []struct {
		verdict promiseVerdict
		words   string
	}{
		{kept, "%d kept"},
		{broken, "%d broken"},
		{noneMade, "%d where nothing was promised"},
		{void, "%d void"},
		{refused, "%d refused"},
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
