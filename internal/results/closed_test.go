package results

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// closedLoops are the specs of which no message is due at any time.
var closedLoops = map[string]study.Spec{
	"peak":    {Measure: "peak"},
	"backlog": {Measure: "backlog", Load: study.Load{Rate: 1000}},
	"count":   {Measure: "count"},
}

var openLoops = map[string]study.Spec{
	"rate":            {Measure: "rate", Load: study.Load{Rate: 1000}},
	"ramp from 0":     {Measure: "rate", Load: study.Load{Shape: "ramp", To: 1000}},
	"count at a rate": {Measure: "count", Load: study.Load{Rate: 1000}},
	"sustainable":     {Measure: "sustainable"},
	"curve":           {Measure: "curve"},
}

func TestNoMetricOfAClosedLoopIsALatency(t *testing.T) {
	apart := &store.Backlog{FillingEndToEnd: latencies(1000, 1000), LaggingEndToEnd: latencies(1000, 2000)}
	for name, spec := range closedLoops {
		r := measured()
		r.Spec, r.Result.Backlog = spec, apart
		for _, m := range Metrics {
			v := m.Of(r)
			machine := strings.HasPrefix(m.Key, "pause_")   // of the machine, whatever the load
			client := strings.HasPrefix(m.Key, "response_") // what an HTTP client saw, which is asked for by that name
			if m.Latency() != (m.Unit == unit.Nanoseconds && !machine && !client) {
				t.Errorf("%s: Latency() is %v", m.Key, m.Latency())
			}
			if m.Latency() && !math.IsNaN(v) {
				t.Errorf("%s of a %s is %v, although it has no latency", m.Key, name, v)
			}
		}
		if got := MustMetric("publish_rate").Of(r); got != 99.9 {
			t.Errorf("the rate of a %s is %v", name, got)
		}
		if !spec.ClosedLoop() || !AnyClosedLoop(pointsOf([]store.Record{r})) {
			t.Errorf("%s counts as an open loop", name)
		}
	}
	for name, spec := range openLoops {
		r := measured()
		r.Spec, r.Result.Backlog = spec, apart
		for _, m := range Metrics {
			if m.Latency() && math.IsNaN(m.Of(r)) {
				t.Errorf("%s has no %s", name, m.Key)
			}
		}
		if spec.ClosedLoop() || AnyClosedLoop(pointsOf([]store.Record{r})) {
			t.Errorf("%s counts as a closed loop", name)
		}
	}
}

func TestWhereSomeLagAndOthersTailOnlyWhatIsOfOneOfThemIsKnown(t *testing.T) {
	r := measured()
	r.Spec = study.Spec{Measure: "backlog", Topics: 1, SubscriptionsPerTopic: 2, ConsumerPerSubscription: study.Consumers{1}, Backlog: study.Backlog{Subscriptions: 1, Rate: 5, KeepSending: true}}
	r.Result.Backlog = &store.Backlog{DrainRate: 7, FillingEndToEnd: latencies(1000, 1000), LaggingEndToEnd: latencies(1000, 2000)}
	for key, want := range map[string]bool{
		KeyEndToEndP99: true, KeyFillingP99: true, KeyLaggingP99: true, KeyPublishP99: true, KeyDrainRate: true,
		KeyThroughput: false, "consumer_rate": false, KeyMeanOfSeconds: false,
	} {
		if got := MustMetric(key).Of(r); math.IsNaN(got) == want {
			t.Errorf("%s is %v", key, got)
		}
		if why := MustMetric(key).NotMeasured(r.Spec); want && why != "" {
			t.Errorf("%s is not measured: %s", key, why)
		}
	}
	if why := MustMetric(KeyLaggingP99).NotMeasured(openLoops["rate"]); !strings.Contains(why, "backlog.subscriptions") {
		t.Errorf("a rate has a backlog: %q", why)
	}
	if r.Spec.ClosedLoop() || !AnyTails(pointsOf([]store.Record{r})) {
		t.Error("its latencies are said to be those of a closed loop, or of all")
	}
}

