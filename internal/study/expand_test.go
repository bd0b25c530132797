package study

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestAStudyExpandsToThePointsItNames(t *testing.T) {
	s := file(t, "testdata/grid.yaml")
	if s.Name != "grid" || s.Question != "Does it pay to wait?" || s.Source != "nobody, 2024" || s.Repeats != 3 || s.Seed != 7 {
		t.Errorf("got %+v", s)
	}
	var b strings.Builder
	for _, a := range s.Axes() {
		fmt.Fprintf(&b, "axis %s: %s\n", a.Name, strings.Join(a.Values, " "))
	}
	for _, p := range expand(t, s) {
		axes, _ := json.Marshal(p.Axes) // sorted keys
		fmt.Fprintf(&b, "%s %s | %s | %.0fs\n", p.ID, p.Label, axes, EstimateSeconds(p.Spec))
	}
	golden(t, "testdata/grid.golden", b.String())
}

func TestAPointIsStoredWithEveryDefault(t *testing.T) {
	p := expand(t, file(t, "testdata/grid.yaml"))[0]
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/point.golden", string(data)+"\n")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (go test -update rewrites it): got\n%s", path, got)
	}
}

func file(t *testing.T, path string) *Study {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAStudyThatCannotBeExpandedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"nothing left":       {"axes: {topics: [1, 2]}\nexclude: [{topics: [1, 2]}]", `f.yaml: exclude: no point is left`},
		"two axes, one path": {"axes:\n  delivery: [at-most-once]\n  g: [{name: a, set: {delivery: at-most-once}}]", `f.yaml:3: axes.g: gives delivery, as the axis "delivery" does`},
		"too many":           {"axes:\n  topics: {from: 1, to: 1000, step: 1}\n  partitions: {from: 1, to: 1000, step: 1}", `f.yaml: axes: more than 100000 points`},
		"one bad value":      {"axes:\n  size:\n  - 100\n  - 4", `f.yaml:4: messageSize: 4 bytes is too small; allowed: 8 (a message's identity) to 256MiB`},
		"said once":          {"replicas: 3\naxes: {size: [100, 200, 300]}", `f.yaml:1: replicas: 3 replicas don't fit on 1 node; add nodes: 3`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, c.doc).Points()
			wantError(t, err, c.want)
		})
	}
}

// The grids of the five studies, as far as their shape goes.
func TestTheStudiesGridsCanBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want int
	}{
		"batch, linger, partitions, acks": {`
{size: 500, measure: peak, broker: kafka, nodes: 3, replicas: 3, client.compression: snappy, axes: {
  client.batch.size: {from: 10000, to: 200000, step: 10000}, client.linger.ms: {from: 10, to: 100, step: 10}, partitions: [5, 15],
  acks: [{name: none, set: {delivery: at-most-once}}, {name: all, set: {acks: quorum}}]}}`, 800},
		"fanout to 1..50 queues, lazy or not": {`
{size: 500, measure: peak, broker: rabbitmq, axes: {subscriptions: {from: 1, to: 50, step: 1}, topicConfig.x-queue-mode: [default, lazy],
  ack: [{name: auto, set: {delivery: at-most-once}}, {name: manual, set: {delivery: at-least-once}}]}}`, 200},
		"sizes by guarantees, ordered or not": {`
{measure: curve, warmup: 10s, duration: 10s, curve.rates: {from: 100, to: 1000000, factor: 1.36}, axes: {
  size: [8, 64, 512, 4096, 32768, 262144, 1048000], broker: [kafka, rabbitmq, jetstream], delivery: [at-most-once, at-least-once],
  persistence: [memory, log]}, exclude: [{broker: kafka, persistence: memory}]}`, 70},
		"1 GB in messages of four sizes over four topologies": {`
{count.bytes: 1GB, axes: {size: [256, 1kB, 5kB, 1MB], producers: [1, 2], subscriptions: [1, 2]}}`, 16},
		"200,000 messages from synchronous threads": {`
{count.messages: 200000, size: 44, inFlight.messages: 1, client.prefetch: 1, axes: {producers: [100, 200, 300, 400, 500, 800, 1000]}}`, 7},
		"backlogs, drained by many, plain and encrypted": {`
{backlog.messages: 10000, partitions: 100, axes: {size: [100, 10kB, 50kB], consumers: [1, 5, 25, 50, 100], tls: [off, on]}}`, 30},
		"latency at 40 messages per second": {`
{rate: 40, axes: {size: [100, 10kB, 30kB, 50kB, 100kB, 300kB]}}`, 6},
		"highest rate with a bound per size": {`
{measure: sustainable, axes: {partitions: [10, 15, 25, 50, 100], bound: [
  {name: 100 B in 200 ms, set: {size: 100, sustainable.latency: 200ms}}, {name: 10 kB in 1 s, set: {size: 10kB, sustainable.latency: 1s}}]}}`, 10},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(expand(t, parse(t, c.doc))); got != c.want {
				t.Errorf("got %d points, want %d", got, c.want)
			}
		})
	}
}

