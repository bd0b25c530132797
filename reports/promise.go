package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func init() {
	report.Register(report.Report{
		Name:  "promise",
		Doc:   "who kept its promise: each guarantee through kills, pauses and restarts, with what was lost, repeated and out of order",
		Build: promise,
	})
}

func promise(records []store.Record) (report.Document, error) {
	d := report.Document{Title: "Who kept its promise"}
	trials, without := ordealsOf(report.Points(records))
	if len(trials) == 0 {
		d.Say("No record of a fault: brokermark run proof makes them.")
		return d, nil
	}
	repeated := slices.ContainsFunc(trials, func(o ordeal) bool { return o.record.Repetition > 1 })
	again := slices.ContainsFunc(trials, func(o ordeal) bool { return resent(o.record) })
	d.Say(promises(trials))
	for len(trials) > 0 {
		name, next := trials[0].broker(), slices.IndexFunc(trials, func(o ordeal) bool { return o.broker() != trials[0].broker() })
		if next < 0 {
			next = len(trials)
		}
		d.Add(report.Heading{Level: 1, Text: name})
		t := report.Table{Columns: promiseColumns(repeated, again)}
		for _, o := range trials[:next] {
			t.Rows = append(t.Rows, o.row())
		}
		d.Add(t)
		trials = trials[next:]
	}
	resends := ""
	if again {
		resends = "Resent: sent once more because the connection was lost or no answer came. "
	}
	d.Say("Acked: confirmed as the guarantee demands; at most once: handed over. Failed: the client told the application so; such a message may have been delivered " +
		"all the same. " + resends + "Lost: acked and never delivered. Dup.: deliveries of a message that had been delivered. Reord.: first deliveries after a later message of the same " +
		"stream. Outage: the longest time in which nothing was delivered, from samples 20 ms apart.")
	if without > 0 {
		d.Say(fmt.Sprintf("Left out: %s without a fault.", plural(without, "record")))
	}
	return d, nil
}

// ordealsOf judges every repetition through faults; without is how many there are without any.
func ordealsOf(points []report.Point) (trials []ordeal, without int) {
	for _, p := range points {
		for _, r := range p.Records {
			if len(r.Spec.Faults) == 0 {
				without++
				continue
			}
			trials = append(trials, try(r))
		}
	}
	slices.SortStableFunc(trials, ordeal.compare)
	return trials, without
}

func promiseColumns(repeated, again bool) []report.Column {
	return []report.Column{
		{Key: "broker", Data: true},
		{Key: "version", Data: true},
		{Key: "delivery", Data: true},
		{Key: "persistence", Data: true},
		{Key: "replicas", Unit: report.Count, Data: true},
		{Key: "acks", Data: true},
		{Key: "ordering", Data: true},
		{Key: "guarantee", Name: "guarantee", Row: true},
		{Key: "fault", Name: "fault", Row: true},
		{Key: "repetition", Name: "rep.", Unit: report.Count, Data: !repeated},
		{Key: "verdict", Name: "promise"},
		{Key: "sent", Unit: report.Count, Data: true},
		{Key: "acked", Name: "acked", Unit: report.Count},
		{Key: "failed", Name: "failed", Unit: report.Count},
		{Key: "resent", Name: "resent", Unit: report.Count, Data: !again},
		{Key: "lost_acked", Name: "lost", Unit: report.Count},
		{Key: "duplicated", Name: "dup.", Unit: report.Count},
		{Key: "reordered", Name: "reord.", Unit: report.Count},
		{Key: "outage_ns", Name: "outage", Unit: report.Nanoseconds},
		{Key: "why", Name: "why", Wide: true},
	}
}

// Verdicts on a promise.
const (
	kept    = "kept"
	broken  = "broken"
	nothing = "none made" // held in memory, and the process was killed
	void    = "void"
	refused = "refused"
)