func TestAFlatRecordOfAClosedLoopSaysSo(t *testing.T) {
	for name, spec := range closedLoops {
		r := measured()
		r.Spec = spec
		text, err := json.Marshal(Flat(r))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"closed_loop":true`) || !strings.Contains(string(text), `"e2e_p99_ns":991231`) {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, spec := range openLoops {
		r := measured()
		r.Spec = spec
		if Flat(r)[0].Value("closed_loop") != false {
			t.Errorf("%s is flagged as a closed loop", name)
		}
	}
}

func TestTheCourseOfAClosedLoopHasNoLatency(t *testing.T) {
	r := measured()
	r.Result.Series = []store.Tick{{OffsetNs: 5, PublishRate: 7, Backlog: 3, EndToEndP50: 10, EndToEndP99: 20}}
	for want, spec := range map[float64]study.Spec{10: openLoops["rate"], 0: closedLoops["peak"]} {
		r.Spec = spec
		moments := Moments(r)
		if len(moments) != 1 || moments[0].PublishRate != 7 || moments[0].Backlog != 3 {
			t.Fatalf("moments are %+v", moments)
		}
		p50, p99 := moments[0].latency(moments[0].EndToEndP50), moments[0].latency(moments[0].EndToEndP99)
		if want > 0 && (p50 != want || p99 != 2*want) || want == 0 && (!math.IsNaN(p50) || !math.IsNaN(p99)) {
			t.Errorf("%s: latencies are %v and %v", spec.Measure, p50, p99)
		}
	}
	if Moments(store.Record{}) != nil || Phases(store.Record{}) != nil {
		t.Error("a record without a result has a course")
	}
}

func TestADistributionOfAClosedLoopSaysSo(t *testing.T) {
	for closed, specs := range map[bool]map[string]study.Spec{true: closedLoops, false: openLoops} {
		for name, spec := range specs {
			r := measured()
			r.Spec = spec
			all := Distributions(pointsOf([]store.Record{r}), LatencyKinds[0])
			if len(all) != 1 || all[0].Closed != closed {
				t.Errorf("%s: %+v, want closed %v", name, all, closed)
			}
		}
	}
}

func TestARecordWithoutAResultHasNoPanels(t *testing.T) {
	r := measured()
	if len(CoursePanels(r)) == 0 {
		t.Fatal("a measured repetition has no panels")
	}
	r.Result = nil
	if panels := CoursePanels(r); len(panels) > 0 || CourseHasLatency(r) {
		t.Errorf("%d panels without a result, latency %v", len(panels), CourseHasLatency(r))
	}
}

// A pause of less than 5 ms is no standstill, so LongestNs is 0; the wake-ups still tell how late the latest was.
func TestTheLongestPauseIsNoShorterThanThePausesAtP99(t *testing.T) {
	for _, c := range []struct {
		what    string
		longest int64
		late    hist.Snapshot
		want    float64
	}{
		{"no standstill", 0, latencies(100, 16_000), 1_600_000},
		{"a standstill", 7_000_000, latencies(100, 16_000), 7_000_000},
		{"a standstill that no wake-up is known of", 7_000_000, hist.Snapshot{}, 7_000_000},
	} {
		r := store.Record{Result: &store.Result{Measurement: store.Measurement{Pauses: &store.Pauses{Late: c.late, LongestNs: c.longest}}}}
		longest, p99 := MustMetric(KeyPauseMax).Of(r), MustMetric(KeyPauseP99).Of(r)
		if longest != c.want || longest < p99 {
			t.Errorf("%s: the longest pause is %v, want %v; p99 is %v", c.what, longest, c.want, p99)
		}
	}
}

// In a pipeline nothing watches for pauses: none are known, and a gate on them has nothing to judge.
func TestPausesThatNothingWatchedForAreNotKnown(t *testing.T) {
	for watched, p := range map[bool]*store.Pauses{
		false: {QueuedSeconds: 0.8},
		true:  {LongestNs: 1e6},
	} {
		r := store.Record{Result: &store.Result{Measurement: store.Measurement{Pauses: p}}}
		if got := MustMetric(KeyPauseMax).Of(r); math.IsNaN(got) == watched {
			t.Errorf("watched %v: the longest is %v", watched, got)
		}
	}
	if (*store.Pauses)(nil).Watched() {
		t.Error("no pauses are watched")
	}
}
