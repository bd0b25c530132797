package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// small is a result with next to nothing in it.
func small() OMB {
	return OMB{
		Workload: "w", Driver: "My Kafka!", MessageSize: 100, Topics: 2, Partitions: 3, ProducersPerTopic: 4, ConsumersPerTopic: 5,
		PublishRate: []float64{1000}, ConsumeRate: []float64{1000}, AggregatedPublishLatencyQuantiles: Quantiles{{50, 1}, {100, 2}},
	}
}

func encoded(t interface{ Fatal(...any) }, o OMB) []byte {
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func imports(t *testing.T, name string, o OMB, like *study.Spec) (store.Record, error) {
	t.Helper()
	return FromOMB(name, encoded(t, o), time.Date(2026, 1, 2, 4, 0, 0, 0, time.FixedZone("", 3600)), like)
}

func TestAnImportHasEveryPeriodOfTheFile(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		numbers := func(name string, low, n int) []float64 {
			return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5000), func(i int) float64 { return float64(i) }), low, n).Draw(t, name)
		}
		o := small()
		o.PublishRate = numbers("published", 1, 6)
		n := len(o.PublishRate)
		o.ConsumeRate, o.PublishErrorRate = numbers("consumed", 0, n), numbers("failed", 0, n)
		o.EndToEndLatency50pct, o.EndToEndLatency99pct = numbers("p50", 0, n), numbers("p99", 0, n)
		o.Backlog = rapid.SliceOfN(rapid.Int64Range(0, 1000), 0, n).Draw(t, "backlog")
		o.AggregatedEndToEndLatencyQuantiles = Quantiles{{50, 3}, {100, 4}}
		o.AggregatedPublishDelayLatencyQuantiles = Quantiles{{50, 5}, {100, 6}}
		r, err := FromOMB("r.json", encoded(t, o), time.Now(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, seconds := r.Result, 10*float64(n)
		average := func(list []float64) (sum float64) {
			for _, v := range list {
				sum += v / float64(len(list))
			}
			return sum
		}
		if got.Seconds != seconds || r.Ended.Sub(r.Began).Seconds() != seconds || got.PayloadSize != 100 || len(got.Series) != n ||
			math.Abs(got.PublishRate-average(o.PublishRate)) > 1e-6 || math.Abs(got.ReceiveRate-average(o.ConsumeRate)) > 1e-6 {
			t.Fatalf("%+v, from %v to %v", got.Measurement, r.Began, r.Ended)
		}
		for name, c := range map[string]struct {
			n     int64
			rates []float64
		}{
			"publish": {got.Latency.Service.Count(), o.PublishRate}, "delay": {got.Latency.Lag.Count(), o.PublishRate},
			"end to end": {got.Latency.EndToEndService.Count(), o.ConsumeRate},
		} {
			want := int64(math.Round(average(c.rates) * seconds))
			if want == 0 {
				want = 2 // the table's steps of 50 % and 100 %
			}
			if c.n != want {
				t.Fatalf("%s: %d values, want the %d of %v/s in %v s", name, c.n, want, average(c.rates), seconds)
			}
		}
		if m := got.Latency; m.Service.Max() != 2e6 || m.EndToEndService.Max() != 4e6 || m.Lag.Max() != 6e3 {
			t.Fatalf("largest %d, %d and %d ns, want 2 ms, 4 ms and 6 µs", m.Service.Max(), m.EndToEndService.Max(), m.Lag.Max())
		}
		for i, tick := range got.Series {
			want := store.Tick{OffsetNs: int64(i+1) * 10e9, Phase: "measure", PublishRate: o.PublishRate[i]}
			if i < len(o.ConsumeRate) {
				want.ReceiveRate = o.ConsumeRate[i]
			}
			if i < len(o.EndToEndLatency50pct) {
				want.EndToEndP50 = int64(o.EndToEndLatency50pct[i] * 1e6)
			}
			if i < len(o.EndToEndLatency99pct) {
				want.EndToEndP99 = int64(o.EndToEndLatency99pct[i] * 1e6)
			}
			if i < len(o.Backlog) {
				want.Backlog = o.Backlog[i]
			}
			if tick != want {
				t.Fatalf("period %d: %+v, want %+v", i, tick, want)
			}
		}
		sumFailed := 10 * average(o.PublishErrorRate) * float64(len(o.PublishErrorRate))
		text := fmt.Sprintf("about %.0f sends failed", sumFailed)
		if said := slices.ContainsFunc(r.Doubts, store.Doubt{Code: "failed-sends", Text: text}.Same); said != (sumFailed > 0) {
			t.Fatalf("%v; want %q: %v", r.Doubts, text, sumFailed > 0)
		}
	})
}

