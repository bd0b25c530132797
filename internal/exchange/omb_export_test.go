package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func recorded(values []int64) hist.Snapshot {
	h := hist.New()
	for _, v := range values {
		h.Record(v)
	}
	return h.Snapshot()
}

// latencies are sorted nanoseconds from below a microsecond to minutes.
var latencies = rapid.Map(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
	return rapid.Int64Range(0, 1<<40).Draw(t, "ns") >> rapid.IntRange(0, 34).Draw(t, "shift")
}), 1, 60), func(values []int64) []int64 { slices.Sort(values); return values })

func fields(t *rapid.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Each of the oracles below holds one part of the export of a latency against the sorted values that it is made of:
// within the width of a bucket, and cut to whole microseconds.
func TestExportedLatenciesAreThoseOfTheSortedValues(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		publish, end, delay := latencies.Draw(t, "acked − sent"), latencies.Draw(t, "received − sent"), latencies.Draw(t, "sent − intended")
		o, err := ToOMB(store.Record{Result: &store.Result{Measurement: store.Measurement{Latency: store.Latency{
			Service: recorded(publish), EndToEndService: recorded(end), Lag: recorded(delay),
			EndToEnd: recorded([]int64{1 << 41}), Publish: recorded([]int64{1 << 41}), GeneratorLag: recorded([]int64{1 << 41}),
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		all := fields(t, o)
		for _, l := range []struct {
			name   string
			values []int64
			unit   float64
		}{{"PublishLatency", publish, 1e6}, {"EndToEndLatency", end, 1e6}, {"PublishDelayLatency", delay, 1e3}} {
			oneLatency(t, all, l.name, l.values, l.unit)
			table, _ := all["aggregated"+l.name+"Quantiles"].(map[string]any)
			oneTable(t, l.name, table, l.values, l.unit)
		}
	})
}

func oneLatency(t *rapid.T, all map[string]any, name string, sorted []int64, unit float64) {
	t.Helper()
	at := func(rank int) int64 { return sorted[max(rank, 1)-1] }
	var sum float64
	for _, v := range sorted {
		sum += float64(v)
	}
	n := len(sorted)
	want := map[string]float64{"Avg": sum / float64(n), "Max": float64(at(n))}
	for _, pct := range []string{"50", "75", "95", "99", "999", "9999", "99999"} {
		q, err := strconv.ParseFloat("0."+pct, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[pct+"pct"] = float64(at(int(math.Ceil(q*float64(n) - 1e-9))))
	}
	for what, ns := range want {
		got, ok := all["aggregated"+name+what].(float64)
		low, high := (ns-1000)/unit, ns*(1+1.0/256)/unit
		if what == "Avg" {
			low, high = ns*(1-1.0/512)/unit, ns*(1+1.0/512)/unit
		}
		if what == "Max" {
			high = ns / unit
		}
		if !ok || got < low-1e-9 || got > high+1e-9 {
			t.Fatalf("aggregated %s %s is %v, want %v to %v", name, what, got, low, high)
		}
		if list, _ := all[strings.ToLower(name[:1])+name[1:]+what].([]any); len(list) != 1 || list[0] != got {
			t.Fatalf("the list of %s %s is %v, want [%v]", name, what, list, got)
		}
		if micros := got * unit / 1000; what != "Avg" && math.Abs(micros-math.Round(micros)) > 1e-6 {
			t.Fatalf("%s %s is %v µs, want whole ones", name, what, micros)
		}
	}
}

func oneTable(t *rapid.T, name string, table map[string]any, sorted []int64, unit float64) {
	t.Helper()
	n, largest := float64(len(sorted)), float64(sorted[len(sorted)-1])
	if end, ok := table["100.0"].(float64); !ok || end > largest/unit+1e-9 || end < (largest-1000)/unit-1e-9 {
		t.Fatalf("the quantiles of %s end with %v, want the largest value, %v ns", name, table["100.0"], largest)
	}
	for key, v := range table {
		percent, err := strconv.ParseFloat(key, 64)
		value, ok := v.(float64)
		if err != nil || !ok {
			t.Fatalf("quantiles of %s: %q: %v", name, key, v)
		}
		ns := float64(sorted[max(int(math.Round(percent*n/100)), 1)-1])
		if got := value * unit; got < ns-1000-1e-3 || got > ns*(1+within)+1000 {
			t.Fatalf("quantiles of %s: %v ns at %s %%, want %v", name, got, key, ns)
		}
		if upTo := percent * n / 100; math.Abs(upTo-math.Round(upTo)) > 1e-6 {
			t.Fatalf("quantiles of %s: %s %% are %v values, want a whole number", name, key, upTo)
		}
	}
}

func TestAQuantileTableNamesEveryPercentileOnceRising(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		table, err := tableOf(recorded(latencies.Draw(t, "values")), 1000)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range table {
			if i > 0 && (q.Percent <= table[i-1].Percent || q.Value < table[i-1].Value) {
				t.Fatalf("%v follows %v", q, table[i-1])
			}
		}
	})
}

// Each period has the mean of what went on in each of its moments: a tick's rates are those since the tick before.
func TestExportedRatesAreTheMeansOfTenSecondsEach(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		r := store.Result{Measurement: store.Measurement{PublishRate: 7, ReceiveRate: 9, Books: store.Books{Failed: 80}}}
		r.Seconds = rapid.SampledFrom([]float64{0, 0.5, 40}).Draw(t, "seconds")
		failed := map[float64]float64{0.5: 160, 40: 2}[r.Seconds]
		type sums struct{ publish, receive, moments, backlog float64 }
		const moment = 500 // milliseconds
		want := map[int]*sums{}
		covered, offset := 0, 0
		for range rapid.IntRange(0, 40).Draw(t, "samples") {
			offset += moment * rapid.SampledFrom([]int{1, 1, 2, 8, 20, 50}).Draw(t, "further")
			tick := store.Tick{
				OffsetNs: int64(offset-3000) * 1e6, Phase: "measure",
				PublishRate: float64(rapid.IntRange(0, 1000).Draw(t, "published")), ReceiveRate: float64(rapid.IntRange(0, 1000).Draw(t, "received")),
				Backlog: int64(rapid.IntRange(0, 1000).Draw(t, "backlog")),
			}
			if tick.OffsetNs <= 0 {
				tick.Phase = "warmup"
			}
			r.Series = append(r.Series, tick)
			for ; covered < offset-3000; covered += moment {
				period := covered / 10_000
				if want[period] == nil {
					want[period] = &sums{}
				}
				s := want[period]
				s.publish, s.receive, s.moments, s.backlog = s.publish+tick.PublishRate, s.receive+tick.ReceiveRate, s.moments+1, float64(tick.Backlog)
			}
		}
		r.Series = append(r.Series, store.Tick{OffsetNs: int64(offset) * 1e6, Phase: "drain", PublishRate: 1e6})
		var o OMB
		o.setRates(r)
		if len(want) == 0 {
			if !slices.Equal(o.PublishRate, []float64{7}) || !slices.Equal(o.ConsumeRate, []float64{9}) || !slices.Equal(o.PublishErrorRate, []float64{failed}) || !slices.Equal(o.Backlog, []int64{0}) {
				t.Fatalf("without samples: %v, %v, %v, %v", o.PublishRate, o.ConsumeRate, o.PublishErrorRate, o.Backlog)
			}
			return
		}
		if last := want[len(want)-1]; len(want) > 1 && last.moments < 2 { // less than a second is no period
			delete(want, len(want)-1)
		}
		if len(want) == 1 { // the record's own rates
			want[0].publish, want[0].receive = 7*want[0].moments, 9*want[0].moments
		}
		if n := len(want); len(o.PublishRate) != n || len(o.ConsumeRate) != n || len(o.PublishErrorRate) != n || len(o.Backlog) != n {
			t.Fatalf("%d, %d, %d and %d values, want %d", len(o.PublishRate), len(o.ConsumeRate), len(o.PublishErrorRate), len(o.Backlog), n)
		}
		for i := range o.PublishRate {
			s := want[i]
			if math.Abs(o.PublishRate[i]-s.publish/s.moments) > 1e-6 || math.Abs(o.ConsumeRate[i]-s.receive/s.moments) > 1e-6 || o.PublishErrorRate[i] != failed || float64(o.Backlog[i]) != s.backlog {
				t.Fatalf("period %d: %v, %v, %v and %v; want %+v", i, o.PublishRate[i], o.ConsumeRate[i], o.PublishErrorRate[i], o.Backlog[i], *s)
			}
		}
	})
}

// A run of a day has samples that are further apart than ten seconds.
func TestAPeriodBetweenTwoSamplesHasTheRateOfTheSecond(t *testing.T) {
	var o OMB
	o.setRates(store.Result{Measurement: store.Measurement{Series: []store.Tick{
		{OffsetNs: 24e9, Phase: "measure", PublishRate: 100, ReceiveRate: 90, Backlog: 5}, {OffsetNs: 60.003e9, Phase: "measure", PublishRate: 200, ReceiveRate: 180, Backlog: 6},
	}}})
	if want := []float64{100, 100, 160, 200, 200, 200}; !slices.Equal(o.PublishRate, want) {
		t.Errorf("published %v, want %v", o.PublishRate, want)
	}
	if want := []int64{5, 5, 6, 6, 6, 6}; !slices.Equal(o.Backlog, want) {
		t.Errorf("backlog %v, want %v", o.Backlog, want)
	}
}

func TestACourseOfYearsIsNoExport(t *testing.T) {
	r := store.Record{PointID: "p", Repetition: 1, Result: &store.Result{Measurement: store.Measurement{Series: []store.Tick{{OffsetNs: 1e18, Phase: "measure"}}}}}
	if _, err := ToOMB(r); err == nil || !strings.Contains(err.Error(), "has a sample 277777h46m40s after its start") {
		t.Error(err)
	}
}

func TestAnExportOfNothingIsZeroAndNotANumber(t *testing.T) {
	o, err := ToOMB(store.Record{Result: &store.Result{}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if o.AggregatedPublishLatencyAvg != 0 || o.AggregatedEndToEndLatencyMax != 0 || o.PublishErrorRate[0] != 0 || !strings.Contains(string(data), `"aggregatedPublishLatencyQuantiles":{}`) {
		t.Errorf("%s", data)
	}
}

func TestAnExportSaysWhatWorkItWasOf(t *testing.T) {
	r := store.Record{
		PointID: "p1", Label: "one topic", Repetition: 3, Status: store.Void, Reason: "late", Doubts: []store.Doubt{{Code: "c", Text: "t"}},
		Spec:   study.Spec{Broker: "kafka", Topics: 2, PartitionsPerTopic: 3, ProducersPerTopic: 4, ConsumerPerSubscription: study.Consumers{5}},
		Result: &store.Result{Measurement: store.Measurement{PayloadSize: 1024}},
	}
	o, err := ToOMB(r)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(o.Workload, o.Driver, o.MessageSize, o.Topics, o.Partitions, o.ProducersPerTopic, o.ConsumersPerTopic)
	if want := fmt.Sprint("one topic", "kafka", 1024, 2, 3, 4, 5); got != want {
		t.Errorf("work %s, want %s", got, want)
	}
	if b := o.Brokermark; b == nil || b.PointID != "p1" || b.Repetition != 3 || b.Status != store.Void || b.Reason != "late" || len(b.Doubts) != 1 || b.Note == "" {
		t.Errorf("origin %+v", o.Brokermark)
	}
	differ := r
	differ.Spec.ConsumerPerSubscription = study.Consumers{3, 2}
	if _, err := ToOMB(differ); err == nil || err.Error() != "repetition 3 of point p1 has 3+2 consumers; that format has one number for all subscriptions" {
		t.Error(err)
	}
	r.Result, r.Status = nil, store.Refused
	if _, err := ToOMB(r); err == nil || err.Error() != "repetition 3 of point p1 holds no result (refused)" {
		t.Error(err)
	}
}

func TestAFileNameWithoutALabelBeginsWithTheBroker(t *testing.T) {
	for _, label := range []string{"", "-.-", "/"} {
		r := store.Record{ID: 12, Label: label, Repetition: 3, Began: time.Unix(0, 0), Spec: study.Spec{Broker: "kafka"}}
		if got, want := FileName(r), "kafka-1970-01-01-00-00-00-3-12.json"; got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestAFileNameHoldsTheBeginningOfALongLabelAndTheTimeOMBWrites(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 8, 7, 0, time.FixedZone("", 3600))
	for label, want := range map[string]string{
		"a b":                          "a-b",
		"-.1 topic / 1kb.":             "1-topic-1kb",
		strings.Repeat("ä", 60):        strings.Repeat("ä", 60),
		strings.Repeat("ä", 61):        strings.Repeat("ä", 60),
		"x" + strings.Repeat("ä", 100): "x" + strings.Repeat("ä", 59),
	} {
		r := store.Record{ID: 12, Label: label, Repetition: 3, Began: began, Spec: study.Spec{Broker: "omb:kafka"}}
		if got, want := FileName(r), want+"-omb-kafka-2026-03-01-08-08-07-3-12.json"; got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

// The first sample of the measured phase holds what came since the last one of the warm-up, so that the samples of a short run
// have a mean that the record hasn't.
func TestASinglePeriodHasTheRecordsOwnRates(t *testing.T) {
	r := store.Result{Measurement: store.Measurement{Seconds: 5, PublishRate: 200, ReceiveRate: 199}}
	r.Series = []store.Tick{
		{OffsetNs: -0.4e9, Phase: "warmup", PublishRate: 200, ReceiveRate: 200},
		{OffsetNs: 0.1e9, Phase: "measure", PublishRate: 380, ReceiveRate: 390, Backlog: 2},
		{OffsetNs: 5e9, Phase: "measure", PublishRate: 201, ReceiveRate: 202, Backlog: 3},
	}
	for _, length := range []float64{5e9, 10.3e9} { // the rest of less than a second is no period
		r.Series[2].OffsetNs = int64(length)
		var o OMB
		o.setRates(r)
		if !slices.Equal(o.PublishRate, []float64{200}) || !slices.Equal(o.ConsumeRate, []float64{199}) || !slices.Equal(o.Backlog, []int64{3}) {
			t.Errorf("%v ns: published %v, consumed %v, backlog %v", length, o.PublishRate, o.ConsumeRate, o.Backlog)
		}
	}
}
