package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// swept gives the records at fixed rates of one broker an axis with two values.
func swept(broker, axis string) []store.Record {
	var out []store.Record
	for _, r := range demo(5) {
		if r.Spec.Broker != broker || r.Spec.Delivery != "at-least-once" || r.Spec.Measure != "rate" || r.Status != store.OK || len(r.Spec.MessageSize) == 0 || r.Spec.MessageSize[0].Size != 100 {
			continue
		}
		for _, value := range []string{"log", "memory"} {
			r.Axes = map[string]string{"broker": broker, "load.rate": r.Axes["load.rate"], axis: value}
			r.PointID += value
			r.Spec.Persistence = value
			if value == "memory" {
				faster := *r.Result
				faster.Latency = products[2].result(100, r.Spec.Load.Rate, r.Repetition).Latency // as core NATS
				r.Result = &faster
			}
			out = append(out, r)
		}
	}
	return out
}

func textOf(verdicts []document.Verdict) string {
	var texts []string
	for _, v := range verdicts {
		texts = append(texts, v.Text())
	}
	return strings.Join(texts, " ")
}

func TestContendersMayDifferInWhatTheirNamesSay(t *testing.T) {
	text := textOf(rankingVerdicts("100 B", results.Of(swept("kafka", "persistence")).Points))
	for _, want := range []string{"At rate 1k/s, lowest e2e p99: kafka persistence=memory", "before kafka persistence=log", "At rate 20k/s, lowest e2e p99"} {
		if !strings.Contains(text, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, text)
		}
	}
	if strings.Contains(text, "nothing to compare") {
		t.Errorf("the values of an axis were not compared: %s", text)
	}
}

func TestFiguresThatStandAloneAreToldInOneSentence(t *testing.T) {
	var records []store.Record
	for _, r := range demo(2) {
		if r.Spec.Broker == "kafka" && r.Spec.Delivery == "at-least-once" && r.Spec.MessageSize[0].Size == 100 {
			records = append(records, r)
		}
	}
	text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
	for _, want := range []string{
		"Sustainable, known only of kafka: 828k/s (bracket 812–887k/s, held 20.0 s, n=2). At that rate kafka had ",
		". Measured alone: e2e p99 of kafka 13.1 ms at 1k/s, 13.4 ms at 20k/s.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, text)
		}
	}
}

func TestWhatOneContenderWasMeasuredForAloneDoesNotDenyTheOthers(t *testing.T) {
	var records []store.Record
	for _, r := range demo(2) {
		isCommon := r.Spec.Measure == "rate" || r.Spec.Broker == "kafka"
		if r.Spec.Broker != "rabbitmq" && r.Spec.Delivery == "at-least-once" && r.Spec.MessageSize[0].Size == 100 && isCommon {
			records = append(records, r)
		}
	}
	text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
	for _, want := range []string{"Sustainable, known only of kafka: 828k/s", "Lowest e2e p99: jetstream 3.78 ms at 1k/s; jetstream"} {
		if !strings.Contains(text, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, text)
		}
	}
	if strings.Contains(text, "nly kafka was measured") {
		t.Errorf("others were measured, too: %s", text)
	}
}

func TestLatencyFromTheSendIsComparedWhereASideHasNoOther(t *testing.T) {
	for whose, imported := range map[string][]string{"kafka": {"kafka"}, "jetstream": {"jetstream"}, "both sides": {"kafka", "jetstream"}} {
		sides := map[string][]store.Record{}
		for _, r := range demo(5) {
			if r.Spec.Delivery != "at-least-once" || r.Spec.Measure != "rate" || r.Spec.MessageSize[0].Size != 100 || r.Result == nil {
				continue
			}
			if slices.Contains(imported, r.Spec.Broker) { // from another tool
				bare := *r.Result
				bare.Latency.EndToEnd, bare.Latency.Publish, bare.Latency.Lag = hist.Snapshot{}, hist.Snapshot{}, hist.Snapshot{}
				r.Result = &bare
			}
			sides[r.Spec.Broker] = append(sides[r.Spec.Broker], r)
		}
		text := string(rendered(t, Compare(Side{"kafka", results.Of(sides["kafka"])}, Side{"jetstream", results.Of(sides["jetstream"])}, "broker"), "markdown", 0))
		wants := []string{"e2e p99: not known of " + imported[0], "The latency of " + whose + " is only known from the actual send", "e2e from send, p99", "service p99"}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("the comparison doesn't say %q:\n%s", want, text)
			}
		}
	}
}

