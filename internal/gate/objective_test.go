package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestAnObjectiveIsABoundOfAMetricAndABadOneSaysWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		metric string
		bound  any
		want   string // its text, or what the complaint holds
		bad    bool
	}{
		{"e2e_p9", "< 20ms", `unknown metric "e2e_p9"`, true},
		{"e2e_p99", "= 20ms", `"= 20ms" is no objective; allowed: < <= > >= and a value`, true},
		{"e2e_p99", "!= 20ms", `"!= 20ms" is no objective`, true},
		{"e2e_p99", "<", `"<" is no objective`, true},
		{"e2e_p99", 20, "a time with its unit", true},
		{"e2e_p99", "< 5%", "is no share of anything", true},
		{"e2e_p99", "<20ms", "e2e_p99 < 20ms", false},
		{"e2e_p99", "20ms", "e2e_p99 <= 20ms", false},
		{"publish_rate", "> 99%", "publish_rate > 99%", false},
		{"sustainable", "10k/s", "sustainable >= 10k/s", false},
		{"lost", 0, "lost <= 0", false},
		{"acked", 200, `neither more nor less of it is better; allowed: < <= > >= and a value, such as ">= 200"`, true},
		{"received", "100%", `such as ">= 100%"`, true},
		{"received", "all", `"all" is no value here; allowed: a number`, true},
		{"received", ">= 100%", "received >= 100%", false},
		{"due", "<= 200", "due <= 200", false},
	} {
		got, err := gate.ParseObjective(c.metric, c.bound)
		switch {
		case c.bad && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v: %v, want a complaint with %q", c.metric, c.bound, err, c.want)
		case !c.bad && (err != nil || got.Text != c.want):
			t.Errorf("%s: %v: %q, %v; want %q", c.metric, c.bound, got.Text, err, c.want)
		}
	}
}

func TestEveryPointIsJudgedByItsOwnObjectives(t *testing.T) {
	record := func(id string, sent, lost int64, asked study.Objectives) store.Record {
		r := store.Record{PointID: id, Repetition: 1, Status: store.OK, Spec: study.Spec{Broker: id, Measure: "rate", MessageSize: study.Sizes{{Size: 100, Weight: 1}}, Objectives: asked}}
		r.Result = &store.Result{Measurement: store.Measurement{OfferedRate: 1000, PublishRate: float64(sent)}}
		r.Result.Books = store.Books{Due: 1000, Sent: sent, Acked: sent, Expected: sent, Received: sent - lost, Lost: lost}
		return r
	}
	both := study.Objectives{"lost": 0, "publish_rate": "> 99%"}
	failed := record("d", 1000, 0, both)
	failed.Status, failed.Reason = store.Failed, "the broker died"
	verdicts := gate.JudgeObjectives(results.Of([]store.Record{
		record("a", 1000, 0, both), record("b", 900, 3, both), record("c", 500, 5, nil), failed,
	}))
	var got []string
	for _, v := range verdicts {
		got = append(got, v.Point[:1]+" "+v.Condition+" "+string(v.Outcome))
	}
	want := "a lost <= 0 passed, a publish_rate > 99% passed, b lost <= 0 failed, b publish_rate > 99% failed, d lost <= 0 failed, d publish_rate > 99% failed"
	if said := strings.Join(got, ", "); said != want {
		t.Errorf("verdicts\n%s\nwant\n%s", said, want)
	}
	if n := gate.Failures(verdicts); n != 4 {
		t.Errorf("%d failures, want 4", n)
	}
}

func TestAnObjectiveThatNoPointCouldBeJudgedByFails(t *testing.T) {
	count := func(id string, asked study.Objectives) store.Record {
		r := store.Record{PointID: id, Repetition: 1, Status: store.OK, Result: &store.Result{}, Spec: study.Spec{Broker: id, Measure: "count", Objectives: asked}}
		r.Result.Books = store.Books{Due: 10, Sent: 10, Acked: 10, Expected: 10, Received: 10}
		return r
	}
	var got []string
	for _, v := range gate.JudgeObjectives(results.Of([]store.Record{count("a", study.Objectives{"drain_rate": "> 5k/s", "lost": 0}), count("b", nil)})) {
		got = append(got, string(v.Outcome)+" "+strings.Split(v.Point, ",")[0]+": "+v.Condition)
	}
	want := "skipped a: drain_rate > 5k/s, passed a: lost <= 0, failed all points: drain_rate > 5k/s"
	if said := strings.Join(got, ", "); said != want {
		t.Errorf("got %s", said)
	}
}

