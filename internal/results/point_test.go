package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// latencies is a histogram of 1..n times unit.
func latencies(n int, unit int64) hist.Snapshot {
	h := hist.New()
	for i := range n {
		h.Record(int64(i+1) * unit)
	}
	return h.Snapshot()
}

// Every figure is that of the field it is named after: no two fields of this record hold the same value.
func TestEveryMetricIsOfTheFieldItIsNamedAfter(t *testing.T) {
	m := store.Measurement{
		Books: store.Books{
			Due: 101, Unsent: 102, Sent: 103, Acked: 104, Failed: 105, Unresolved: 106, Expected: 107, Received: 108, Lost: 109, LostAcked: 110,
			Duplicated: 111, Reordered: 112, Corrupted: 113, Resent: 114, Dropped: 115,
		},
		OfferedRate: 201, PublishRate: 202, ReceiveRate: 203, Throughput: 90, PayloadSize: 1000, BacklogMax: new(int64(204)),
		Corrected: &store.Corrected{IntervalNs: 205, MeanNs: 206, P99Ns: 207},
		Series: []store.Tick{
			{OffsetNs: 5e8, Phase: "measure", FromSendNs: 100, FromSendCount: 30},
			{OffsetNs: 1e9, Phase: "measure", FromSendNs: 200, FromSendCount: 10},
			{OffsetNs: 15e8, Phase: "measure", FromSendNs: 600, FromSendCount: 1},
			{OffsetNs: 2e9, Phase: "drain", FromSendNs: 9000, FromSendCount: 1},
		},
		Latency: store.Latency{
			EndToEnd: latencies(1000, 1000), EndToEndService: latencies(1000, 2000), Publish: latencies(1000, 3000), Service: latencies(1000, 4000),
			Lag: latencies(1000, 5000), GeneratorLag: latencies(1000, 6000),
		},
		Cost: store.Cost{
			BrokerKnown: true, BrokerUserSeconds: 3, BrokerSystemSeconds: 4, GeneratorUserSeconds: 5, GeneratorSystemSeconds: 6, Messages: 2_000_000,
			BrokerRSSBytes: 301, BrokerDiskWriteBytes: 302, BrokerDiskReadBytes: new(int64(303)), BrokerFlushes: new(int64(500_000)),
			Shares: &store.Shares{Seconds: 10, Broker: 0.75, BrokerUser: 0.5, BrokerSystem: 0.25, Sides: &store.SidesTick{
				Producing: store.SideTick{User: 0.701, System: 0.702}, Consuming: store.SideTick{User: 0.703, System: 0.704},
			}},
			Sides: &store.Sides{
				Producing: store.Side{UserSeconds: 1, SystemSeconds: 2, RSSBytes: 705}, Consuming: store.Side{UserSeconds: 3, SystemSeconds: 5, RSSBytes: 706},
			},
			Relays: &store.Side{UserSeconds: 2, SystemSeconds: 4, RSSBytes: 707},
		},
		Pauses: &store.Pauses{Late: latencies(1000, 7000), LongestNs: 7_000_401},
	}
	spec := study.Spec{Measure: "rate", Topics: 2, ProducersPerTopic: 5, SubscriptionsPerTopic: 2, ConsumerPerSubscription: study.Consumers{7}}
	r := store.Record{Spec: spec, Result: &store.Result{
		Measurement: m, Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 501, High: 502}, Knee: &store.Knee{Rate: 505}, Count: &store.Count{TotalSeconds: 503}, Backlog: &store.Backlog{DrainRate: 504, FillingEndToEnd: latencies(1000, 9000), LaggingEndToEnd: latencies(1000, 11_000)},
		Pipeline: &store.Pipeline{
			Response: latencies(1000, 8000), QueueMax: new(int64(601)), QueueBytes: new(int64(603)), ConsumerCapacity: new(0.604),
			Parts: []store.PipelinePart{{Name: "server", UserSeconds: 0.002, SystemSeconds: 0.00315}, {Name: "consumer", PeakCPU: 0.602}},
		},
	}}
	quantile := func(q, unit float64) float64 { return math.Ceil(q*1000) * unit } // of 1..1000, within a bucket
	want := map[string]float64{
		"e2e_filling_p50_ns": quantile(0.5, 9000), "e2e_filling_p99_ns": quantile(0.99, 9000), "e2e_filling_max_ns": 9e6,
		"e2e_lagging_p50_ns": quantile(0.5, 11_000), "e2e_lagging_p99_ns": quantile(0.99, 11_000), "e2e_lagging_max_ns": 11e6,
		"due": 101, "unsent": 102, "sent": 103, "acked": 104, "failed": 105, "unresolved": 106, "received": 108, "lost": 109, "lost_acked": 110,
		"duplicated": 111, "reordered": 112, "corrupted": 113, "resent": 114, "dropped": 115, "offered_rate": 201, "publish_rate": 202, "receive_rate": 203, "throughput": 90,
		"sustainable_low": 501, "sustainable_high": 502, "sustainable_held_s": 20, "total_s": 503, "knee_rate": 505, "drain_rate": 504,
		"e2e_p50_ns": quantile(0.5, 1000), "e2e_p90_ns": quantile(0.9, 1000), "e2e_p95_ns": quantile(0.95, 1000), "e2e_p99_ns": quantile(0.99, 1000),
		"e2e_min_ns": 1000, "e2e_mean_ns": 500.5 * 1000, "publish_min_ns": 3000, "publish_mean_ns": 500.5 * 3000, "publish_p95_ns": quantile(0.95, 3000),
		"publish_max_ns": 3e6, "service_mean_ns": 500.5 * 4000, "e2e_service_min_ns": 2000, "e2e_service_mean_ns": 500.5 * 2000,
		"e2e_service_p50_ns": quantile(0.5, 2000), "e2e_service_p95_ns": quantile(0.95, 2000), "e2e_service_p99_ns": quantile(0.99, 2000),
		"e2e_service_max_ns": 2e6, "mean_of_seconds_ns": (125.0 + 600) / 2, "corrected_mean_ns": 206, "corrected_p99_ns": 207,
		"publish_mb_s": 0.202, "receive_mb_s": 0.203, "producer_rate": 20.2, "consumer_rate": 203.0 / 28, "backlog_max": 204,
		"broker_disk_read_bytes": 303, "broker_flushes_per_message": 0.25, "broker_cpu_user_pct": 50, "broker_cpu_system_pct": 25,
		"e2e_p999_ns": quantile(0.999, 1000), "e2e_max_ns": 1e6, "publish_p50_ns": quantile(0.5, 3000), "publish_p99_ns": quantile(0.99, 3000),
		"service_p50_ns": quantile(0.5, 4000), "service_p99_ns": quantile(0.99, 4000), "lag_p99_ns": quantile(0.99, 5000),
		"pause_p99_ns": quantile(0.99, 7000), "pause_max_ns": 7_000_401,
		"broker_cpu_s_per_million": 3.5, "generator_cpu_s_per_million": 5.5, "broker_rss_bytes": 301, "broker_disk_write_bytes": 302,
		"producer_cpu_s_per_million": 1.5, "producer_cpu_user_pct": 70.1, "producer_cpu_system_pct": 70.2, "producer_rss_bytes": 705,
		"consumer_cpu_s_per_million": 4, "consumer_cpu_user_pct": 70.3, "consumer_cpu_system_pct": 70.4, "consumer_rss_bytes": 706,
		"relay_cpu_s_per_million": 3, "relay_rss_bytes": 707,
		"response_min_ns": 8000, "response_mean_ns": 500.5 * 8000, "response_p50_ns": quantile(0.5, 8000), "response_p99_ns": quantile(0.99, 8000),
		"response_max_ns": 8e6, "queue_max": 601, "queue_memory_bytes": 603, "consumer_capacity_pct": 60.4, "server_cpu_us_per_request": 50, "consumer_cpu_max_pct": 60.2,
	}
	for _, m := range Metrics {
		expected, ok := want[m.Key]
		if !ok {
			t.Errorf("nothing is known of %s", m.Key)
		}
		if got := m.Of(r); math.Abs(got-expected) > 0.004*expected {
			t.Errorf("%s is %v, want %v", m.Key, got, expected)
		}
		if found, err := MetricByKey(m.Key); err != nil || found.Name != m.Name {
			t.Errorf("%s isn't found: %v", m.Key, err)
		}
		if v := m.Of(store.Record{}); !math.IsNaN(v) {
			t.Errorf("%s of nothing is %v", m.Key, v)
		}
		bare := m.Of(store.Record{Spec: study.Spec{Measure: "rate"}, Result: &store.Result{}})
		if !math.IsNaN(bare) {
			t.Errorf("%s of a result that knows nothing is %v", m.Key, bare)
		}
		short := strings.NewReplacer(" ", "", ".", "").Replace(strings.ToLower(m.Name))
		if m.Name == "" || m.Unit == unit.Nanoseconds != strings.HasSuffix(m.Key, "_ns") || strings.Contains(short, "e2e") != strings.HasPrefix(m.Key, "e2e") {
			t.Errorf("%s is called %q", m.Key, m.Name)
		}
	}
	if len(want) != len(Metrics) {
		t.Errorf("%d metrics, %d are known", len(Metrics), len(want))
	}
	for i, kind := range LatencyKinds {
		unit := []int64{1000, 2000, 3000, 4000, 5000, 6000}[i]
		found, err := LatencyByName(kind.Name)
		if err != nil || found.Text != kind.Text || kind.Of(m.Latency).Max() != unit*1000 {
			t.Errorf("latency %s: %v, up to %d", kind.Name, err, kind.Of(m.Latency).Max())
		}
	}
	if first, err := LatencyByName(""); err != nil || first.Name != "e2e" {
		t.Errorf("without a name: %s, %v", first.Name, err)
	}
	if _, err := LatencyByName("p99"); err == nil || !strings.Contains(err.Error(), "known: e2e, e2e_service, publish, service, lag, generator_lag") {
		t.Error(err)
	}
}

