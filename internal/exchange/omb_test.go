package exchange

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

const sample = "testdata/1-topic-1kb-Kafka-2024-02-08-10-51-41.json"

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func imported(t *testing.T) store.Record {
	t.Helper()
	r, err := FromOMB(sample, read(t, sample), time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsNoResultIsRefusedWithASentence(t *testing.T) {
	good := string(read(t, sample))
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "not a result of the OpenMessaging Benchmark"},
		{"not JSON", "workload: x", "not a result of the OpenMessaging Benchmark"},
		{"something else", `{"a":1}`, "it has no driver or no publishRate"},
		{"two of them", good + good, "after top-level value"},
		{"too many periods", `{"driver":"Kafka","publishRate":[1` + strings.Repeat(",1", 100_000) + `]}`, "publishRate: 100001 values, allowed are up to 100000"},
		{"too many objects", `{"driver":"Kafka","brokermark":{"doubts":[{}` + strings.Repeat(",{}", 800_000) + `]}}`, "its objects and values take up to 251 MB of memory; allowed: up to 192"},
		{"unfinished", `{"driver":"Kafka","publishRate":[1]}`, "it has no aggregated quantiles"},
		{"negative rate", `{"driver":"Kafka","publishRate":[-1],"aggregatedPublishLatencyQuantiles":{"50.0":1}}`, "publishRate: -1, allowed are 0 to 1e+12"},
		{"negative percentile of a period", `{"driver":"Kafka","publishRate":[1],"endToEndLatency50pct":[-5],"aggregatedPublishLatencyQuantiles":{"50.0":1}}`, "endToEndLatency50pct: -5, allowed are 0 to 1e+12"},
		{"percentile of a period of an age", `{"driver":"Kafka","publishRate":[1],"endToEndLatency99pct":[1e20],"aggregatedPublishLatencyQuantiles":{"50.0":1}}`, "endToEndLatency99pct: 1e+20, allowed are 0 to 1e+12"},
		{"negative size", `{"driver":"Kafka","publishRate":[1],"messageSize":-1,"aggregatedPublishLatencyQuantiles":{"50.0":1}}`, "messageSize: -1, allowed are 0 to 1e+12"},
		{"negative topics", `{"driver":"Kafka","publishRate":[1],"topics":-3,"aggregatedPublishLatencyQuantiles":{"50.0":1}}`, "topics: -3, allowed are 0 to 1e+12"},
		{"percentile", `{"driver":"Kafka","publishRate":[1],"aggregatedPublishLatencyQuantiles":{"150":1}}`, `percentile "150", allowed are 0 to 100`},
		{"negative latency", `{"driver":"Kafka","publishRate":[1],"aggregatedPublishLatencyQuantiles":{"50":-1}}`, "allowed are 0 and above"},
		{"latency of a million years", `{"driver":"Kafka","publishRate":[1],"aggregatedPublishLatencyQuantiles":{"50":1,"99":1e300}}`, "1e+300 at percentile 99, allowed are up to 1e+12"},
		{"rate of more than there is", `{"driver":"Kafka","publishRate":[1e300],"aggregatedPublishLatencyQuantiles":{"50":1}}`, "publishRate: 1e+300, allowed are 0 to 1e+12"},
		{"falling", `{"driver":"Kafka","publishRate":[1],"aggregatedPublishLatencyQuantiles":{"50":2,"60":1}}`, "1 at percentile 60 is less than 2 at 50"},
	} {
		_, err := FromOMB("dir/r.json", []byte(c.data), time.Now(), nil)
		if err == nil || !strings.HasPrefix(err.Error(), "r.json: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAnImportedResultSaysWhatItIs(t *testing.T) {
	r := imported(t)
	if r.Spec.Broker != "omb:kafka" || r.Versions.Tool != ImportTool || r.Study != "imported" || r.Spec.Delivery != "unknown" {
		t.Errorf("broker %q, tool %q, study %q, delivery %q", r.Spec.Broker, r.Versions.Tool, r.Study, r.Spec.Delivery)
	}
	var codes []string
	for _, d := range r.Doubts {
		codes = append(codes, d.Code)
	}
	for _, want := range []string{"imported", "omb-latency", "omb-end-to-end", "omb-no-ledger", "omb-rebuilt", "omb-unstated", "failed-sends"} {
		if !slices.Contains(codes, want) {
			t.Errorf("the doubt %s is missing in %v", want, codes)
		}
	}
	if want := time.Date(2024, 2, 8, 10, 51, 41, 0, time.UTC); !r.Ended.Equal(want) || r.Ended.Sub(r.Began) != 30*time.Second {
		t.Errorf("began %v, ended %v", r.Began, r.Ended)
	}
	flat := results.Flat(r)[0]
	for _, key := range []string{"e2e_p99_ns", "lost", "broker_cpu_s_per_million", "subscriptions", "consumers"} {
		if got := flat.Value(key); got != nil {
			t.Errorf("%s is unknown, and given as %v", key, got)
		}
	}
	if published, received := flat.Value("publish_rate"), flat.Value("receive_rate"); published != 1000.0 || received != 999.0 {
		t.Errorf("rates %v and %v", published, received)
	}
}

func TestPublishedPercentilesComeBackFromTheRebuiltHistogram(t *testing.T) {
	var o OMB
	if err := json.Unmarshal(read(t, sample), &o); err != nil {
		t.Fatal(err)
	}
	l := imported(t).Result.Latency
	for _, c := range []struct {
		name string
		q    float64
		got  int64
		want float64
	}{
		{"publish p50", 0.5, l.Service.Quantile(0.5), o.AggregatedPublishLatency50pct * 1e6},
		{"publish p99", 0.99, l.Service.Quantile(0.99), o.AggregatedPublishLatency99pct * 1e6},
		{"publish max", 1, l.Service.Quantile(1), o.AggregatedPublishLatencyMax * 1e6},
		{"end to end p50", 0.5, l.EndToEndService.Quantile(0.5), o.AggregatedEndToEndLatency50pct * 1e6},
		{"end to end p99", 0.99, l.EndToEndService.Quantile(0.99), o.AggregatedEndToEndLatency99pct * 1e6},
		{"delay p99", 0.99, l.Lag.Quantile(0.99), float64(o.AggregatedPublishDelayLatency99pct) * 1e3},
	} {
		if !near(float64(c.got), c.want) {
			t.Errorf("%s: %d, want %v", c.name, c.got, c.want)
		}
	}
	if n := l.Service.Count(); n != 30_000 {
		t.Errorf("%d values, want 1,000 a second for 30 s", n)
	}
	if l.EndToEnd.Count() != 0 || l.Publish.Count() != 0 {
		t.Error("latencies from the intended time were invented")
	}
}

func TestFilesOfTheSameWorkAreOnePoint(t *testing.T) {
	a, b := imported(t), imported(t)
	other := strings.Replace(string(read(t, sample)), `"topics" : 1`, `"topics" : 2`, 1)
	c, err := FromOMB(sample, []byte(other), time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.PointID != b.PointID || a.PointID == c.PointID || !strings.HasPrefix(a.PointID, "omb-") {
		t.Errorf("points %s, %s and %s", a.PointID, b.PointID, c.PointID)
	}
}

func TestLikeAPointTakesItsSpecUnlessTheFileContradicts(t *testing.T) {
	like := storetest.Demo()[0].Spec
	if _, err := FromOMB(sample, read(t, sample), time.Now(), &like); err == nil || !strings.Contains(err.Error(), "messageSize is 1024 in the file and 100") {
		t.Error(err)
	}
	like.MessageSize = study.Sizes{{Size: 1024, Weight: 1}}
	r, err := FromOMB(sample, read(t, sample), time.Now(), &like)
	if err != nil {
		t.Fatal(err)
	}
	if (results.Point{Spec: r.Spec}).Workload("broker") != (results.Point{Spec: like}).Workload("broker") || r.Spec.Broker != "omb:kafka" {
		t.Errorf("another workload: %+v", r.Spec)
	}
}

func TestAnExportHasEveryFieldAndReadsBackTheSame(t *testing.T) {
	var record store.Record
	for _, r := range storetest.Demo() {
		if r.Result != nil && len(r.Result.Series) > 0 && r.Status == store.OK {
			record = r
			break
		}
	}
	o, err := ToOMB(record)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	// The fields of TestResult, from its names: what is for publish is for end to end too.
	for _, name := range strings.Fields("workload driver messageSize topics partitions producersPerTopic consumersPerTopic publishRate publishErrorRate consumeRate backlog") {
		if fields[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for _, latency := range []string{"PublishLatency", "PublishDelayLatency", "EndToEndLatency"} {
		for _, what := range strings.Fields("Avg 50pct 75pct 95pct 99pct 999pct 9999pct 99999pct Max") {
			list, ok := fields[strings.ToLower(latency[:1])+latency[1:]+what].([]any)
			if !ok || len(list) == 0 {
				t.Errorf("the list of %s %s is missing", latency, what)
			}
			if _, ok := fields["aggregated"+latency+what].(float64); !ok {
				t.Errorf("aggregated %s %s is missing", latency, what)
			}
		}
		if table, ok := fields["aggregated"+latency+"Quantiles"].(map[string]any); !ok || len(table) < 20 || table["100.0"] == nil {
			t.Errorf("the quantiles of %s: %v", latency, fields["aggregated"+latency+"Quantiles"])
		}
	}
	var back OMB
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, o) {
		t.Error("reading the export back gives something else")
	}
	r, err := FromOMB("x.json", data, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		if a, b := float64(r.Result.Latency.Service.Quantile(q)), float64(record.Result.Latency.Service.Quantile(q)); math.Abs(a-b) > 2*within*b+2000 {
			t.Errorf("p%v: %v came back as %v", 100*q, b, a)
		}
	}
}

// The samples of an imported file are ten seconds apart, and each stands for the time before it.
func TestAnImportIsExportedWithItsOwnRates(t *testing.T) {
	data := read(t, sample)
	r, err := FromOMB(sample, data, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file OMB
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	o, err := ToOMB(r)
	if err != nil || !slices.Equal(o.PublishRate, file.PublishRate) || !slices.Equal(o.ConsumeRate, file.ConsumeRate) || !slices.Equal(o.Backlog, file.Backlog) {
		t.Errorf("%v; rates %v and %v, backlog %v; want %v, %v, %v", err, o.PublishRate, o.ConsumeRate, o.Backlog, file.PublishRate, file.ConsumeRate, file.Backlog)
	}
}

func TestRefusedRecordsCannotBeExported(t *testing.T) {
	for _, r := range storetest.Demo() {
		if _, err := ToOMB(r); (err == nil) != (r.Result != nil) {
			t.Errorf("%s, %s: %v", r.PointID, r.Status, err)
		}
	}
}

func TestFileNamesAreSafeAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range storetest.Demo() {
		name := FileName(r)
		if strings.ContainsAny(name, `/\:*?"<>| `) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || seen[name] {
			t.Errorf("file name %q", name)
		}
		seen[name] = true
	}
}

// exportedAndImported is what comes of a record that is exported as a result of OMB and imported again.
func exportedAndImported(t *testing.T, r store.Record) (store.Record, error) {
	t.Helper()
	o, err := ToOMB(r)
	if err != nil {
		t.Fatal(err)
	}
	return imports(t, "x.json", o, nil)
}

// What a record can't conclude, its export can't either, after it came back.
func TestAnExportComesBackWithItsStatusAndDoubts(t *testing.T) {
	for _, r := range storetest.Demo() {
		if r.Result == nil {
			continue
		}
		r.Doubts = append(r.Doubts, store.Doubt{Code: "generator-lag", Text: "the generator was late"}, store.Doubt{Code: "omb-rebuilt", Text: "once before"})
		back, err := exportedAndImported(t, r)
		if err != nil {
			if !strings.Contains(err.Error(), "wasn't finished") { // no message was received
				t.Error(err)
			}
			continue
		}
		if back.Status != r.Status || back.Reason != r.Reason {
			t.Errorf("%s, %q came back as %s, %q", r.Status, r.Reason, back.Status, back.Reason)
		}
		text := map[string]string{}
		for _, d := range back.Doubts {
			if text[d.Code] != "" {
				t.Errorf("twice %s: %+v", d.Code, back.Doubts)
			}
			text[d.Code] = d.Text
		}
		if text["generator-lag"] == "" || text["omb-end-to-end"] != "" || !strings.HasPrefix(text["imported"], "exported by brokermark from repetition") {
			t.Errorf("%+v", back.Doubts)
		}
	}
}

// An export knows how long its last period was, when the run was, and what it can't be asked about.
func TestAnExportComesBackAsLongAsItWas(t *testing.T) {
	began := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	r := store.Record{
		PointID: "p", Status: store.OK, Began: began, Ended: began.Add(20 * time.Second),
		Spec:   study.Spec{Broker: "kafka", Measure: "rate"},
		Doubts: []store.Doubt{{Code: "failed-sends", Text: "30 of 20000 sends failed"}},
		Result: &store.Result{Measurement: store.Measurement{
			Seconds: 15, PublishRate: 4000.0 / 3, ReceiveRate: 4000.0 / 3, Books: store.Books{Sent: 20_000, Failed: 30},
			Series: []store.Tick{
				{OffsetNs: 10e9, Phase: "measure", PublishRate: 1000, ReceiveRate: 1000},
				{OffsetNs: 15e9, Phase: "measure", PublishRate: 2000, ReceiveRate: 2000},
			},
		}},
	}
	h := hist.New()
	h.Record(1e6)
	r.Result.Latency.Service, r.Result.Latency.EndToEndService = h.Snapshot(), h.Snapshot()
	comeBack := func() store.Record {
		back, err := exportedAndImported(t, r)
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	doubt := func(back store.Record, code string) string {
		i := slices.IndexFunc(back.Doubts, func(d store.Doubt) bool { return d.Code == code })
		if i < 0 {
			return ""
		}
		return back.Doubts[i].Text
	}
	back := comeBack()
	if got := back.Result; got.Seconds != 15 || math.Abs(got.PublishRate-r.Result.PublishRate) > 1e-9 || got.Latency.Service.Count() != 20_000 ||
		got.Series[1].OffsetNs != 15e9 {
		t.Errorf("15 s at 1333/s came back as %v s at %v/s with %d values, %+v", got.Seconds, got.PublishRate, got.Latency.Service.Count(), got.Series)
	}
	if !back.Began.Equal(r.Began) || !back.Ended.Equal(r.Ended) {
		t.Errorf("from %v to %v", back.Began, back.Ended)
	}
	if got := doubt(back, "failed-sends"); got != r.Doubts[0].Text {
		t.Errorf("%q", got)
	}
	if got := doubt(back, "omb-latency"); !strings.Contains(got, "from the actual send") {
		t.Errorf("%q", got)
	}
	r.Doubts, r.Spec.Measure = nil, "peak"
	back = comeBack()
	if got := doubt(back, "failed-sends"); got != "about 30 sends failed" {
		t.Errorf("%q", got)
	}
	if got := doubt(back, "omb-latency"); !strings.Contains(got, "closed loop") {
		t.Errorf("%q", got)
	}
	for _, seconds := range []string{"-1", "1e10"} {
		data := strings.Replace(string(read(t, sample)), "{", `{"brokermark":{"status":"ok","seconds":`+seconds+`},`, 1)
		if _, err := FromOMB("x.json", []byte(data), time.Now(), nil); err == nil || !strings.Contains(err.Error(), "brokermark.seconds") {
			t.Errorf("%s seconds: %v", seconds, err)
		}
	}
}

// A file that says that it is of a closed loop has a latency that only says how full the window was, as the record's own.
func TestTheLatencyOfAClosedLoopIsNotMeasuredAfterAnImport(t *testing.T) {
	h := hist.New()
	h.Record(1e6)
	r := store.Record{PointID: "p", Status: store.OK, Spec: study.Spec{Broker: "kafka"}, Result: &store.Result{Measurement: store.Measurement{
		Seconds: 5, PublishRate: 1000, ReceiveRate: 1000, Latency: store.Latency{Service: h.Snapshot(), EndToEndService: h.Snapshot()},
	}}}
	for measure, closed := range map[string]bool{"peak": true, "backlog": true, "count": true, "rate": false} {
		r.Spec.Measure = measure
		back, err := exportedAndImported(t, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{results.KeyEndToEndServiceP99, results.KeyServiceP99} {
			if got := results.MustMetric(key).Of(back); math.IsNaN(got) != closed {
				t.Errorf("%s of a %s came back as %v", key, measure, got)
			}
		}
		if flat := results.Flat(back)[0]; flat.Value("closed_loop") != closed || flat.Value("service_p99_ns") == nil {
			t.Errorf("%s: closed loop %v, service p99 %v", measure, flat.Value("closed_loop"), flat.Value("service_p99_ns"))
		}
		again, err := exportedAndImported(t, back)
		if err != nil || again.Spec.ClosedLoop() != closed {
			t.Errorf("%s, exported once more: %v, %v", measure, again.Spec.Measure, err)
		}
	}
}

func TestAClosedLoopIsNotLikeAPointOfARate(t *testing.T) {
	h := hist.New()
	h.Record(1e6)
	r := store.Record{PointID: "p", Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"}, Result: &store.Result{Measurement: store.Measurement{
		Seconds: 5, PublishRate: 1000, Latency: store.Latency{Service: h.Snapshot()},
	}}}
	o, err := ToOMB(r)
	if err != nil {
		t.Fatal(err)
	}
	like := r.Spec
	like.ConsumerPerSubscription = study.Consumers{0}
	like.MessageSize = study.Sizes{{Size: 0, Weight: 1}}
	if back, err := imports(t, "x.json", o, &like); err != nil || !back.Spec.ClosedLoop() {
		t.Errorf("like a peak: %v", err)
	}
	like.Measure = "rate"
	want := "the file is of a closed loop, and the point it is said to be like measures rate"
	if _, err := imports(t, "x.json", o, &like); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// What the file has beside what is read could take forty times its length.
func TestALargeResultTakesLittleMoreThanItsLength(t *testing.T) {
	data := strings.Replace(string(read(t, sample)), "{", `{"junk": [[]`+strings.Repeat(",[]", 1_000_000)+"],", 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := FromOMB(sample, []byte(data), time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(data)) {
		t.Errorf("a file of %d bytes took %d", len(data), took)
	}
}
