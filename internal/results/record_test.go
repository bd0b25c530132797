package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

var update = flag.Bool("update", false, "write the golden file")

func selected(t *testing.T, records []store.Record, expr string) ([]store.Record, error) {
	return store.Collect(Select(t.Context(), storetest.Records(records), expr))
}

func measured() store.Record {
	h := hist.New()
	for i := range int64(1000) {
		h.Record((i + 1) * 1000)
	}
	return store.Record{
		PointID: "0123abc", Study: "s", Label: "kafka <100>", Repetition: 1, Status: store.OK, Axes: map[string]string{"broker": "kafka"},
		Doubts: []store.Doubt{{Code: "shared-cores", Text: "broker and generator share 2 cores"}},
		Began:  time.Date(2026, 3, 1, 9, 0, 0, 5, time.UTC),
		Spec:   study.Spec{Broker: "kafka", MessageSize: study.Sizes{{Size: 1024, Weight: 1}}, Client: map[string]any{"linger.ms": 5}},
		Host:   store.Host{Cores: 2}, Versions: store.Versions{Broker: "4.3.1"},
		Result: &store.Result{Measurement: store.Measurement{
			Books:       store.Books{Due: 1000, Sent: 1000, Acked: 999, Received: 998, Lost: 2, Duplicated: 3, Reordered: 4, Corrupted: 5},
			PublishRate: 99.9, ReceiveRate: 99.8,
			PayloadSize: 1024, BacklogMax: new(int64(17)), Corrected: &store.Corrected{IntervalNs: 100, MeanNs: 200, P99Ns: 300},
			Series:  []store.Tick{{OffsetNs: 5e8, Phase: "measure", FromSendNs: 400, FromSendCount: 5}},
			Latency: store.Latency{EndToEnd: h.Snapshot(), EndToEndService: h.Snapshot(), Publish: h.Snapshot(), Service: h.Snapshot(), Lag: h.Snapshot()},
			Cost: store.Cost{
				BrokerKnown: true, BrokerUserSeconds: 1, BrokerSystemSeconds: 0.5, GeneratorUserSeconds: 0.25, Messages: 500_000,
				BrokerRSSBytes: 1 << 20, BrokerDiskWriteBytes: 4096,
			},
		}, Sustainable: &store.Sustainable{HeldNs: 20e9, Low: 90}},
	}
}

func TestAFlatRecordRoundsMeansToTheNearestNanosecond(t *testing.T) {
	r := measured()
	r.Result.Corrected = &store.Corrected{MeanNs: 1999.7}
	if got := Flat(r)[0].Value(KeyCorrectedMean); got != int64(2000) {
		t.Errorf("%d ns, want 2000", got)
	}
}

