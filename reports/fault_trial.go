// A fault trial is a repetition in which the broker was killed, paused or restarted on purpose. It is
// judged by what the broker promised. With at-least-once delivery, of 10,000 acknowledged messages 3 that
// were never delivered break the promise, and 5 that were delivered twice do not. Package ledger holds
// these rules. Here it is decided what a trial can show at all: if the kill itself failed, it is void.

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/ledger"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// faultTrial is a repetition with planned faults, and the verdict on the broker's promise.
type faultTrial struct {
	record         results.Record
	books          results.Books // the record's books as they are judged: without losses if lossesUnproven
	lossesUnproven bool          // missing messages may be late, or in a broker that wasn't started again
	verdict        promiseVerdict
	why            string // what the verdict rests on: counts, such as "3 lost", or a defect of the trial
}

// promiseVerdict is a verdict in the words of docs/guarantees.md.
type promiseVerdict string

const (
	verdictKept      promiseVerdict = "kept"
	verdictBroken    promiseVerdict = "broken"
	verdictUndecided promiseVerdict = "undecided" // not broken, but the agents' clocks do not show whether order was kept
	verdictNoneMade  promiseVerdict = "none made" // the guarantee covers no message after such a fault
	verdictVoid      promiseVerdict = "void"      // the trial shows nothing
	verdictRefused   promiseVerdict = "refused"   // the broker doesn't offer the guarantee
)

// promiseVerdicts has every verdict, in the order in which a report counts them.
var promiseVerdicts = []promiseVerdict{
	verdictKept, verdictBroken, verdictUndecided, verdictNoneMade, verdictVoid, verdictRefused,
}

// judgeFaultTrial judges a repetition with planned faults. Where books show anything, a breach in them counts, however poor the
// trial was. A trial without a breach shows something only if the faults happened and the measurement was sound.
func judgeFaultTrial(r results.Record) faultTrial {
	t := faultTrial{record: r, books: booksOf(r)}
	if verdict, why := verdictWithoutBooks(r, t.books); verdict != "" {
		return t.judged(verdict, why)
	}
	t.lossesUnproven = hasDoubt(r, doubt.Late) || mayBeDown(r)
	if t.lossesUnproven {
		t.books.LostAcked = 0 // duplicates and reordering still count
	}
	promise := promiseUnderFaults(r, t.books)
	counts := promiseText(promise, t.books)
	if promise.Promise == ledger.Broken {
		return t.judged(verdictBroken, lists.Join("; ", counts, faultNotDone(r)))
	}
	if defect, isDefective := trialDefect(r); isDefective {
		return t.judged(verdictVoid, defect)
	}
	switch {
	case orderUnknown(r) && r.Spec.Ordering == "ordered":
		return t.judged(verdictUndecided, lists.Join("; ", counts, doubtText(r, doubt.OrderUnknown)))
	case promise.Promise == ledger.NoneMade:
		return t.judged(verdictNoneMade, counts)
	}
	return t.judged(verdictKept, counts)
}

// verdictWithoutBooks is the verdict on a repetition whose books show nothing about the promise, and why they don't. It is empty if
// they do.
func verdictWithoutBooks(r results.Record, books results.Books) (verdict promiseVerdict, why string) {
	switch {
	case r.Status == results.Refused:
		return verdictRefused, r.Reason
	case books.Sent == 0:
		return verdictVoid, lists.Join(": ", "nothing was measured", r.Reason)
	case r.Status == results.Aborted:
		return verdictVoid, r.Reason
	case !books.Balanced():
		return verdictVoid, "the books don't balance"
	}
	return "", ""
}

// mayBeDown reports whether the broker may have been left down with its messages, as by a kill without its restart.
func mayBeDown(r results.Record) bool { return len(r.Result.Faults) > 0 && faultNotDone(r) != "" }

// promiseUnderFaults judges books by what was promised. If nothing was done to the broker, no fault explains a loss.
func promiseUnderFaults(r results.Record, books results.Books) ledger.Verdict {
	if len(r.Result.Faults) == 0 {
		r.Spec.Faults = nil
	}
	return results.Promise(r, books)
}

// trialDefect says why a trial shows nothing if it shows no breach.
func trialDefect(r results.Record) (defect string, isDefective bool) {
	notDone := faultNotDone(r)
	switch {
	case notDone != "":
		return notDone, true
	case hasDoubt(r, doubt.Late):
		return doubtText(r, doubt.Late), true
	case r.Status == results.Void || r.Status == results.Failed:
		return r.Reason, true
	}
	return "", false
}

func (t faultTrial) judged(v promiseVerdict, why string) faultTrial {
	t.verdict, t.why = v, why
	return t
}