func TestThroughputIsWhatCameToEverySubscription(t *testing.T) {
	of := func(subscriptions int, m store.Measurement) float64 {
		return MustMetric("throughput").Of(store.Record{Spec: study.Spec{SubscriptionsPerTopic: subscriptions}, Result: &store.Result{Measurement: m}})
	}
	for _, c := range []struct {
		subscriptions int
		m             store.Measurement
		want          float64
	}{
		{0, store.Measurement{PublishRate: 50}, 50},
		{2, store.Measurement{PublishRate: 50, ReceiveRate: 80}, 40},
		{2, store.Measurement{PublishRate: 50, ReceiveRate: 120}, 50},
		{2, store.Measurement{PublishRate: 50, ReceiveRate: 80, Throughput: 7}, 7},
	} {
		if got := of(c.subscriptions, c.m); got != c.want {
			t.Errorf("%+v over %d subscriptions: %v, want %v", c.m, c.subscriptions, got, c.want)
		}
	}
}

func TestWhatMayBeWorseIsWorse(t *testing.T) {
	for _, m := range Metrics {
		want := Lower
		switch m.Key {
		case "publish_rate", "receive_rate", "throughput", "publish_mb_s", "receive_mb_s", "producer_rate", "consumer_rate", "knee_rate", "sustainable_low", "sustainable_high", "drain_rate", "consumer_capacity_pct":
			want = Higher
		case "sent", "acked", "received", "due", "offered_rate", "sustainable_held_s", "broker_flushes_per_message":
			want = Neither
		}
		if m.Better != want {
			t.Errorf("%s is better %d, want %d", m.Key, m.Better, want)
		}
	}
}

