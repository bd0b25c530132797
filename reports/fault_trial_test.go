package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestTheWordsOfAFaultAndAGuarantee(t *testing.T) {
	second := study.Duration(time.Second)
	for want, faults := range map[string][]study.Fault{
		"kill -9":                   {{Do: "kill"}},
		"kill -9, 1s":               {{Do: "kill", Node: "1", For: second}},
		"kill -9 leader, 1s":        {{Do: "kill", Node: "leader", For: second}},
		"pause leader, 1s":          {{Do: "pause", Node: "leader", For: second}},
		"pause, 1s, node 2":         {{Do: "pause", Node: "2", For: second}},
		"restart; pause, all nodes": {{Do: "restart"}, {Do: "pause", Node: "all"}},
		"kill -9, 1s, server-1":     {{Do: "kill", Node: "server-1", For: second}},
		"pause, 1s, balancer":       {{Do: "pause", Node: "balancer", For: second}},
	} {
		if got := faultText(faults); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, s := range map[string]study.Spec{
		"d, p":                      {Delivery: "d", Persistence: "p", Replicas: 1, Ordering: "ordered"},
		"d, p, 3 copies":            {Delivery: "d", Persistence: "p", Replicas: 3, Ordering: "ordered"},
		"d, p, 2 copies, unordered": {Delivery: "d", Persistence: "p", Replicas: 2, Ordering: "unordered"},
	} {
		if got := guaranteeText(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		books store.Books
		wrong bool
	}{
		{store.Books{Due: 6, Sent: 6, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 8, Lost: 4}, false},
		{store.Books{Due: 7, Sent: 7, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 8, Lost: 4}, true},
		{store.Books{Due: 6, Sent: 6, Acked: 3, Failed: 2, Unresolved: 1, Expected: 12, Received: 9, Lost: 4}, true},
	} {
		if c.books.Balanced() == c.wrong {
			t.Errorf("%+v: unbalanced %v", c.books, !c.wrong)
		}
	}
}

func TestCalmIsWithoutFaults(t *testing.T) {
	quiet, faulty := atRate("kafka", 1), altered(atRate("kafka", 1), "f", func(r *store.Record) { r.Spec.Faults = []study.Fault{{Do: "kill"}} })
	points := results.Of(append(quiet, faulty...)).Points
	if got := rankable(points); len(got) != 1 || len(got[0].Spec.Faults) != 0 || len(points) != 2 {
		t.Errorf("%d of %d are calm", len(got), len(points))
	}
	text := string(rendered(t, build(t, "summary", append(quiet, faulty...)), "markdown", 0))
	if !strings.Contains(text, "Through faults. ") || strings.Contains(string(rendered(t, build(t, "summary", quiet), "markdown", 0)), "Through faults") {
		t.Errorf("faults are told where there are any: %s", text)
	}
}

// trialOf is the row of the promise report about one record.
func trialOf(t *testing.T, r store.Record) document.Row {
	t.Helper()
	return build(t, "promise", []store.Record{r}).Tables()[0].Rows[0]
}

func TestAPromiseIsOnlyJudgedWhereItWasTested(t *testing.T) {
	record := func(fault study.Fault, change func(*store.Record)) store.Record {
		r := through("b", "at-least-once", "log", fault, store.Books{})
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		record store.Record
		want   string
		says   string
	}{
		"without a result": {record(kill, func(r *store.Record) { r.Result, r.Status, r.Reason = nil, store.Failed, "no broker" }), "void", "nothing was measured: no broker"},
		"nothing was sent": {record(kill, func(r *store.Record) {
			r.Result.Books, r.Status, r.Reason = store.Books{}, store.Failed, "no connection"
		}), "void", "nothing was measured: no connection"},
		"one was sent": {record(kill, func(r *store.Record) {
			r.Result.Books = store.Books{Due: 1, Sent: 1, Acked: 1, Expected: 1, Received: 1}
		}), "kept", "nothing lost or delivered twice"},
		"interrupted":            {record(kill, func(r *store.Record) { r.Status, r.Reason = store.Aborted, "interrupted" }), "void", "interrupted"},
		"one message too many":   {record(kill, func(r *store.Record) { r.Result.Books.Sent++ }), "void", "the books don't balance"},
		"a delivery too few":     {record(kill, func(r *store.Record) { r.Result.Books.Received-- }), "void", "the books don't balance"},
		"no fault happened":      {record(kill, func(r *store.Record) { r.Result.Faults = nil }), "void", "the fault was not carried out: 0 of 2 acts happened"},
		"it was never restarted": {record(kill, func(r *store.Record) { r.Result.Faults = r.Result.Faults[:1] }), "void", "the fault was not carried out: 1 of 2 acts happened"},
		"all three nodes were killed, and none was restarted": {record(kill, func(r *store.Record) {
			r.Spec.Nodes, r.Spec.Faults[0].Node = 3, "all"
			r.Result.Faults = []store.FaultEvent{{Do: "kill", Node: 1}, {Do: "kill", Node: 2}, {Do: "kill", Node: 3}}
		}), "void", "the fault was not carried out: 3 of 6 acts happened"},
		"restarted before its time, as the spec lists": {record(kill, func(r *store.Record) {
			listed := study.Fault{At: r.Spec.Faults[0].At, Do: "restart", Node: r.Spec.Faults[0].Node}
			r.Spec.Faults = append(slices.Clone(r.Spec.Faults), listed)
		}), "kept", "nothing lost or delivered twice"},
		"restarted when its time is over, and once more": {record(kill, func(r *store.Record) {
			first := r.Spec.Faults[0]
			r.Spec.Faults = []study.Fault{first, {At: first.At + first.For, Do: "restart", Node: first.Node}}
		}), "void", "the fault was not carried out: 2 of 3 acts happened"},
		"killed twice, and one restart for both": {record(kill, func(r *store.Record) {
			at, node := r.Spec.Faults[0].At, r.Spec.Faults[0].Node
			second := study.Duration(time.Second)
			r.Spec.Faults = []study.Fault{
				{At: at, Do: "kill", Node: node, For: 9 * second},
				{At: at + second, Do: "kill", Node: node, For: 9 * second},
				{At: at + 2*second, Do: "restart", Node: node}, // of the later kill: the end of the first is still to come
			}
			r.Result.Faults = []store.FaultEvent{{Do: "kill"}, {Do: "kill"}, {Do: "restart"}}
		}), "void", "the fault was not carried out: 3 of 4 acts happened"},
		"another node restarted before its time": {record(kill, func(r *store.Record) {
			r.Spec.Faults = append(slices.Clone(r.Spec.Faults), study.Fault{At: r.Spec.Faults[0].At, Do: "restart", Node: "2"})
		}), "void", "the fault was not carried out: 2 of 3 acts happened"},
		"lost before any fault began": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			r.Result.Faults, b.Received, b.Lost, b.LostAcked = nil, b.Received-9, 9, 9
		}), "broken", "9 lost; the fault was not carried out: 0 of 2 acts happened"},
		"lost from memory before any fault began": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			r.Spec.Persistence, r.Result.Faults, b.Received, b.Lost, b.LostAcked = "memory", nil, b.Received-9, 9, 9
		}), "broken", "9 lost; the fault was not carried out: 0 of 2 acts happened"},
		"lost in a broker that stayed down": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			r.Result.Faults, b.Received, b.Lost, b.LostAcked = r.Result.Faults[:1], b.Received-9, 9, 9
		}), "void", "the fault was not carried out: 1 of 2 acts happened"},
		"delivered twice by a broker that stayed down": {record(kill, func(r *store.Record) {
			r.Spec.Delivery, r.Result.Faults, r.Result.Books.Duplicated = "exactly-once", r.Result.Faults[:1], 2
		}), "broken", "2 delivered twice; the fault was not carried out: 1 of 2 acts happened"},
		"the only one was not acknowledged": {record(kill, func(r *store.Record) {
			r.Result.Books = store.Books{Due: 1, Sent: 1, Failed: 1, Expected: 1, Lost: 1}
		}), "kept", "nothing lost or delivered twice; only 0 of 1 were acknowledged"},
		"a restart is one act":    {record(restart, func(*store.Record) {}), "kept", "nothing lost or delivered twice"},
		"the kill itself failed":  {record(kill, func(r *store.Record) { r.Result.Faults[0].Err = "no such process" }), "void", "the fault was not carried out: kill: no such process"},
		"corrupted, at most once": {record(kill, func(r *store.Record) { r.Spec.Delivery, r.Result.Books.Corrupted = "at-most-once", 3 }), "broken", "3 corrupted"},
		"out of order, unordered": {record(kill, func(r *store.Record) { r.Spec.Ordering, r.Result.Books.Reordered = "unordered", 4 }), "kept", "4 out of order, which it allows"},
		"an unknown fate": {record(kill, func(r *store.Record) {
			r.Result.Books.Acked, r.Result.Books.Unresolved = r.Result.Books.Acked-2, 2
		}), "kept", "2 were neither confirmed nor refused"},
		"an unknown fate and duplicates": {record(kill, func(r *store.Record) {
			r.Result.Books.Acked, r.Result.Books.Unresolved, r.Result.Books.Duplicated = r.Result.Books.Acked-2, 2, 5
		}), "kept", "5 delivered twice, which it allows; 2 were neither confirmed nor refused"},
		"an unknown fate and a loss": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			b.Acked, b.Unresolved, b.Received, b.Lost, b.LostAcked = b.Acked-2, 2, b.Received-9, 9, 9
		}), "broken", "9 lost; 2 were neither confirmed nor refused"},
		"memory, restarted, lost nothing": {record(restart, func(r *store.Record) { r.Spec.Persistence = "memory" }), "none made", "held in memory only, but no acknowledged message was lost"},
		"the leader alone, killed, lost nothing": {record(kill, func(r *store.Record) {
			r.Spec.Acks, r.Spec.Replicas, r.Failover = "leader", 3, true
		}), "none made", "confirmed by the leader only, which others take over from, but no acknowledged message was lost"},
		"the leader alone, killed": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			r.Spec.Acks, r.Spec.Replicas, r.Failover, b.Received, b.Lost, b.LostAcked = "leader", 3, true, b.Received-9, 9, 9
		}), "none made", "confirmed by the leader only, which others take over from: 9 of 10000 acknowledged messages were lost"},
		"the leader alone, which came back": {record(kill, func(r *store.Record) {
			b := &r.Result.Books
			r.Spec.Acks, r.Spec.Replicas, b.Received, b.Lost, b.LostAcked = "leader", 3, b.Received-9, 9, 9
		}), "broken", "9 lost"},
		"memory, at most once":    {record(kill, func(r *store.Record) { r.Spec.Persistence, r.Spec.Delivery = "memory", "at-most-once" }), "kept", "nothing lost or delivered twice"},
		"refused before all else": {record(kill, func(r *store.Record) { r.Result, r.Status, r.Reason = nil, store.Refused, "can't" }), "refused", "can't"},
	} {
		row := trialOf(t, c.record)
		if row["verdict"].Text != c.want || row["why"].Text != c.says {
			t.Errorf("%s: %s (%s), want %s (%s)", name, row["verdict"].Text, row["why"].Text, c.want, c.says)
		}
		counted := c.record.Result != nil
		for _, key := range []string{"sent", "acked", "failed", "resent", "lost_acked", "duplicated", "reordered", "outage_ns"} {
			if cell := row[key]; (cell.Kind == document.Figure) != counted || cell.Unused != (counted && c.want == "void") {
				t.Errorf("%s: %s is %+v", name, key, cell)
			}
		}
	}
}