func TestEqualPointsCollapse(t *testing.T) {
	points := expand(t, parse(t, "axes:\n  size: [1024, 1KiB, 1.0KiB]\npoints:\n- {size: 1KiB}\n- {size: 2KiB}\n"))
	if len(points) != 2 || points[0].Axes["messageSize"] != "1KiB" || points[1].Axes["messageSize"] != "2KiB" {
		t.Errorf("got %v", points)
	}
}

func TestMeasureFollowsFromTheGroupsGiven(t *testing.T) {
	for doc, want := range map[string]string{
		"topics: 1":                                        MeasureSustainable,
		"producerRate: 0":                                  MeasureSustainable,
		"rate: 5":                                          MeasureRate,
		"rate: 5\nmeasure: backlog":                        MeasureBacklog,
		"rate: 5\ncount: {messages: 10}":                   MeasureCount,
		"rate: 5\nbacklog: {messages: 10}":                 MeasureBacklog,
		"curve: {fractions: [0.5]}":                        MeasureCurve,
		"curve: {fractions: [0.5]}\nsustainable.trial: 2s": MeasureCurve,
		"consumerBacklogSizeGB: 1\nproducerRate: 0":        MeasureBacklog,
		"consumerBacklogSizeGB: 0\nproducerRate: 10":       MeasureRate,
	} {
		if got := one(t, doc).Spec.Measure; got != want {
			t.Errorf("%q: got %s, want %s", doc, got, want)
		}
	}
}