func TestTwoVersionsOfABrokerAreTwoContenders(t *testing.T) {
	var records []store.Record
	for _, r := range demo(2) {
		if r.Spec.Broker != "kafka" || r.Spec.Delivery != "at-least-once" || r.Spec.MessageSize[0].Size != 100 {
			continue
		}
		records = append(records, r)
		r.PointID, r.Spec.Version, r.Versions.Broker = r.PointID+"-old", "3.9.1", "3.9.1"
		records = append(records, r)
	}
	out := string(rendered(t, build(t, "headtohead", records), "markdown", 0))
	if !strings.Contains(out, "kafka@4.3.1") || !strings.Contains(out, "kafka@3.9.1") {
		t.Errorf("the versions can't be told apart:\n%s", out)
	}
	if strings.Contains(out, "Warning") {
		t.Errorf("the versions are pooled:\n%s", out)
	}
}

func TestWorkloadsThatCantBeComparedSayWhatSetsThemApart(t *testing.T) {
	var records []store.Record
	for _, r := range demo(1) {
		if r.Spec.Delivery != "at-most-once" || r.Spec.Measure != "sustainable" || r.Spec.MessageSize[0].Size != 100 || r.Spec.Broker == "rabbitmq" {
			continue
		}
		if r.Spec.Broker != "kafka" {
			r.Spec.Persistence = "memory"
		}
		records = append(records, r)
	}
	found := rankingVerdicts("100 B", results.Of(records).Points)
	if len(found) != 2 {
		t.Errorf("%d verdicts on two workloads: %v", len(found), found)
	}
	text := textOf(found)
	for _, want := range []string{"With persistence memory, sustainable, undecided: the runs point to nats ", "With persistence log, sustainable, known only of kafka: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, text)
		}
	}
}

func TestCurvesAtGivenRatesAreComparedByLatency(t *testing.T) {
	side := func(broker string) Side {
		var records []store.Record
		for _, r := range demo(5) {
			if r.Spec.Broker == broker && r.Spec.Delivery == "at-least-once" && r.Spec.Load.Rate == 1000 && r.Spec.MessageSize[0].Size == 100 && r.Status == store.OK {
				r.Spec.Measure = "curve"
				r.Result.Curve = []store.CurvePoint{{Rate: 1000, Status: store.OK, Measurement: r.Result.Measurement}}
				records = append(records, r)
			}
		}
		return Side{broker, results.Of(records)}
	}
	text := string(rendered(t, Compare(side("kafka"), side("jetstream"), "broker"), "terminal", 100))
	if !strings.Contains(text, "e2e p99 at the last rate: jetstream is 3.5 times lower than kafka, ") || strings.Contains(text, "not known") {
		t.Errorf("the finding is not about latency:\n%s", text)
	}
}

func TestATrialShowsNoRateWhereNoneWasGiven(t *testing.T) {
	table := trialTable("search", &store.Sustainable{Trials: []store.Trial{
		{Kind: "probe", Verdict: "pass", BacklogSlope: 1.6e-14}, {Kind: "short", Rate: 10, BacklogSlope: -3},
	}})
	if c := table.Rows[0]["rate"]; c.Kind != document.Blank {
		t.Errorf("a closed loop has the rate %v", c)
	}
	if c := table.Rows[0]["backlog_slope"]; c.Number != 0 {
		t.Errorf("the slope of nothing is %v", c.Number)
	}
	if a, b := table.Rows[1]["rate"], table.Rows[1]["backlog_slope"]; a.Number != 10 || b.Number != -3 {
		t.Errorf("10 and -3 became %v and %v", a.Number, b.Number)
	}
}