// ordeal is one repetition through its faults.
type ordeal struct {
	record  store.Record
	verdict string
	why     string
}

// broker is its name with the version that ran.
func (o ordeal) broker() string {
	return strings.TrimSpace(o.record.Spec.Broker + " " + o.record.Versions.Broker)
}

func (o ordeal) compare(b ordeal) int {
	return slices.CompareFunc(o.order(), b.order(), report.CompareNames)
}

func (o ordeal) order() []string {
	s := o.record.Spec
	rank := func(list []string, word string) string { return string(rune('a' + slices.Index(list, word) + 1)) }
	return []string{
		s.Broker, o.record.Versions.Broker, fmt.Sprint(s.Replicas), rank([]string{"at-most-once", "at-least-once", "exactly-once"}, s.Delivery),
		rank([]string{"memory", "log", "fsync"}, s.Persistence), faultText(s.Faults), fmt.Sprint(o.record.Repetition),
	}
}

// try judges a record by its ledger.
func try(r store.Record) ordeal {
	o := ordeal{record: r}
	switch missed := undone(r); {
	case r.Status == store.Refused:
		o.verdict, o.why = refused, r.Reason
	case r.Result == nil || r.Result.Books.Sent == 0:
		o.verdict, o.why = void, "nothing was measured: "+r.Reason
	case r.Status == store.Aborted:
		o.verdict, o.why = void, r.Reason
	case missed != "":
		o.verdict, o.why = void, missed
	case unbalanced(r.Result.Books):
		o.verdict, o.why = void, "the books don't balance"
	default:
		books, late := r.Result.Books, doubted(r, "late")
		if late != "" { // what is missing tells nothing then, what came tells as ever
			books.LostAcked = 0
		}
		if o.verdict, o.why = judge(r.Spec, books); late != "" && o.verdict != broken {
			o.verdict, o.why = void, late
		}
		// A promise that was broken under less load than was meant is broken; one that was kept may be so for that.
		if o.verdict != broken && o.verdict != void && (r.Status == store.Void || r.Status == store.Failed) {
			o.verdict, o.why = void, r.Reason
		}
	}
	return o
}

// doubted is what a record says under a doubt's code; empty: it has no such doubt.
func doubted(r store.Record, code string) string {
	for _, d := range r.Doubts {
		if d.Code == code {
			return d.Text
		}
	}
	return ""
}

// undone says which of the faults that were asked for did not happen.
func undone(r store.Record) string {
	if r.Result == nil {
		return ""
	}
	want := 0
	for _, f := range r.Spec.Faults {
		want++
		if f.For > 0 { // it ends in a resume or a restart
			want++
		}
	}
	for _, e := range r.Result.Faults {
		if e.Err != "" {
			return fmt.Sprintf("the fault was not carried out: %s: %s", e.Do, e.Err)
		}
	}
	if got := len(r.Result.Faults); got < want {
		return fmt.Sprintf("the fault was not carried out: %d of %d acts happened", got, want)
	}
	return ""
}

func unbalanced(b store.Books) bool {
	return b.Sent != b.Acked+b.Failed+b.Unresolved || b.Expected != b.Received+b.Lost
}