func TestAVersionBelongsToTheBrokerItWasGivenWith(t *testing.T) {
	s := parse(t, "broker: kafka@4.3.1\naxes: {broker: [kafka@3.9, kafka, nats]}")
	var got []string
	for _, p := range expand(t, s) {
		got = append(got, p.Spec.Broker+"@"+p.Spec.Version)
	}
	if want := []string{"kafka@3.9", "kafka@", "nats@"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQuickShortensEverythingButWhatFlagsSay(t *testing.T) {
	s := parse(t, `
axes:
  what:
  - {name: search, set: {measure: sustainable}}
  - {name: curve, set: {measure: curve}}
  - {name: count, set: {count.bytes: 1GB, size: 1MB}}
  - {name: backlog, set: {backlog.messages: 1e6}}
  - {name: steps, set: {load: {shape: steps, steps: [{rate: 1, for: 10s}, {rate: 2, for: 20s}]}}}
  - {name: fault, set: {rate: 5, faults: [{at: 10s, do: pause, for: 3s}]}}
`)
	full := map[string]string{}
	for _, p := range expand(t, s) {
		full[p.Label] = p.ID
	}
	s.Quick()
	for _, p := range expand(t, s) {
		if seconds := EstimateSeconds(p.Spec); p.Label != "fault" && (p.ID == full[p.Label] || seconds > 60) {
			t.Errorf("%s: %.0f s, %s before and %s now", p.Label, seconds, full[p.Label], p.ID)
		}
		switch p.Label {
		case "curve":
			if len(p.Spec.Curve.Fractions) != 3 {
				t.Errorf("curve at %v", p.Spec.Curve.Fractions)
			}
		case "steps":
			if got := p.Spec.Load.Steps[1].For.Seconds(); math.Abs(got-20*4.0/30) > 1e-6 {
				t.Errorf("second step for %v s of %s", got, p.Spec.Duration)
			}
		case "fault":
			if p.Spec.Duration.String() != "30s" {
				t.Errorf("the fault would come after %s", p.Spec.Duration)
			}
		}
	}
	if err := s.Set("drain=9s"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("sustainable.trial=7s"); err != nil {
		t.Fatal(err)
	}
	if p := expand(t, s)[0]; p.Spec.Sustainable.Trial.String() != "7s" || p.Spec.Sustainable.Confirms != 1 {
		t.Errorf("got %+v", p.Spec.Sustainable)
	}
}

func TestEstimatesGrowWithWhatIsAskedFor(t *testing.T) {
	at := func(doc string) float64 { return EstimateSeconds(one(t, doc).Spec) }
	for _, c := range []struct{ less, more string }{
		{"rate: 5\nduration: 5s", "rate: 5\nduration: 50s"},
		{"rate: 5\nwarmup: 1s", "rate: 5\nwarmup: auto"},
		{"measure: sustainable", "measure: curve"},
		{"sustainable: {confirms: 1}", "sustainable: {confirms: 3}"},
		{"count: {messages: 1000}", "count: {messages: 10000000}"},
		{"count: {messages: 1000}", "count: {messages: 1000}\nrate: 10"},
		{"count: {bytes: 1GB}\nsize: 1MB", "count: {bytes: 1GB}\nsize: 100"},
		{"count: {messages: 10000}", "backlog: {messages: 10000}"},
		{"curve: {rates: [1]}", "curve: {rates: [1, 2, 3]}"},
	} {
		if less, more := at(c.less), at(c.more); !(0 < less && less < more) {
			t.Errorf("%q takes %v s, %q takes %v s", c.less, less, c.more, more)
		}
	}
	if got := at("rate: 5\nduration: 20s\nwarmup: 4s"); math.Abs(got-25) > 1 {
		t.Errorf("24 s of load are estimated as %v s", got)
	}
}

func BenchmarkThousandPoints(b *testing.B) {
	s := New("x")
	for path, n := range map[string]int{"topics": 50, "partitions": 20} {
		var values []string
		for i := range n {
			values = append(values, fmt.Sprint(i+1))
		}
		if err := s.SetAxis("--"+path, path, values); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if points, err := s.Points(); err != nil || len(points) != 1000 {
			b.Fatal(len(points), err)
		}
	}
}

// Otherwise an untrusted document could write lines of its own into progress and errors.
func TestWhatIsShownOfADocumentIsOneLine(t *testing.T) {
	s, err := Parse("f.yaml", []byte(`{name: "a\nb", base: {broker: sim, measure: peak}, axes: {g: [{name: "x\nbrokermark: fine", set: {topics: 1}}, {name: y, set: {topics: 2}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || s.Name != "a b" || points[0].Label != "x brokermark: fine" || points[0].Spec.Label != points[0].Label {
		t.Errorf("%q, %q, %v", s.Name, points[0].Label, err)
	}
	for _, doc := range []string{`"k\nbrokermark: fine": 1`, `client: {"k\e[31m": 1}`, `sweeps: [{name: "k\nbrokermark: fine"}, {name: "k\nbrokermark: fine"}]`} {
		if _, err := Parse("f.yaml", []byte(doc)); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %q", doc, err)
		}
	}
}