func TestAVerdictOnAClosedLoopTellsNoLatency(t *testing.T) {
	for measure, figure := range map[string]string{"peak": "Throughput, known only of kafka: 1k/s", "count": "Total time, known only of kafka: 7.00 s", "backlog": "Drained, known only of kafka: 9/s"} {
		var records []store.Record
		for _, r := range demo(2) {
			if r.Spec.Broker == "kafka" && r.Spec.Delivery == "at-least-once" && r.Spec.Load.Rate == 1000 && r.Spec.MessageSize[0].Size == 100 && r.Status == store.OK {
				result := *r.Result
				result.Count, result.Backlog = &store.Count{TotalSeconds: 7}, &store.Backlog{DrainRate: 9}
				r.Spec.Measure, r.Result, r.Spec.Load.Rate = measure, &result, 0
				records = append(records, r)
			}
		}
		points := results.Of(records).Points
		text := textOf(rankingVerdicts("100 B", points))
		if !strings.Contains(text, figure) || !strings.Contains(text, "of client CPU") || strings.Contains(text, "p50") {
			t.Errorf("%s: %s", measure, text)
		}
		if l := points[0].LoadPoints(); measure == "backlog" && !l[0].Closed {
			t.Error("the latency of a backlog counts as that of a load")
		}
	}
}

func TestAPeakStandsBesideItsCost(t *testing.T) {
	var records []store.Record
	for _, r := range demo(3) {
		if r.Spec.Broker == "kafka" && r.Spec.Load.Rate == 1000 && r.Status == store.OK {
			r.Spec.Measure = "peak"
			records = append(records, r)
		}
	}
	tables := build(t, "headtohead", records).Tables()
	if c := tables[0].Rows[0]["peak_rate"]; c.Number != 1000 {
		t.Errorf("the peak is %v, want 1000/s", c)
	}
}

func TestCountsAtSeveralRatesAreToldApart(t *testing.T) {
	var records []store.Record
	for _, r := range demo(1) {
		if r.Spec.Broker == "kafka" && r.Spec.Delivery == "at-least-once" && r.Spec.Measure == "rate" && r.Spec.MessageSize[0].Size == 100 && r.Status == store.OK {
			result := *r.Result
			result.Count = &store.Count{TotalSeconds: 7}
			r.Spec.Measure, r.Result = "count", &result
			records = append(records, r)
		}
	}
	text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
	for _, want := range []string{"With count at 1k/s, total time, known only of kafka: 7.00 s", "With count at 20k/s, total time, known only of kafka"} {
		if !strings.Contains(text, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, text)
		}
	}
}

// Two brokers with one persistence and two with the other: without it the verdict would name two winners at one rate.
func TestFixedRatesSayWhatSetsWorkloadsApart(t *testing.T) {
	var records []store.Record
	for _, broker := range []string{"kafka", "jetstream", "artemis", "qpid"} {
		records = append(records, altered(atRate("kafka", 2), broker, func(r *store.Record) {
			r.Spec.Broker, r.Axes["broker"] = broker, broker
			if broker == "artemis" || broker == "qpid" {
				r.Spec.Persistence = "memory"
			}
		})...)
	}
	full := textOf(rankingVerdicts("g", results.Of(records).Points))
	for _, want := range []string{"At rate 1k/s with persistence log, ", "At rate 1k/s with persistence memory, "} {
		if !strings.Contains(full, want) {
			t.Errorf("the verdict doesn't say %q: %s", want, full)
		}
	}
	records = append(records, altered(records, "2k", func(r *store.Record) { r.Spec.Load.Rate = 2000 })...)
	short := textOf(rankingVerdicts("g", results.Of(records).Points))
	if want := " at 2k/s with persistence memory"; !strings.Contains(short, want) {
		t.Errorf("the verdict doesn't say %q: %s", want, short)
	}
}

