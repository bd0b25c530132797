package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

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
			r.Result.Books = store.Books{Sent: 1, Acked: 1, Expected: 1, Received: 1}
		}), "kept", "nothing lost or delivered twice"},
		"interrupted":            {record(kill, func(r *store.Record) { r.Status, r.Reason = store.Aborted, "interrupted" }), "void", "interrupted"},
		"one message too many":   {record(kill, func(r *store.Record) { r.Result.Books.Sent++ }), "void", "the books don't balance"},
		"a delivery too few":     {record(kill, func(r *store.Record) { r.Result.Books.Received-- }), "void", "the books don't balance"},
		"no fault happened":      {record(kill, func(r *store.Record) { r.Result.Faults = nil }), "void", "the fault was not carried out: 0 of 2 acts happened"},
		"it was never restarted": {record(kill, func(r *store.Record) { r.Result.Faults = r.Result.Faults[:1] }), "void", "the fault was not carried out: 1 of 2 acts happened"},
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
			r.Result.Books = store.Books{Sent: 1, Failed: 1, Expected: 1, Lost: 1}
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

func TestARecordThatIsNoJSONIsAnErrorThatNamesItsPoint(t *testing.T) {
	r, err := Lookup("points")
	if err != nil {
		t.Fatal(err)
	}
	spec, settings := atRate("kafka", 1)[0], atRate("kafka", 1)[0]
	spec.Spec.Client = map[string]any{"f": math.NaN()}
	settings.Settings.Client = map[string]any{"f": math.Inf(1)}
	for _, broken := range []store.Record{spec, settings} {
		if _, err := r.Build(results.Of([]store.Record{broken})); err == nil || !strings.Contains(err.Error(), "point "+broken.PointID+" as YAML: json: unsupported value") {
			t.Errorf("got %v", err)
		}
	}
}

func TestARateOfACurveThatFailedSaysWhyInANoteOfItsOwn(t *testing.T) {
	r := curved(1)
	r.Result.Curve[1].Status, r.Result.Curve[1].Reason = store.Failed, "lost 5"
	r.Result.Curve[2].Status, r.Result.Curve[2].Reason = store.Void, "the generator was late"
	d := build(t, "summary", []store.Record{r})
	table, notes := d.Tables()[0], d.Notes()
	for i, want := range []string{"", "", "curve 50.0 %, failed: lost 5", "curve 90.0 %, void: the generator was late"} {
		status := table.Rows[i]["status"]
		var texts []string
		for _, mark := range status.Marks {
			texts = append(texts, notes[mark])
		}
		if got := strings.Join(texts, "|"); got != want {
			t.Errorf("row %d, %s: notes %q, want %q", i, status.Text, got, want)
		}
		if table.Rows[i]["publish_rate"].Unused != (i > 1) {
			t.Errorf("row %d: %+v", i, table.Rows[i]["publish_rate"])
		}
	}
}

func TestAnOkRecordWithoutAResultHasNoFigures(t *testing.T) {
	bare := altered(atRate("kafka", 2), "", func(*store.Record) {})
	bare[1].Result = nil
	curve := altered(bare[:1], "curve", func(r *store.Record) { r.Spec.Measure = "curve" })
	curve[0].Result = nil
	peak := altered(atRate("kafka", 1), "peak", func(r *store.Record) { r.Spec.Measure = "peak" })
	peak[0].Result = nil
	table := build(t, "headtohead", slices.Concat(bare, curve, peak)).Tables()[0]
	alone := build(t, "headtohead", bare[:1]).Tables()[0]
	for _, key := range []string{"e2e_p99_ns_at_1000", "generator_cpu_s_per_million", "peak_rate", "sustainable"} {
		if got, want := cellsOf(t, table, key)["kafka"], cellsOf(t, alone, key)["kafka"]; got.Number != want.Number || got.Kind != want.Kind {
			t.Errorf("%s is %+v, want %+v", key, got, want)
		}
	}
}

func TestNoMoreThanTwoSettingsSetWorkloadsApart(t *testing.T) {
	var records []store.Record
	for i, persistence := range []string{"log", "memory"} {
		records = append(records, altered(atRate("kafka", 1), fmt.Sprint(i), func(r *store.Record) {
			r.Spec.Measure, r.Spec.Load = "peak", study.Load{}
			r.Spec.Persistence, r.Spec.Replicas, r.Spec.Acks, r.Spec.Nodes = persistence, 1+2*i, []string{"leader", "quorum"}[i], 1+2*i
		})...)
	}
	text := textOf(rankingVerdicts(group{"g", results.Of(records).Points}))
	for _, want := range []string{"With persistence log, replicas 1, only kafka", "With persistence memory, replicas 3, only kafka"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "acks") {
		t.Errorf("more than two settings are named: %s", text)
	}
}

func TestAnObjectiveThatNothingWasMeasuredForIsNotCalledMissed(t *testing.T) {
	r := store.Record{PointID: "a", Repetition: 1, Status: store.OK, Result: &store.Result{}, Spec: study.Spec{
		Broker: "kafka", Measure: "count", Objectives: study.Objectives{"drain_rate": "> 5k/s"},
	}}
	verdicts := objectives(results.Of([]store.Record{r}))
	if len(verdicts) != 1 || verdicts[0].Finding != "Nothing was measured that could be judged by it." {
		t.Errorf("got %+v", verdicts)
	}
}

func TestTheBestIsComparedWithTheMedianOfAllAlsoOfAnEvenNumber(t *testing.T) {
	var records []store.Record
	for i, rate := range []float64{4000, 3000, 1000, 500} {
		records = append(records, store.Record{
			PointID: fmt.Sprint(i), Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"},
			Result: &store.Result{Measurement: store.Measurement{PublishRate: rate}},
		})
	}
	points := results.Of(records).Points
	s := sweep{metric: results.MustMetric(results.KeyPublishRate), points: points, best: points}
	if got := s.verdict().Finding; !strings.Contains(got, "4k/s, 2.00× the median of all.") {
		t.Errorf("got %q", got)
	}
}