func TestAFlatRecordAlwaysHasAllKeysInOrder(t *testing.T) {
	refused := store.Record{PointID: "77", Status: store.Refused, Reason: "no", Spec: study.Spec{Broker: "nats"}}
	unmetered := measured()
	unmetered.Result.Cost = store.Cost{}
	unmetered.Result.Latency = store.Latency{}
	unmetered.Result.Sustainable = &store.Sustainable{High: 10}
	var out bytes.Buffer
	for _, r := range []store.Record{refused, unmetered, measured()} {
		line, err := json.Marshal(Flat(r)[0])
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	if *update {
		if err := os.WriteFile("testdata/flat.jsonl", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/flat.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.Bytes(), want)
	}
}

func TestNoTwoFieldsOfAFlatRecordHaveOneKey(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range FlatFields {
		if seen[f.Key] || strings.HasPrefix(f.Key, axisPrefix) {
			t.Errorf("the key %s is taken", f.Key)
		}
		seen[f.Key] = true
	}
}

func TestASelectionNamesWhatThereIsWhenNothingMatches(t *testing.T) {
	rabbit := measured()
	rabbit.Spec.Broker, rabbit.Axes, rabbit.PointID, rabbit.Repetition = "rabbitmq", map[string]string{"broker": "rabbitmq", "window": "9", "mix": "100:1,1KiB:1"}, "ffff", 2
	rabbit.Label = "a, b"
	rabbit.Spec.Duration, rabbit.Spec.Load.Rate, rabbit.Spec.InFlight.Bytes = study.Duration(1500*time.Millisecond), 2000, 1<<20
	kafka, refused := measured(), rabbit
	kafka.Label, refused.Versions.Broker = "", ""
	for _, c := range []struct{ expr, err string }{
		{"broker", `"broker" is not name=value`},
		{"=kafka", `is not name=value`},
		{"brokre=kafka", `no record has anything called "brokre"; did you mean "broker"?`},
		{"broker=kafak", "no record has broker=kafak; there are: kafka, rabbitmq"},
		{"version=4.3", "no record has version=4.3; there are: 4.3.1"},
		{"label=x,label=y", "no record has label=x; there are: a, b"},
		{"study=s,broker=rabbitmq,version=1", "no record with study=s,broker=rabbitmq has any version"},
		{"broker=kafka,repetition=2", "no record with broker=kafka has repetition=2; there are: 1"},
	} {
		if _, err := selected(t, []store.Record{kafka, refused}, c.expr); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, want %q", c.expr, err, c.err)
		}
	}
	records := []store.Record{measured(), rabbit}
	if got, err := selected(t, []store.Record{kafka, refused}, JoinSelections("", "")); err != nil || len(got) != 2 {
		t.Errorf("an empty selection picks %d of 2 records, %v", len(got), err)
	}
	if _, err := selected(t, nil, "broker=kafka"); err == nil || !strings.Contains(err.Error(), "no records to select from") {
		t.Error(err)
	}
	for expr, want := range map[string][]string{
		"broker=kafka":                   {"0123abc"},
		"point=01":                       {"0123abc"},
		"window=9":                       {"ffff"},
		"messageSize=1KiB":               {"0123abc", "ffff"},
		"size=1024":                      {"0123abc", "ffff"},
		"rate=2k,producers=0":            {"ffff"},
		"partitions=0":                   {"0123abc", "ffff"},
		"duration=1500ms":                {"ffff"},
		"load.rate=2k":                   {"ffff"},
		"load.rate=2k/s":                 {"ffff"},
		"inFlight.bytes=1MiB":            {"ffff"},
		"client.linger.ms=5":             {"0123abc", "ffff"},
		"version=4.3.1, broker=rabbitmq": {"ffff"},
		"mix=100:1,1KiB:1":               {"ffff"},
		"mix=100:1,1KiB:1,broker=kafka":  nil,
		"label=a, b, window=9":           {"ffff"},
		"study=s,host.cores=2":           {"0123abc", "ffff"},
		"began=" + measured().Began.UTC().Format(time.DateOnly): {"0123abc", "ffff"},
	} {
		got, err := selected(t, records, expr)
		var ids []string
		for _, r := range got {
			ids = append(ids, r.PointID)
		}
		if (err != nil) != (want == nil) || !slices.Equal(ids, want) {
			t.Errorf("%q: %v, %v; want %v", expr, ids, err, want)
		}
	}
	if got := SelectionNames("broker=kafka, size=100:1,1KiB:1, acks=1"); !slices.Equal(got, []string{"broker", "messageSize", "acks"}) {
		t.Errorf("named: %v", got)
	}
}

