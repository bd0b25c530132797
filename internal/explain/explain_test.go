package explain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// stored makes the records of a case: rates without a change, and with each.
func stored(c Case, rates map[string][]float64) (all []results.Record) {
	for _, change := range []string{Unchanged, twiceTheWindow.Name, coreLess.Name} {
		for i, rate := range rates[change] {
			r := results.Record{
				Study: c.Study, PointID: change, Axes: c.Axes(change), Repetition: i + 1, Status: results.OK, Began: time.Unix(int64(i), 0),
				Spec: study.Spec{Measure: study.MeasurePeak}, Result: &store.Result{Given: map[string]float64{results.KeyThroughput: rate}},
			}
			if rate == 0 {
				r.Status, r.Reason, r.Result = results.Failed, "made to fail", nil
			}
			all = append(all, r)
		}
	}
	return all
}

func TestARateMovesIfItDiffersByMoreThanCountsAsNone(t *testing.T) {
	c := Case{Study: StudyPrefix + "00000001", Cause: "client-window"}
	usual := []float64{1000, 1010, 990}
	for name, w := range map[string]struct {
		with []float64
		want Verdict
		why  string
	}{
		"twice as fast":       {[]float64{2000, 2020, 1980}, Moved, ""},
		"slower":              {[]float64{500, 510, 490}, Contra, ""},
		"the same":            {[]float64{1005, 995, 1000}, Stayed, ""},
		"faster, by a little": {[]float64{1031, 1031, 1029}, Stayed, ""},
		"scattered":           {[]float64{600, 1000, 1700}, Open, ""},
		"one repetition":      {[]float64{2000}, Open, ""},
		"none that ended ok":  {[]float64{0, 0}, Open, "no repetition with the change ended ok; the last: failed: made to fail"},
		"one that wasn't ok":  {[]float64{2000, 0, 2020, 1980}, Moved, ""},
	} {
		a, ok := c.Decide(stored(c, map[string][]float64{Unchanged: usual, twiceTheWindow.Name: w.with}))
		if !ok || len(a.Tried) != 1 {
			t.Fatalf("%s: %v, %+v", name, ok, a)
		}
		if got := a.Tried[0]; got.Verdict != w.want || got.Why != w.why || got.Change.Name != twiceTheWindow.Name {
			t.Errorf("%s: %s %q (%v), want %s %q", name, got.Verdict, got.Why, got.Rate.Ratio, w.want, w.why)
		}
	}
}

func TestACaseIsReadFromItsRecordsOnly(t *testing.T) {
	c := Case{Study: StudyPrefix + "00000001"}
	rates := map[string][]float64{Unchanged: {1, 1, 1}, twiceTheWindow.Name: {2, 2, 2}, coreLess.Name: {0.5, 0.5, 0.5}}
	records := append(stored(c, rates), results.Record{Study: "mine", PointID: "x"})
	cases := Cases(records)
	if len(cases) != 1 || cases[0] != c {
		t.Fatalf("cases %+v", cases)
	}
	a, ok := cases[0].Decide(records)
	if !ok || len(a.Tried) != 2 || len(a.Before) != 3 || a.Tried[0].Verdict != Moved || a.Tried[1].Verdict != Moved {
		t.Errorf("%v, %+v", ok, a)
	}
	if _, ok := c.Decide(records[3:]); ok {
		t.Error("changes are compared with nothing")
	}
}

// Each change is one of what it is named after, and none changes the spec that it is made of.
func TestAChangeChangesWhatItSays(t *testing.T) {
	base := study.Defaults()
	base.InFlight = study.InFlight{Messages: 100, Bytes: 1 << 20}
	limited, cluster := base, base
	limited.Limits.Broker.CPU = 0.5
	cluster.Nodes = 3
	for name, c := range map[string]struct {
		change Change
		of     study.Spec
		cores  int
		got    func(study.Spec) any
		want   any
	}{
		"window":              {twiceTheWindow, base, 4, func(s study.Spec) any { return s.InFlight }, study.InFlight{Messages: 200, Bytes: 2 << 20}},
		"of four cores":       {coreLess, base, 4, func(s study.Spec) any { return s.Limits.Broker.CPU }, 3.0},
		"of one core":         {coreLess, base, 1, func(s study.Spec) any { return s.Limits.Broker.CPU }, 0.5},
		"of a cluster":        {coreLess, cluster, 4, func(s study.Spec) any { return s.Limits.Broker.CPU }, 1.0},
		"of half a core":      {coreLess, limited, 4, func(s study.Spec) any { return s.Limits.Broker.CPU }, 0.25},
		"more than a half":    {coreMore, limited, 4, func(s study.Spec) any { return s.Limits.Broker.CPU }, 1.5},
		"memory of a cluster": {dataInMemory, cluster, 4, func(s study.Spec) any { return s.DataInMemory }, study.Size(1 << 30)},
		"producers":           {producerMore, base, 4, func(s study.Spec) any { return fmt.Sprint(s.ProducersPerTopic, s.InFlight.Messages) }, "2 50"},
		"consumers":           {consumerMore, base, 4, func(s study.Spec) any { return s.ConsumerPerSubscription.String() }, "2"},
	} {
		id := c.of.ID()
		if got := c.got(c.change.Apply(c.of, Machine{Cores: c.cores, Memory: 12 << 30})); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.of.ID() != id {
			t.Errorf("%s: the spec that it is made of has changed", name)
		}
	}
}

func TestEveryCauseHasAChangeOrAReason(t *testing.T) {
	for _, cause := range []string{
		"", "generator", "latency", "broker", "producer-delay", "consumer-delay", "cpu-limit", "io-limit", "client", "broker-thread", "affinity", "cpu",
		"disk", "memory", "network", "client-window", "client-send",
	} {
		all, why := ChangesFor(cause)
		if (len(all) == 0) != (why != "") {
			t.Errorf("%q: %d changes, %q", cause, len(all), why)
		}
		for _, c := range all {
			if !slices.ContainsFunc(changes, func(k Change) bool { return k.Name == c.Name }) {
				t.Errorf("%q: %s can't be read from a store", cause, c.Name)
			}
		}
	}
}

func TestTheCauseIsThatOfMostRepetitions(t *testing.T) {
	record := func(cause string) results.Record {
		r := results.Record{Spec: study.Spec{Measure: study.MeasurePeak}, Result: &store.Result{}}
		if cause != "" {
			r.Result.Limits = results.Limits{{Cause: cause, Reached: true}}
		}
		return r
	}
	for want, causes := range map[string][]string{"": {"cpu", "", ""}, "cpu": {"cpu", "cpu", ""}, "disk": {"cpu", "disk"}} {
		var all []results.Record
		for _, c := range causes {
			all = append(all, record(c))
		}
		if got := CauseOf(all); got != want {
			t.Errorf("%q: %q, want %q", causes, got, want)
		}
	}
	kept := record("")
	kept.Spec.Measure = study.MeasureRate
	if !KeptUp([]results.Record{kept}) || KeptUp([]results.Record{record("")}) {
		t.Error("only a rate that came through was kept up with")
	}
}

// What only explains a limit is left out of reports and gates; what was measured must not be.
func TestAStudyOfAUserThatIsCalledAlikeIsNoExplanation(t *testing.T) {
	for name, is := range map[string]bool{"explain-60b7b139": true, "explain-latency": false, "explain-": false, "my-explain-60b7b139": false, "explain-60b7b139-2": false} {
		if Explains(name) != is {
			t.Errorf("%s: %v", name, !is)
		}
	}
}