func TestAnObjectiveThatThisVersionCannotReadIsNotPassedOver(t *testing.T) {
	record := store.Record{PointID: "a", Repetition: 1, Status: store.OK, Result: &store.Result{}}
	record.Spec = study.Spec{Broker: "a", Measure: "count", Objectives: study.Objectives{"lost": 0, "regret": "< 3"}}
	record.Result.Books = store.Books{Due: 10, Sent: 10, Acked: 10, Expected: 10, Received: 10}
	var got []string
	verdicts := gate.JudgeObjectives(results.Of([]store.Record{record}))
	for _, v := range verdicts {
		got = append(got, v.Condition+": "+string(v.Outcome)+": "+v.Text)
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "lost <= 0: passed") ||
		!strings.HasPrefix(got[1], `regret < 3: failed: this version can't read the objective: unknown metric "regret"`) {
		t.Errorf("got %q", got)
	}
	if n := gate.Failures(verdicts); n != 1 {
		t.Errorf("%d failures, want 1", n)
	}
}

func TestObjectivesThatThisVersionCannotReadTakeNoLongTimeToSay(t *testing.T) {
	record := store.Record{Repetition: 1, Status: store.OK, Result: &store.Result{}, Spec: study.Spec{Broker: "a", Measure: "count", Objectives: study.Objectives{}}}
	for i := range 200 {
		record.Spec.Objectives[fmt.Sprintf("e2e_regret%d", i)] = 1
	}
	var records []store.Record
	for i := range 50 {
		record.PointID = fmt.Sprint("a", i)
		records = append(records, record)
	}
	began := time.Now()
	if n := gate.Failures(gate.JudgeObjectives(results.Of(records))); n != 50*200 {
		t.Errorf("%d failures, want 10000", n)
	}
	if took := time.Since(began); took > 10*time.Second { // minutes where the closest metrics are looked for
		t.Errorf("it took %s", took)
	}
}

func TestAnObjectiveThatNoPointMeasuresIsRefused(t *testing.T) {
	asks := func(metric string, change func(*study.Spec)) study.Spec {
		s := study.Spec{Measure: "rate", SubscriptionsPerTopic: 1, Load: study.Load{Rate: 100}, Objectives: study.Objectives{metric: ">= 1"}}
		if strings.HasPrefix(metric, "e2e") || strings.HasPrefix(metric, "total") {
			s.Objectives[metric] = ">= 1s"
		}
		change(&s)
		return s
	}
	measure := func(m string) func(*study.Spec) {
		return func(s *study.Spec) { s.Measure, s.Load.Rate = m, 0 }
	}
	for _, c := range []struct {
		specs []study.Spec
		want  string // what the complaint holds; "" for none
	}{
		{[]study.Spec{asks("sustainable", measure("count"))}, "objectives.sustainable: measure: count doesn't find it; measure: sustainable and curve without rates do"},
		{[]study.Spec{asks("sustainable", measure("sustainable"))}, ""},
		{[]study.Spec{asks("sustainable", measure("curve"))}, ""},
		{[]study.Spec{asks("sustainable", func(s *study.Spec) { s.Measure, s.Curve.Rates = "curve", []float64{1000} })}, "without rates"},
		{[]study.Spec{asks("sustainable", measure("count")), asks("sustainable", measure("sustainable"))}, ""},
		{[]study.Spec{asks("knee_rate", measure("rate"))}, "measure: curve"},
		{[]study.Spec{asks("total_s", measure("count"))}, ""},
		{[]study.Spec{asks("total", measure("backlog"))}, "measure: backlog doesn't find it; measure: count does"},
		{[]study.Spec{asks("drain_rate", measure("count"))}, "measure: backlog does"},
		{[]study.Spec{asks("e2e_p99", measure("peak"))}, "measure: peak is a closed loop"},
		{[]study.Spec{asks("e2e_p99", measure("count"))}, "closed loop"},
		{[]study.Spec{asks("e2e_p99", measure("sustainable"))}, ""},
		{[]study.Spec{asks("e2e_p99", func(s *study.Spec) { s.SubscriptionsPerTopic = 0 })}, "nothing is received with subscriptionsPerTopic: 0"},
		{[]study.Spec{asks("queue_max", func(*study.Spec) {})}, "only a pipeline has it"},
		{[]study.Spec{asks("relay_cpu", func(*study.Spec) {})}, "relays: 0"},
		{[]study.Spec{asks("lost", measure("peak"))}, ""},
		{[]study.Spec{asks("throughput", func(s *study.Spec) { s.Measure, s.Objectives["throughput"] = "peak", "> 99%" })}, "offers no rate"},
	} {
		var points []study.Point
		for _, s := range c.specs {
			points = append(points, study.Point{Spec: s})
		}
		_, err := gate.Unmeasured(points)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want %q", c.specs[0].Objectives, c.specs[0].Measure, err, c.want)
		}
		asked, _ := gate.Objectives(c.specs[0]) // of a run's own --fail-if it is the same
		if err := gate.Unanswerable(points, asked); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), strings.TrimPrefix(c.want, "objectives.sustainable: ")) {
			t.Errorf("as conditions %s of %s: %v, want %q", c.specs[0].Objectives, c.specs[0].Measure, err, c.want)
		}
	}
}