// judge holds the ledger against the guarantee.
func judge(s study.Spec, b store.Books) (verdict, why string) {
	var wrong, allowed []string
	count := func(n int64, promised bool, what string) {
		switch {
		case n == 0:
		case promised:
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		default:
			allowed = append(allowed, fmt.Sprintf("%d %s", n, what))
		}
	}
	promisedNothing := s.Persistence == "memory" && killed(s.Faults)
	count(b.LostAcked, s.Delivery != "at-most-once" && !promisedNothing, "lost")
	count(b.Duplicated, s.Delivery != "at-least-once", "delivered twice")
	count(b.Reordered, s.Ordering == "ordered", "out of order")
	count(b.Corrupted, true, "corrupted")
	tolerated, fate := "", ""
	if allowed != nil {
		tolerated = strings.Join(allowed, ", ") + ", which it allows"
	}
	if b.Unresolved > 0 {
		fate = fmt.Sprintf("; the fate of %d was never told", b.Unresolved)
		tolerated = strings.TrimPrefix(tolerated+fate, "; ")
	}
	switch {
	case wrong != nil:
		return broken, strings.Join(wrong, ", ") + fate
	case promisedNothing && s.Delivery != "at-most-once":
		if b.LostAcked > 0 {
			return nothing, fmt.Sprintf("held in memory: %d of %d acknowledged messages went with the process", b.LostAcked, b.Acked) + fate
		}
		return nothing, "held in memory, and yet nothing acknowledged was lost" + fate
	}
	if tolerated == "" {
		tolerated = "nothing lost, nothing twice"
	}
	return kept, tolerated
}

func killed(faults []study.Fault) bool {
	return slices.ContainsFunc(faults, func(f study.Fault) bool { return f.Do == "kill" || f.Do == "restart" })
}

func (o ordeal) row() []report.Cell {
	s := o.record.Spec
	cells := []report.Cell{
		report.Text(s.Broker), report.Text(o.record.Versions.Broker), report.Text(s.Delivery), report.Text(s.Persistence),
		report.Number(s.Replicas), report.Text(s.Acks), report.Text(s.Ordering), report.Text(guaranteeOf(s)), report.Text(faultText(s.Faults)),
		report.Number(o.record.Repetition), report.Text(o.verdict),
	}
	if o.record.Result == nil {
		return append(cells, report.Cell{}, report.Cell{}, report.Cell{}, report.Cell{}, report.Cell{}, report.Cell{}, report.Cell{}, report.Cell{}, report.Text(o.why))
	}
	b := o.record.Result.Books
	for _, n := range []int64{b.Sent, b.Acked, b.Failed, b.Resent, b.LostAcked, b.Duplicated, b.Reordered} {
		cell := report.Number(n)
		cell.Unused = o.verdict == void
		cells = append(cells, cell)
	}
	gap := report.Cell{}
	if out := o.record.Result.Outage; out != nil {
		gap = report.Number(out.ReceiveNs)
		gap.Unused = o.verdict == void
	}
	return append(cells, gap, report.Text(o.why))
}

// guaranteeOf names what was asked for, as far as it isn't the usual.
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

// faultText names the faults with how long they last: "kill -9, 1s".
func faultText(faults []study.Fault) string {
	var words []string
	for _, f := range faults {
		text, length := f.Do, time.Duration(f.For)
		switch f.Do {
		case "kill":
			text = "kill -9"
			if f.Node == "leader" {
				text = "kill -9 leader"
			}
		}
		if length > 0 {
			text += fmt.Sprintf(", %s", length)
		}
		if f.Node != "1" && f.Node != "leader" && f.Node != "" {
			text += ", node " + f.Node
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// promises says first what matters: who broke one.
func promises(trials []ordeal) string {
	counts := map[string]int{}
	var guilty []string
	for _, o := range trials {
		counts[o.verdict]++
		if o.verdict == broken {
			guilty = append(guilty, fmt.Sprintf("%s (%s, %s): %s", o.record.Spec.Broker, guaranteeOf(o.record.Spec), faultText(o.record.Spec.Faults), o.why))
		}
	}
	var parts []string
	for _, v := range []struct{ verdict, words string }{
		{kept, "%d kept"},
		{broken, "%d broken"},
		{nothing, "%d where nothing was promised"},
		{void, "%d void"},
		{refused, "%d refused"},
	} {
		if n := counts[v.verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf(v.words, n))
		}
	}
	text := fmt.Sprintf("%s: %s.", plural(len(trials), "trial"), strings.Join(parts, ", "))
	if guilty != nil {
		text += " Broken by " + strings.Join(guilty, "; ") + "."
	}
	return text
}