func TestARebuiltHistogramHasEveryPercentileOfItsTable(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		percents := rapid.SliceOfNDistinct(rapid.IntRange(0, 100), 1, 12, rapid.ID[int]).Draw(t, "percents")
		slices.Sort(percents)
		n, unit := 100*rapid.Int64Range(1, 1000).Draw(t, "hundreds"), rapid.SampledFrom([]float64{1000, 1e6}).Draw(t, "unit")
		var table Quantiles
		value := 0.0
		for _, p := range percents {
			value += float64(rapid.IntRange(0, 500).Draw(t, "step")) / 8
			table = append(table, Quantile{float64(p), value})
		}
		s := table.snapshot(n, unit)
		if s.Count() != n || s.Max() != int64(math.Round(value*unit)) {
			t.Fatalf("%d values up to %d, want %d up to %v", s.Count(), s.Max(), n, value*unit)
		}
		for i, q := range table {
			if q.Percent == 0 && i < len(table)-1 {
				continue // of no value
			}
			if got, want := float64(s.Quantile(q.Percent/100)), math.Round(q.Value*unit); got < want || got > want*(1+1.0/256) {
				t.Fatalf("%v ns at %v %%, want %v", got, q.Percent, want)
			}
			if i == 0 || q.Percent == 100 || q.Percent-table[i-1].Percent < 2 {
				continue
			}
			if got, want := float64(s.Quantile((table[i-1].Percent+0.5)/100)), math.Round(q.Value*unit); got < want || got > want*(1+1.0/256) {
				t.Fatalf("%v ns between %v and %v %%, want %v: the upper end of the step", got, table[i-1].Percent, q.Percent, want)
			}
		}
	})
	// Both percentiles are 100: each value is counted once, and the largest is there.
	if s := (Quantiles{{100, 1}, {100, 2}}).snapshot(10, 1000); s.Count() != 10 || s.Min() != 1000 || s.Max() != 2000 {
		t.Errorf("%d values from %d to %d", s.Count(), s.Min(), s.Max())
	}
	if s := (Quantiles{{50, 1}, {100, 2}}).snapshot(1, 1000); s.Count() != 1 || s.Max() != 2000 {
		t.Errorf("%d values up to %d, want the largest alone", s.Count(), s.Max())
	}
}

func TestQuantileTablesComeBackFromTheirJSON(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		percents := rapid.SliceOfDistinct(rapid.Float64Range(0, 100), rapid.ID[float64]).Draw(t, "percents")
		slices.Sort(percents)
		want, value := Quantiles{}, 0.0
		for _, p := range percents {
			value += float64(rapid.IntRange(0, 3).Draw(t, "step")) / 4
			want = append(want, Quantile{p, value})
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Quantiles
		if err := json.Unmarshal(data, &got); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s became %v: %v", data, got, err)
		}
	})
	if data, err := json.Marshal(Quantiles{{0, 0}, {2.5, 1}, {100, 1.5}}); err != nil || string(data) != `{"0.0":0,"2.5":1,"100.0":1.5}` {
		t.Errorf("%s, %v; want percentiles as Java writes them", data, err)
	}
	for text, want := range map[string]string{
		`{"-1":1}`: `percentile "-1"`, `{"100.1":1}`: `percentile "100.1"`, `{"NaN":1}`: `percentile "NaN"`, `{"p50":1}`: `percentile "p50"`,
		`{"50":-0.1}`: "-0.1 at percentile 50", `[]`: "quantile table", `{"50":"1"}`: "quantile table",
	} {
		q := Quantiles{{1, 1}}
		if err := json.Unmarshal([]byte(text), &q); err == nil || !strings.Contains(err.Error(), want) || len(q) != 1 {
			t.Errorf("%s: %v, and %v is left", text, err, q)
		}
	}
}