func TestWhatARecordDoesNotHoldIsUnknown(t *testing.T) {
	old := store.Record{Spec: study.Spec{Measure: "rate", Topics: 1, ProducersPerTopic: 1}, Result: &store.Result{Measurement: store.Measurement{
		PublishRate: 100, Latency: store.Latency{EndToEndService: latencies(10, 1000)},
		Cost:   store.Cost{BrokerKnown: true},
		Series: []store.Tick{{OffsetNs: 1e9, Phase: "measure", BrokerCPU: 0.5, EndToEndP50: 5}},
	}}}
	for _, key := range []string{
		"backlog_max", "publish_mb_s", "receive_mb_s", "broker_disk_read_bytes", "broker_flushes_per_message", "broker_cpu_user_pct", "broker_cpu_system_pct", "mean_of_seconds_ns",
		"corrected_mean_ns", "corrected_p99_ns", "consumer_rate",
	} {
		if v := MustMetric(key).Of(old); !math.IsNaN(v) {
			t.Errorf("%s is %v", key, v)
		}
	}
	idle := old
	idle.Result = &store.Result{Measurement: store.Measurement{Cost: store.Cost{BrokerKnown: true, Shares: &store.Shares{Seconds: 10}}, BacklogMax: new(int64(0))}}
	for _, key := range []string{"broker_cpu_user_pct", "broker_cpu_system_pct", "backlog_max"} {
		if v := MustMetric(key).Of(idle); v != 0 {
			t.Errorf("%s of a broker that did nothing is %v", key, v)
		}
	}
}

