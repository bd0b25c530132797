// A fault trial is a repetition in which the broker was killed, paused or restarted on purpose. It is judged by what the broker promised:
// with at-least-once delivery, for example, a message that was acknowledged and never delivered breaks the promise, and one that was
// delivered twice does not. Package ledger holds these rules; here it is decided whether a trial can be judged at all.

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/results"
)

// faultTrial is a repetition in which faults were planned, judged by what the broker promised.
type faultTrial struct {
	record       results.Record
	books        results.Books // as judged: without losses if lossesUnsure
	lossesUnsure bool          // missing messages may be late, or may still be in a broker that wasn't started again
	verdict      promiseVerdict
	why          string
}

// promiseVerdict is a verdict in the words of docs/guarantees.md.
type promiseVerdict string

const (
	verdictKept      promiseVerdict = "kept"
	verdictBroken    promiseVerdict = "broken"
	verdictUndecided promiseVerdict = "undecided" // not broken, but the agents' clocks do not show whether order was kept
	verdictNoneMade  promiseVerdict = "none made"
	verdictVoid      promiseVerdict = "void"
	verdictRefused   promiseVerdict = "refused"
)

// verdictOf maps the ledger's answers to verdicts.
var verdictOf = map[ledger.Promise]promiseVerdict{
	ledger.Kept: verdictKept, ledger.Broken: verdictBroken, ledger.NoneMade: verdictNoneMade,
}

// judgeFaultTrial judges a repetition in three steps: whether it shows anything, whether a promise was broken, and whether the trial
// was good enough to show that the promise was kept. A breach counts however poor the trial was.
func judgeFaultTrial(r results.Record) faultTrial {
	t := faultTrial{record: r}
	if r.Result != nil {
		t.books = r.Result.Books
	}
	if t.verdict, t.why = notJudgeable(r); t.verdict != "" {
		return t
	}
	undone := faultNotDone(r)
	begun := len(r.Result.Faults) > 0
	lateText, late := doubtText(r, results.DoubtLate)
	orderText, unknownOrder := doubtText(r, results.DoubtOrderUnknown)
	// An act that failed, or one without the act that ends it, may have left the broker down with its messages.
	t.lossesUnsure = late || undone != "" && begun
	if t.lossesUnsure {
		t.books.LostAcked = 0 // duplicates and reordering still count
	}
	asked := r
	if undone != "" && !begun {
		asked.Spec.Faults = nil // nothing was done to the broker, so no fault explains a loss
	}
	judged := results.Promise(asked, t.books)
	t.verdict, t.why = verdictOf[judged.Promise], wordVerdict(judged, t.books)
	switch {
	case t.verdict == verdictBroken:
		t.why = joinClauses(t.why, undone)
	case undone != "":
		t.verdict, t.why = verdictVoid, undone
	case late:
		t.verdict, t.why = verdictVoid, lateText
	case r.Status == results.Void || r.Status == results.Failed:
		t.verdict, t.why = verdictVoid, r.Reason
	case unknownOrder && r.Spec.Ordering == "ordered":
		t.verdict, t.why = verdictUndecided, joinClauses(t.why, orderText)
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

// doubtText is the text of a record's first doubt with a code. ok is false if there is none.
func doubtText(r results.Record, code string) (text string, ok bool) {
	for _, d := range r.Doubts {
		if d.Code == code {
			return d.Text, true
		}
	}
	return "", false
}

// wordVerdict states the counts that a verdict rests on.
func wordVerdict(v ledger.Verdict, b results.Books) string {
	clauses := []string{wordDeviations(v, b)}
	if 2*b.Acked < b.Sent && v.Promise != ledger.Broken {
		clauses = append(clauses, fmt.Sprintf("only %d of %d were acknowledged", b.Acked, b.Sent))
	}
	if b.Unresolved > 0 {
		clauses = append(clauses, fmt.Sprintf("%d were neither confirmed nor refused", b.Unresolved))
	}
	return joinClauses(clauses...)
}

// wordDeviations states the counts of deviations. It is empty if nothing deviates but the fate of some messages is unknown.
func wordDeviations(v ledger.Verdict, b results.Books) string {
	switch {
	case v.Promise == ledger.Broken:
		return wordCounts(v.Breaches)
	case v.Promise == ledger.NoneMade && b.LostAcked > 0:
		return fmt.Sprintf("%s: %d of %d acknowledged messages were lost", gapWords[v.Gap], b.LostAcked, b.Acked)
	case v.Promise == ledger.NoneMade:
		return gapWords[v.Gap] + ", but no acknowledged message was lost"
	case len(v.Allowed) > 0:
		return wordCounts(v.Allowed) + ", which it allows"
	case b.Unresolved == 0:
		return "nothing lost or delivered twice"
	}
	return ""
}

// wordCounts lists counts: "3 lost, 1 delivered twice".
func wordCounts(counts []ledger.Count) string {
	var words []string
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%d %s", c.Messages, deviationWords[c.Deviation]))
	}
	return strings.Join(words, ", ")
}

var deviationWords = map[ledger.Deviation]string{
	ledger.Corrupted: "corrupted", ledger.Lost: "lost", ledger.Duplicated: "delivered twice", ledger.Reordered: "out of order",
}

// gapWords say why no promise was made.
var gapWords = map[ledger.Gap]string{ledger.InMemory: "held in memory only", ledger.LeaderOnly: "confirmed by the leader only, which others take over from"}

// joinClauses joins the clauses that are not empty.
func joinClauses(clauses ...string) string {
	return strings.Join(slices.DeleteFunc(clauses, func(c string) bool { return c == "" }), "; ")
}

// broker is the broker's name with the version that ran.
func (t faultTrial) broker() string {
	return strings.TrimSpace(t.record.Spec.Broker + " " + t.record.Versions.Broker)
}

// compare orders trials by broker, guarantee, the weakest first, fault and repetition.
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