// faultNotDone names a planned fault that was not carried out as planned. It is empty if all were.
func faultNotDone(r results.Record) string {
	planned := plannedActs(r.Spec)
	missing := slices.Clone(planned) // without their nodes: no act is done to another node than planned
	for _, act := range r.Result.Faults {
		if act.Err != "" {
			return fmt.Sprintf("the fault was not carried out: %s: %s", act.Do, act.Err)
		}
		if i := slices.Index(missing, act.Do); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
	}
	if len(missing) > 0 {
		return fmt.Sprintf("the fault was not carried out: %d of %d acts happened", len(planned)-len(missing), len(planned))
	}
	return ""
}

// plannedActs lists what has to be done for the faults of a spec. A kill of all three nodes for 5 s is six
// acts: three times "kill", and three times "restart".
func plannedActs(s study.Spec) []string {
	var acts []string
	for _, a := range study.Acts(s.Faults) {
		nodes := 1
		if a.Node == "all" {
			nodes = max(1, s.Nodes)
		}
		acts = append(acts, slices.Repeat([]string{a.Do}, nodes)...)
	}
	return acts
}

// promiseText states the counts that the ledger's answer rests on.
func promiseText(v ledger.Verdict, b results.Books) string {
	clauses := []string{deviationsText(v, b)}
	mostUnacked := b.Acked < b.Sent-b.Acked
	if mostUnacked && v.Promise != ledger.Broken {
		clauses = append(clauses, fmt.Sprintf("only %d of %d were acknowledged", b.Acked, b.Sent))
	}
	if b.Unresolved > 0 {
		clauses = append(clauses, fmt.Sprintf("%d were neither confirmed nor refused", b.Unresolved))
	}
	return lists.Join("; ", clauses...)
}

// deviationsText states the counts of deviations. It is empty if there are none, but the fate of some
// messages is unknown.
func deviationsText(v ledger.Verdict, b results.Books) string {
	switch {
	case v.Promise == ledger.Broken:
		return countsText(v.Breaches)
	case v.Promise == ledger.NoneMade && b.LostAcked > 0:
		return fmt.Sprintf("%s: %d of %d acknowledged messages were lost", gapTexts[v.Gap], b.LostAcked, b.Acked)
	case v.Promise == ledger.NoneMade:
		return gapTexts[v.Gap] + ", but no acknowledged message was lost"
	case len(v.Allowed) > 0:
		return countsText(v.Allowed) + ", which it allows"
	case b.Unresolved == 0:
		return "nothing lost or delivered twice"
	}
	return ""
}

// countsText lists counts: "3 lost, 1 delivered twice".
func countsText(counts []ledger.Count) string {
	words := lists.Map(counts, func(c ledger.Count) string { return fmt.Sprintf("%d %s", c.Messages, deviationTexts[c.Deviation]) })
	return strings.Join(words, ", ")
}

var deviationTexts = map[ledger.Deviation]string{
	ledger.Corrupted: "corrupted", ledger.Lost: "lost", ledger.Duplicated: "delivered twice", ledger.Reordered: "out of order",
}

// gapTexts say why no promise was made.
var gapTexts = map[ledger.Gap]string{
	ledger.InMemory: "held in memory only", ledger.LeaderOnly: "confirmed by the leader only, which others take over from",
}

// faultText names planned faults, with how long they last and what they hit: "kill -9, 1s, node 2".
func faultText(faults []study.Fault) string {
	var texts []string
	for _, f := range faults {
		text := f.Do
		if text == "kill" {
			text = "kill -9"
		}
		if f.Node == "leader" {
			text += " leader"
		}
		if f.For > 0 {
			text += ", " + time.Duration(f.For).String()
		}
		texts = append(texts, text+targetText(f.Node))
	}
	return strings.Join(texts, "; ")
}

// targetText names the node, or the part of a pipeline, that a fault hits: ", node 2". It is empty for
// the first node, and for the leader, which faultText names before the duration.
func targetText(node string) string {
	switch node {
	case "", "1", "leader":
		return ""
	case "all":
		return ", all nodes"
	}
	if _, err := strconv.Atoi(node); err == nil {
		return ", node " + node
	}
	return ", " + node
}

// broker is the broker's name with the version that ran.
func (t faultTrial) broker() string {
	return strings.TrimSpace(t.record.Spec.Broker + " " + t.record.Versions.Broker)
}

// compare orders trials by broker, guarantee, fault and repetition.
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

// The words for the parts of a guarantee, the weakest first.
var (
	deliveries   = []string{"at-most-once", "at-least-once", "exactly-once"}
	persistences = []string{"memory", "log", "fsync"}
)