func TestACostThatWasNotMeteredIsUnknown(t *testing.T) {
	costs := func(key string, c store.Cost) float64 {
		return MustMetric(key).Of(store.Record{Result: &store.Result{Measurement: store.Measurement{Cost: c}}})
	}
	for _, c := range []store.Cost{{}, {BrokerUserSeconds: 5, Messages: 10}, {BrokerKnown: true, BrokerUserSeconds: 5}} {
		if v := costs(KeyBrokerCPU, c); !math.IsNaN(v) {
			t.Errorf("%+v costs the broker %v", c, v)
		}
	}
	if v := costs(KeyGeneratorCPU, store.Cost{GeneratorUserSeconds: 3}); !math.IsNaN(v) {
		t.Errorf("without messages the generator costs %v", v)
	}
	if v := costs(KeyBrokerCPU, store.Cost{BrokerKnown: true, Messages: 10}); v != 0 {
		t.Errorf("what was metered and took nothing costs %v", v)
	}
	unread := store.Cost{BrokerKnown: true, Messages: 10, BrokerUserSeconds: 0.1} // it ended before its memory was read
	if v := costs(KeyBrokerRSS, unread); !math.IsNaN(v) {
		t.Errorf("the memory is %v where none was read", v)
	}
}

func TestPointsAreOrderedBySizeGuaranteeMeasureRateAndBroker(t *testing.T) {
	type key struct {
		size     study.Size
		delivery string
		measure  string
		rate     float64
		broker   string
	}
	var want []key
	for _, size := range []study.Size{8, 1024} {
		for _, delivery := range []string{"at-least-once", "at-most-once"} {
			for _, measure := range []string{"sustainable", "curve", "peak", "rate", "count", "backlog"} {
				for _, rate := range []float64{9, 1000} {
					for _, broker := range []string{"kafka", "nats"} {
						want = append(want, key{size, delivery, measure, rate, broker})
					}
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 9))
	shuffled := slices.Clone(want)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	var records []store.Record
	for _, k := range shuffled {
		records = append(records, store.Record{PointID: fmt.Sprint(k), Status: store.OK, Spec: study.Spec{
			Broker: k.broker, MessageSize: study.Sizes{{Size: k.size, Weight: 1}}, Delivery: k.delivery, Measure: k.measure, Load: study.Load{Rate: k.rate},
		}})
	}
	for i, p := range pointsOf(records) {
		if p.ID != fmt.Sprint(want[i]) {
			t.Fatalf("point %d is %s, want %v", i, p.ID, want[i])
		}
	}
}

func TestAPointIsNamedAfterWhatVaries(t *testing.T) {
	add := func(broker, version string, axes ...string) store.Record {
		r := store.Record{PointID: fmt.Sprint(broker, version, axes), Axes: map[string]string{"broker": broker}, Spec: study.Spec{Broker: broker, Version: version, Measure: "peak"}}
		for i := 0; i < len(axes); i += 2 {
			r.Axes[axes[i]] = axes[i+1]
		}
		return r
	}
	for _, c := range []struct {
		name    string
		records []store.Record
		want    []string // product, name
	}{
		{"alone", []store.Record{add("kafka", "4")}, []string{"kafka|kafka"}},
		{"two brokers", []store.Record{add("kafka", "4"), add("nats", "2")}, []string{"kafka|kafka", "nats|nats"}},
		{"two versions", []store.Record{add("kafka", "3"), add("kafka", "4"), add("nats", "2")}, []string{"kafka@3|kafka@3", "kafka@4|kafka@4", "nats|nats"}},
		{"a version that isn't known", []store.Record{add("kafka", ""), add("kafka", "4")}, []string{"kafka|kafka", "kafka@4|kafka@4"}},
		{"an axis that varies", []store.Record{add("kafka", "", "linger", "5"), add("kafka", "", "linger", "9")}, []string{"kafka|kafka linger=5", "kafka|kafka linger=9"}},
		{"an axis that doesn't", []store.Record{add("kafka", "", "linger", "5"), add("nats", "", "linger", "5")}, []string{"kafka|kafka", "nats|nats"}},
		{"choices named after their brokers", []store.Record{add("kafka", "", "shipped", "kafka"), add("nats", "", "shipped", "nats")}, []string{"kafka|kafka", "nats|nats"}},
		{"axes in order", []store.Record{add("kafka", "", "b", "1", "a", "1"), add("kafka", "", "b", "2", "a", "2")}, []string{"kafka|kafka a=1 b=1", "kafka|kafka a=2 b=2"}},
		{"an axis with a place of its own", []store.Record{add("kafka", "", "size", "5"), add("nats", "", "size", "9")}, []string{"kafka|kafka", "nats|nats"}},
	} {
		var got []string
		for _, p := range pointsOf(c.records) {
			got = append(got, p.Product+"|"+p.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestALoadAndASettingAreNamed(t *testing.T) {
	for want, s := range map[string]study.Spec{
		"rate 1k/s":         {Measure: "rate", Load: study.Load{Rate: 1000, Shape: "constant"}},
		"rate 1k/s poisson": {Measure: "rate", Load: study.Load{Rate: 1000, Shape: "poisson"}},
		"count at 5/s":      {Measure: "count", Load: study.Load{Rate: 5, Shape: "constant"}},
		"count":             {Measure: "count"},
		"peak":              {Measure: "peak"},
		"backlog":           {Measure: "backlog", Load: study.Load{Rate: 5}},
	} {
		if got := (Point{Spec: s}).Load(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	one, two := study.Sizes{{Size: 1024, Weight: 1}}, study.Sizes{{Size: 100, Weight: 1}, {Size: 200, Weight: 1}}
	for want, sizes := range map[string]study.Sizes{"1 KiB, exactly-once": one, two.String() + " B, exactly-once": two} {
		if got := (Point{Spec: study.Spec{MessageSize: sizes, Delivery: "exactly-once"}}).Setting(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAPointShowsTheBestThereIsAndSaysHowItEnded(t *testing.T) {
	record := func(status store.Status, rate float64) store.Record {
		return store.Record{Status: status, Result: &store.Result{Measurement: store.Measurement{PublishRate: rate}}}
	}
	ok, failed, void, refused, aborted := record(store.OK, 1), record(store.Failed, 2), record(store.Void, 3), record(store.Refused, 4), record(store.Aborted, 5)
	for _, c := range []struct {
		records []store.Record
		status  string
		shown   store.Status
		n       int
	}{
		{[]store.Record{ok, failed, void, refused, aborted, ok}, "failed 1 of 6, void 1 of 6, aborted 1 of 6, refused 1 of 6, ok 2 of 6", store.OK, 2},
		{[]store.Record{void, failed, failed}, "failed 2 of 3, void 1 of 3", store.Failed, 2},
		{[]store.Record{void, refused}, "void 1 of 2, refused 1 of 2", store.Void, 1},
		{[]store.Record{refused, refused}, "refused", "", 0},
		{[]store.Record{aborted}, "aborted", "", 0},
		{[]store.Record{ok}, "ok", store.OK, 1},
	} {
		p := Point{Records: c.records}
		shown := p.Shown()
		if p.Status() != c.status || len(shown) != c.n || c.n > 0 && shown[0].Status != c.shown {
			t.Errorf("%q with %d shown, want %q with %d", p.Status(), len(shown), c.status, c.n)
		}
	}
}

func TestTheSettingsOfPointsComeInOrderOfAppearance(t *testing.T) {
	point := func(id, delivery string) Point {
		return Point{ID: id, Spec: study.Spec{Delivery: delivery, MessageSize: study.Sizes{{Size: 1, Weight: 1}}}}
	}
	var got []string
	for _, g := range BySetting([]Point{point("1", "b"), point("2", "a"), point("3", "b")}) {
		for _, p := range g.Members {
			got = append(got, g.Name+": "+p.ID)
		}
	}
	if want := []string{"1 B, b: 1", "1 B, b: 3", "1 B, a: 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDistributionsAreOfTheRepetitionsThatCount(t *testing.T) {
	record := func(status store.Status, rate float64, n int, curve ...store.CurvePoint) store.Record {
		r := store.Record{PointID: "p", Repetition: n, Status: status, Spec: study.Spec{Measure: "rate", Load: study.Load{Rate: 5, Shape: "constant"}}}
		r.Result = &store.Result{Measurement: store.Measurement{PublishRate: rate, Latency: store.Latency{EndToEnd: latencies(n, 1000)}}, Curve: curve}
		return r
	}
	loadPoint := func(status store.Status, rate float64, n int) store.CurvePoint {
		return store.CurvePoint{Status: status, Rate: rate, Measurement: store.Measurement{PublishRate: rate - 1, Latency: store.Latency{EndToEnd: latencies(n, 1000)}}}
	}
	for _, c := range []struct {
		name    string
		records []store.Record
		want    string
	}{
		{"nothing", nil, ""},
		{"without a result", []store.Record{{PointID: "p", Status: store.OK}}, ""},
		{"without latencies", []store.Record{record(store.OK, 5, 0)}, ""},
		{"ok ones merged", []store.Record{record(store.OK, 5, 10), record(store.OK, 6, 20)}, "rate 5/s: used true, 2 with 30"},
		{"failed ones give way", []store.Record{record(store.Failed, 7, 40), record(store.OK, 5, 10), record(store.Void, 6, 20)}, "rate 5/s: used true, 1 with 10"},
		{"void ones alone", []store.Record{record(store.Void, 7, 40), record(store.Failed, 5, 11)}, "rate 5/s: used false, 2 with 51"},
		{
			"a curve",
			[]store.Record{record(store.OK, 9, 99, loadPoint(store.OK, 10, 3), loadPoint(store.Void, 20, 4)), record(store.OK, 9, 98, loadPoint(store.Void, 10, 5), loadPoint(store.Void, 20, 6))},
			"curve 10/s: used true, 1 with 3; curve 20/s: used false, 2 with 10",
		},
	} {
		var got []string
		for _, d := range Distributions(pointsOf(c.records), LatencyKinds[0]) {
			got = append(got, fmt.Sprintf("%s: used %v, %d with %d", d.RowTitle, d.Used, d.N, d.Latencies.Count()))
			if d.Point.ID != "p" {
				t.Errorf("%s: of point %q", c.name, d.Point.ID)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

func TestAFailureThatFoundNoBrokerGivesWayToALaterAttempt(t *testing.T) {
	record := func(status store.Status, result *store.Result) store.Record {
		return store.Record{PointID: "p", Repetition: 1, Status: status, Result: result}
	}
	for name, c := range map[string]struct {
		first store.Record
		want  int
	}{
		"no broker": {record(store.Failed, nil), 1},
		"too late":  {record(store.Failed, &store.Result{}), 1},
		"broken":    {record(store.Failed, &store.Result{Measurement: store.Measurement{Books: store.Books{Corrupted: 1}}}), 2},
		"void":      {record(store.Void, &store.Result{}), 1},
	} {
		points := pointsOf([]store.Record{c.first, record(store.OK, &store.Result{})})
		if len(points) != 1 || len(points[0].Records) != c.want || points[0].Records[c.want-1].Status != store.OK {
			t.Errorf("%s: %+v", name, points)
		}
	}
}

// Repetitions run in the order of a shuffle; a report lists a sweep along its axes.
func TestPointsOfASweepStandInTheOrderOfItsValues(t *testing.T) {
	var records []store.Record
	for _, topics := range []string{"16", "1", "128", "2"} {
		r := measured()
		r.PointID, r.Axes = topics, map[string]string{"broker": "kafka", "topics": topics}
		records = append(records, r)
	}
	var order []string
	for _, p := range pointsOf(records) {
		order = append(order, p.Variant.String())
	}
	if got, want := strings.Join(order, " "), "topics=1 topics=2 topics=16 topics=128"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Two runners that did the same work made n = 8 of four repetitions, and a test of the same samples twice.
func TestARepetitionThatEndedOkTwiceCountsOnce(t *testing.T) {
	record := func(id int64, repetition int, status store.Status) store.Record {
		r := store.Record{ID: id, PointID: "p", Repetition: repetition, Status: status, Result: &store.Result{}}
		if status == store.Failed { // by a broken promise, which stays
			r.Result.Books.Corrupted = 1
		}
		return r
	}
	set := Of([]store.Record{
		record(1, 1, store.OK), record(2, 2, store.OK), record(3, 1, store.OK), record(4, 2, store.Failed), record(5, 2, store.OK), record(6, 3, store.Void), record(7, 3, store.OK),
	})
	var ids []int64
	for _, r := range set.Points[0].Records {
		ids = append(ids, r.ID)
	}
	if want := []int64{3, 4, 5, 7}; !slices.Equal(ids, want) || set.Points[0].Repeated != 2 {
		t.Errorf("records %v count, %d measured again; want %v and 2", ids, set.Points[0].Repeated, want)
	}
}

func TestAPointThroughRelaysStandsBesideNoneWithout(t *testing.T) {
	settings := map[string]bool{}
	for _, relays := range []int{0, 1, 4} {
		s := study.Spec{Delivery: "at-least-once", MessageSize: study.Sizes{{Size: 100}}, Relays: relays}
		settings[Point{Spec: s}.Setting()] = true
	}
	if len(settings) != 2 || !settings["100 B, at-least-once"] || !settings["100 B, at-least-once, through relays"] {
		t.Errorf("%v", settings)
	}
}

// A pipeline that lacks a part, as one whose meter failed, must not look as if the part took no time.
func TestAPartThatWasNotMeteredHasNoCost(t *testing.T) {
	r := store.Record{Result: &store.Result{Measurement: store.Measurement{Books: store.Books{Sent: 10}}, Pipeline: &store.Pipeline{}}}
	for _, key := range []string{KeyServerCPUPerRequest, KeyConsumerCPUMax} {
		if v := MustMetric(key).Of(r); !math.IsNaN(v) {
			t.Errorf("%s is %v without the part", key, v)
		}
	}
}

// A study may print a figure that only some reports show, such as the bytes that each message cost on disk.
func TestEveryMetricOfAPublishedRecordIsThatWhichWasPublished(t *testing.T) {
	for _, m := range slices.Concat(Metrics, reportMetrics) {
		for _, spec := range []study.Spec{openLoops["rate"], closedLoops["peak"]} {
			r := store.Record{Kind: store.KindPublished, Spec: spec, Result: &store.Result{Given: map[string]float64{m.Key: 5}}}
			if got := m.Of(r); got != 5 {
				t.Errorf("%s is %v, 5 was published", m.Key, got)
			}
			r.Result.Given = nil
			if got := m.Of(r); !math.IsNaN(got) {
				t.Errorf("%s is %v, nothing was published", m.Key, got)
			}
		}
	}
}

// A repetition may fail before anything is measured; its load point has no result.
func TestALoadWithoutAResultHasNoDistribution(t *testing.T) {
	failed := store.Record{PointID: "p", Status: store.Failed, Spec: study.Spec{Measure: "rate"}}
	for _, l := range pointsOf([]store.Record{failed})[0].LoadPoints() {
		if d := l.Distribution(LatencyKinds[0]); d.N != 0 || d.Latencies.Count() != 0 {
			t.Errorf("%s: %d repetitions, %d latencies", l.Name, d.N, d.Latencies.Count())
		}
	}
}