func TestResidueIsEveryDifferenceThatWasNotNamed(t *testing.T) {
	a, b := measured(), measured()
	b.Spec.Broker, b.Versions.Broker, b.Spec.Client = "nats", "2.15.2", map[string]any{"window": 3}
	b.Spec.Name, b.Label = "other", "other" // for people
	b.Host.Cores = 8
	records := []store.Record{a, b}
	want := []string{"broker: kafka, nats", "client.linger.ms: 5, unset", "client.window: 3, unset", "host.cores: 2, 8", "versions.broker: 2.15.2, 4.3.1"}
	if got := Residue(records); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Residue(records, "broker"); !slices.Equal(got, []string{"host.cores: 2, 8"}) {
		t.Errorf("with broker named: %q", got)
	}
	if got := Residue(records, "broker", "host"); got != nil {
		t.Errorf("with broker and host named: %q", got)
	}
	encrypted := measured()
	encrypted.Spec.TLS, encrypted.Versions.TLS, encrypted.Spec.CAFile = "on", "TLS 1.3, TLS_AES_128_GCM_SHA256", "ca.pem"
	if got := Residue([]store.Record{a, encrypted}, "tls"); got != nil {
		t.Errorf("with tls named: %q", got)
	}
	var d document.Document
	if d.Warn("x", nil); len(d.Blocks) != 0 {
		t.Error("a warning about nothing")
	}
}

func TestALaterAttemptSupersedesOneThatCameToNothing(t *testing.T) {
	attempt := func(status store.Status, repetition int) store.Record {
		r := measured()
		r.Status, r.Repetition = status, repetition
		r.Result.Books = store.Books{Due: 10, Sent: 10, Acked: 10, Expected: 10, Received: 10}
		return r
	}
	broken := func(by func(*store.Result)) store.Record {
		r := attempt(store.Failed, 1)
		by(r.Result)
		return r
	}
	lateOnly := broken(func(r *store.Result) { r.Books.LostAcked = 1 })
	lateOnly.Doubts = []store.Doubt{{Code: doubt.Late.Code()}}
	for _, c := range []struct {
		name    string
		records []store.Record
		want    string
	}{
		{"late rather than lost", []store.Record{lateOnly, attempt(store.OK, 1)}, "ok"},
		{"late goes", []store.Record{attempt(store.Failed, 1), attempt(store.OK, 1)}, "ok"},
		{"late again", []store.Record{attempt(store.Failed, 1), attempt(store.Failed, 1)}, "failed"},
		{"late stays before void", []store.Record{attempt(store.Failed, 1), attempt(store.Void, 1)}, "failed 1 of 2, void 1 of 2"},
		{"a broken promise stays", []store.Record{broken(func(r *store.Result) { r.Books.LostAcked = 1 }), attempt(store.OK, 1)}, "failed 1 of 2, ok 1 of 2"},
		{"broken at a rate of a curve", []store.Record{broken(func(r *store.Result) {
			r.Curve = []store.CurvePoint{{Measurement: store.Measurement{Books: store.Books{Corrupted: 1}}}}
		}), attempt(store.OK, 1)}, "failed 1 of 2, ok 1 of 2"},
		{"broken in a search", []store.Record{broken(func(r *store.Result) {
			r.Sustainable = &store.Sustainable{Trials: []store.Trial{{Verdict: "fail"}, {Verdict: "fail", Broken: true}}}
		}), attempt(store.OK, 1)}, "failed 1 of 2, ok 1 of 2"},
		{"no rate passed", []store.Record{broken(func(r *store.Result) {
			r.Sustainable = &store.Sustainable{Trials: []store.Trial{{Verdict: "fail"}}}
		}), attempt(store.OK, 1)}, "ok"},
		{"void goes", []store.Record{attempt(store.Void, 1), attempt(store.OK, 1)}, "ok"},
		{"aborted goes", []store.Record{attempt(store.Aborted, 1), attempt(store.OK, 1)}, "ok"},
		{"another repetition's doesn't", []store.Record{attempt(store.Void, 1), attempt(store.OK, 2)}, "void 1 of 2, ok 1 of 2"},
	} {
		if got := pointsOf(c.records)[0].Status(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// searches are records of searches that found values, and failed at factor times them (0: nothing failed).
func searches(values []float64, factor float64) []store.Record {
	var records []store.Record
	for i, v := range values {
		r := measured()
		r.Repetition, r.Spec.Measure, r.Result.Sustainable = i+1, "sustainable", &store.Sustainable{HeldNs: 20e9, Low: v, High: v * factor}
		records = append(records, r)
	}
	return append(records, store.Record{Status: store.OK})
}