// The axis persistence has both values at one rate and one at the other, so it sets no workload apart.
func TestASettingThatVariesWithinAWorkloadIsNotItsName(t *testing.T) {
	var records []store.Record
	for _, r := range swept("kafka", "persistence") {
		if r.Spec.Load.Rate == 1000 || r.Spec.Persistence == "memory" {
			r.Spec.Measure, r.Result.Count = "count", &store.Count{TotalSeconds: 7}
			records = append(records, r)
		}
	}
	text := textOf(rankingVerdicts("100 B", results.Of(records).Points))
	if !strings.Contains(text, "With count at 1k/s, total time less than a tenth apart") || !strings.Contains(text, "With count at 20k/s, total time") {
		t.Errorf("a workload is named by what varies in it: %s", text)
	}
}

// A rate that was measured with two settings has two figures, and neither is of the rate alone.
func TestAFigureThatWasMeasuredAloneNamesItsSetting(t *testing.T) {
	kafka := func(persistence string) []store.Record {
		return altered(atRate("kafka", 2), persistence, func(r *store.Record) { r.Spec.Persistence = persistence })
	}
	nats := altered(atRate("jetstream", 2), "memory", func(r *store.Record) { r.Spec.Persistence = "memory" })
	points := results.Of(slices.Concat(kafka("memory"), kafka("log"), nats, altered(atRate("kafka", 2), "faster", func(r *store.Record) {
		r.Spec.Persistence, r.Spec.Load.Rate = "log", 2000
	}))).Points
	var text string
	for _, v := range rankingVerdicts("100 B", points) {
		text += v.Text()
	}
	if !strings.Contains(text, " at 1k/s with persistence memory") || strings.Count(text, "/s with persistence log") != 2 {
		t.Errorf("a figure lacks its setting: %s", text)
	}
	unset := altered(atRate("kafka", 2), "unset", func(r *store.Record) { r.Spec.Persistence = "" })
	verdict := rankingVerdicts("100 B", results.Of(slices.Concat(unset, nats)).Points)[0].Text()
	if want := " at 1k/s with persistence unset"; !strings.Contains(verdict, want) {
		t.Errorf("of a record without the setting it doesn't say %q: %s", want, verdict)
	}
}

// Its figures are those of the repetitions that ended ok, which tell nothing of what the others lost.
func TestAVerdictNamesTheBestThatFailedInPart(t *testing.T) {
	kafka, jetstream := atRate("kafka", 3), altered(atRate("jetstream", 3), "", func(*store.Record) {})
	jetstream[1].Status, jetstream[1].Reason = store.Failed, "3 confirmed messages were lost"
	var ranking string
	for _, v := range rankingVerdicts("100 B", results.Of(slices.Concat(kafka, jetstream)).Points) {
		ranking += v.Text()
	}
	if want := "Failed in part: jetstream at rate 1k/s (failed 1 of 3)."; !strings.Contains(ranking, want) {
		t.Errorf("the ranking doesn't say %q: %s", want, ranking)
	}
	var swept []store.Record
	for linger := range 4 {
		swept = append(swept, altered(atRate("kafka", 2), fmt.Sprint(linger), func(r *store.Record) {
			r.Axes["client.linger"], r.Spec.Client = fmt.Sprint(linger), map[string]any{"linger": linger}
		})...)
	}
	swept[0].Status, swept[0].Reason = store.Failed, "3 confirmed messages were lost"
	sweeps := sweepsOf(results.Of(swept).Points)
	if len(sweeps) != 1 {
		t.Fatalf("%d sweeps", len(sweeps))
	}
	if got, want := sweeps[0].verdict().Text(), "Failed in part: client.linger=0 (failed 1 of 2)."; !strings.Contains(got, want) {
		t.Errorf("the recommendation doesn't say %q: %s", want, got)
	}
}