func TestOfSeveralBadQuantilesTheSameIsNamedEveryTime(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		var q Quantiles
		err := json.Unmarshal([]byte(`{"50":-1,"p99":2,"101":3,"99":1e300}`), &q)
		if err == nil {
			t.Fatal("bad quantiles are read")
		}
		seen[err.Error()] = true
	}
	if len(seen) > 1 {
		t.Errorf("different complaints: %v", seen)
	}
}

func TestANullInAListOrATableIsNoNumber(t *testing.T) {
	for key, want := range map[string]string{
		`"publishRate":[1,null]`:                                             "publishRate[1] is null; allowed: a number, or none there",
		`"publishRate":[1],"backlog":[null,5]`:                               "backlog[0] is null",
		`"publishRate":[1],"publishLatency99pct":[null]`:                     "publishLatency99pct[0] is null",
		`"publishRate":[1],"aggregatedEndToEndLatencyQuantiles":{"50":null}`: "aggregatedEndToEndLatencyQuantiles.50 is null",
		`"publishRate":[1],"backlog":null`:                                   "",
	} {
		_, err := FromOMB("r.json", []byte(`{"driver":"K","messageSize":100,"aggregatedPublishLatencyQuantiles":{"50":1},`+key+`}`), time.Time{}, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
}

func TestOneAggregatedTableIsEnough(t *testing.T) {
	o := small()
	o.PublishRate, o.ConsumeRate = []float64{0}, []float64{0}
	if r, err := imports(t, "r.json", o, nil); err != nil || r.Result.Latency.EndToEndService.Count() != 0 || r.Result.Latency.Lag.Count() != 0 {
		t.Errorf("publish alone, at a rate of 0: %v", err)
	}
	o.AggregatedEndToEndLatencyQuantiles, o.AggregatedPublishLatencyQuantiles = o.AggregatedPublishLatencyQuantiles, nil
	if r, err := imports(t, "r.json", o, nil); err != nil || r.Result.Latency.Service.Count() != 0 || r.Result.Latency.EndToEndService.Count() != 2 { // of 50 % and 100 %
		t.Errorf("end to end alone: %v", err)
	}
	o.ConsumeRate = []float64{1, -2}
	if _, err := imports(t, "r.json", o, nil); err == nil || err.Error() != "r.json: consumeRate: -2, allowed are 0 to 1e+12" {
		t.Error(err)
	}
	o.PublishRate = nil
	if _, err := imports(t, "r.json", o, nil); err == nil || !strings.Contains(err.Error(), "no publishRate") {
		t.Error(err)
	}
}

func TestASpecOfAnotherWorkIsRefusedByTheFieldThatDiffers(t *testing.T) {
	like := study.Spec{
		Name: "n", Broker: "kafka", Version: "4", Delivery: "at-least-once", Topics: 2, PartitionsPerTopic: 3, ProducersPerTopic: 4,
		ConsumerPerSubscription: study.Consumers{5}, MessageSize: study.Sizes{{Size: 100, Weight: 1}}, Attach: []string{"a:1"},
	}
	r, err := imports(t, "r.json", small(), &like)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Spec; s.Delivery != "at-least-once" || s.Broker != "omb:my-kafka" || s.Version != "" || s.Attach != nil || s.Name != "" || s.Label != "w" {
		t.Errorf("spec %+v", s)
	}
	for field, change := range map[string]func(*OMB){
		"messageSize is 101 in the file and 100":           func(o *OMB) { o.MessageSize++ },
		"topics is 3 in the file and 2":                    func(o *OMB) { o.Topics++ },
		"partitionsPerTopic is 4 in the file and 3":        func(o *OMB) { o.Partitions++ },
		"producersPerTopic is 5 in the file and 4":         func(o *OMB) { o.ProducersPerTopic++ },
		"consumerPerSubscription is 6 in the file and 5 i": func(o *OMB) { o.ConsumersPerTopic++ },
	} {
		o := small()
		change(&o)
		if _, err := imports(t, "r.json", o, &like); err == nil || !strings.HasPrefix(err.Error(), "r.json: "+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A file of ours holds the mean of what was sent, which is seldom that of the spec.
func TestAMixOfSizesAgreesWithAnyMeanOfIt(t *testing.T) {
	like := study.Spec{
		Broker: "kafka", Topics: 2, PartitionsPerTopic: 3, ProducersPerTopic: 4, ConsumerPerSubscription: study.Consumers{5},
		MessageSize: study.Sizes{{Size: 50, Weight: 1}, {Size: 200, Weight: 1}}, // a mean of 125
	}
	if _, err := imports(t, "r.json", small(), &like); err != nil { // 100
		t.Error(err)
	}
	like.MessageSize[0].Size = 150
	if _, err := imports(t, "r.json", small(), &like); err == nil || !strings.Contains(err.Error(), "messageSize is 100 in the file and 150") {
		t.Error(err)
	}
}

func TestAnImportedRecordHoldsTheWorkOfTheFile(t *testing.T) {
	r, err := imports(t, "dir/r.json", small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Spec
	got := fmt.Sprint(s.Broker, s.Topics, s.PartitionsPerTopic, s.ProducersPerTopic, s.ConsumerPerSubscription, s.MessageSize.Mean(), len(s.MessageSize), s.Measure, s.Label)
	if want := fmt.Sprint("omb:my-kafka", 2, 3, 4, 5, 100, 1, "imported", "w"); got != want {
		t.Errorf("spec %s, want %s", got, want)
	}
	for name, v := range map[string]string{"persistence": s.Persistence, "acks": s.Acks, "ordering": s.Ordering, "tls": s.TLS, "load": s.Load.Shape, "delivery": s.Delivery} {
		if v != "unknown" {
			t.Errorf("%s is %q, which the file doesn't say", name, v)
		}
	}
	if r.Schema != store.Schema || r.Label != "w" || r.Repetition != 1 || r.Status != store.OK || r.Axes["broker"] != "omb:my-kafka" {
		t.Errorf("record %+v", r)
	}
	if got := digest(encoded(t, small())); len(got) != 16 || !strings.Contains(r.Doubts[0].Text, "r.json (sha256 "+got+"…)") || strings.Contains(r.Doubts[0].Text, "dir") {
		t.Errorf("doubt %q, digest %s", r.Doubts[0].Text, got)
	}
	if got := digest(nil); got != "e3b0c44298fc1c14" { // FIPS 180, the empty message
		t.Errorf("digest %s", got)
	}
}

func TestAFileIsKnownByItsContents(t *testing.T) {
	r, err := imports(t, "r.json", small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	other, ours := r, r
	other.Source = "0123456789abcdef"
	ours.Source, ours.Versions.Tool = "", "1.0"
	if !SameSource(r, r) || SameSource(other, r) || SameSource(ours, r) || SameSource(ours, ours) {
		t.Errorf("digest %q, of another file %q, of a measurement %q", r.Source, other.Source, ours.Source)
	}
}

func TestAPointIsOneWorkOnOneDriver(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []func(*OMB){
		func(*OMB) {}, func(o *OMB) { o.Workload = "w2" }, func(o *OMB) { o.Driver = "my kafka" }, func(o *OMB) { o.MessageSize = 7 },
		func(o *OMB) { o.Workload, o.Driver = "wMy", " Kafka!" },
	} {
		o := small()
		change(&o)
		r, err := imports(t, "r.json", o, nil)
		if err != nil || seen[r.PointID] || len(r.PointID) != len("omb-")+12 {
			t.Errorf("point %q: %v", r.PointID, err)
		}
		seen[r.PointID] = true
	}
}

func TestAFileNameWithoutATimeLeavesTheFilesOwn(t *testing.T) {
	written := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for name, want := range map[string]time.Time{
		"a-2024-02-08-10-51-41.json": time.Date(2024, 2, 8, 10, 51, 41, 0, time.UTC),
		"a-2024-13-08-10-51-41.json": written, "a-2024-02-08-10-51-41.txt": written, "r.json": written,
	} {
		r, err := imports(t, name, small(), nil)
		if err != nil || r.Ended != want || r.Began != want.Add(-10*time.Second) {
			t.Errorf("%s: from %v to %v: %v", name, r.Began, r.Ended, err)
		}
	}
}

// The file of a fork says more: Redpanda's has a value for each second where a workload says sampleRateMillis: 1000, and counts failed sends.
func TestWhatTheFileOfAForkSaysIsNotUnknown(t *testing.T) {
	o := small()
	o.PublishRate, o.ConsumeRate = []float64{1000, 3000, 2000}, []float64{2000, 6000, 4000}
	o.ombFork = ombFork{
		BeginTime: "2024-11-11-15-57-04", EndTime: "2024-11-11-16-30-18", KeyDistributor: "NO_KEY", ProducerRate: 2000, SubscriptionsPerTopic: 2,
		SampleRateMillis: 1000, PublishFailed: []int64{0, 7, 5},
	}
	r, err := imports(t, "r-2023-01-01-00-00-00.json", o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Result.Seconds != 3 || r.Result.PublishRate != 2000 || r.Result.Series[1].OffsetNs != 2e9 || r.Result.Latency.Service.Count() != 6000 {
		t.Errorf("%v s at %v/s, the second sample at %v", r.Result.Seconds, r.Result.PublishRate, r.Result.Series[1].OffsetNs)
	}
	if s := r.Spec; s.SubscriptionsPerTopic != 2 || s.Load.Rate != 2000 || s.KeyDistributor != "NO_KEY" {
		t.Errorf("%d subscriptions, %v/s, %s", s.SubscriptionsPerTopic, s.Load.Rate, s.KeyDistributor)
	}
	if r.Began != time.Date(2024, 11, 11, 15, 57, 4, 0, time.UTC) || r.Ended != time.Date(2024, 11, 11, 16, 30, 18, 0, time.UTC) {
		t.Errorf("from %v to %v", r.Began, r.Ended)
	}
	for _, want := range []string{"about 12 sends failed", "the file doesn't say the guarantee, versions or host"} {
		if !slices.ContainsFunc(r.Doubts, func(d store.Doubt) bool { return d.Text == want }) {
			t.Errorf("no %q in %v", want, r.Doubts)
		}
	}
	like := study.Spec{
		Broker: "kafka", Topics: 2, PartitionsPerTopic: 3, ProducersPerTopic: 4, SubscriptionsPerTopic: 1,
		ConsumerPerSubscription: study.Consumers{5}, MessageSize: study.Sizes{{Size: 100, Weight: 1}},
	}
	if _, err := imports(t, "r.json", o, &like); err == nil || !strings.Contains(err.Error(), "subscriptionsPerTopic is 2 in the file and 1") {
		t.Error(err)
	}
	o.ProducerRate = 10_000_000 // flat out
	if r, err = imports(t, "r.json", o, nil); err != nil || r.Spec.Load.Rate != 0 {
		t.Errorf("%v/s, %v", r.Spec.Load.Rate, err)
	}
	for _, millis := range []int64{-1, 1e12} {
		o.SampleRateMillis = millis
		if _, err := imports(t, "r.json", o, nil); err == nil || !strings.Contains(err.Error(), "sampleRateMillis") {
			t.Errorf("%d ms: %v", millis, err)
		}
	}
}
