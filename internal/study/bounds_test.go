package study

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEveryBoundIsWhereItsComplaintSays tries the last values that are allowed and the first that are not.
func TestEveryBoundIsWhereItsComplaintSays(t *testing.T) {
	for _, c := range []struct {
		doc     string // V is the value
		allowed string // separated by spaces
		refused string
		path    string // of the complaint; "" = the key at the end of doc
	}{
		{"nodes: V", "1 99", "0 100 -1", "nodes"},
		{"nodes: 3\nreplicas: V", "1 3", "0 4 99 100", "replicas"},
		{"attach: 'a:1'\nreplicas: V", "1 99", "0 100", "replicas"},
		{"topics: V", "1 4194304", "0 4194305", "topics"},
		{"partitions: V", "1 4194304", "0 4194305", "partitionsPerTopic"},
		{"producers: V", "1 4194304", "0 4194305", "producersPerTopic"},
		{"subscriptions: V", "0 4194304", "-1 4194305", "subscriptionsPerTopic"},
		{"consumers: V", "1 4194304", "0 4194305", "consumerPerSubscription"},
		{"topics: 2048\nproducers: V", "2048", "2049", "producersPerTopic"},
		{"topics: 2048\nsubscriptions: V\nconsumers: 1", "2048", "2049", "consumerPerSubscription"},
		{"topics: 1024\nsubscriptions: 1024\nconsumers: V", "4", "5", "consumerPerSubscription"},
		{"partitions: V\nordering: ordered", "1", "2", "ordering"},

		{"size: V", "8 9 256MiB", "7 268435457", "messageSize"},
		{"size: [{size: 8, weight: V}, {size: 9, weight: 1}]", "0.001 1e9", "0 -1 .inf .nan", "messageSize"},
		{"size: [{size: 8, weight: 1}, {size: V, weight: 1}]", "9 1KiB", "8 7", "messageSize"},
		{"randomBytesRatio: V", "0 0.5 1", "-0.01 1.01 .nan", "randomBytesRatio"},
		{"randomizedPayloadPoolSize: V", "1 1000000", "0 1000001", "randomizedPayloadPoolSize"},
		{"keyDistributor: RANDOM\nkeys: V", "1 100000000", "0 100000001", "keys"},
		{"keyDistributor: ZIPF\nzipfExponent: V", "1.001 10", "1 10.001 .nan", "zipfExponent"},
		{"inFlight.messages: V", "1 10000000", "0 10000001", "inFlight.messages"},
		{"size: 1KiB\ninFlight.bytes: V", "1024 1025", "1023 0", "inFlight.bytes"},

		{"duration: 168h\nrate: V", "2e-6 1e8", "1e-6 1e-7 0 -1 100000001 .nan .inf", "load.rate"},
		{"duration: 100ms\nrate: V", "10 1e8", "9.999 1", "load.rate"},
		{"duration: 100ms\nload: {shape: poisson, rate: V}", "10", "9.999 1", "load.rate"},
		{"duration: 100ms\nload: {shape: ramp, rate: V, to: 2}", "10", "9.999 0", "load.rate"},
		{"duration: 100ms\nload: {shape: steps, steps: [{rate: 2, for: 50ms}, {rate: V}]}", "10", "9.999 0", "load.steps"},
		{"duration: 100ms\nload: {shape: bursts, rate: V, burst: {rate: 2, every: 2s, for: 1s}}", "10", "9.999 0", "load.rate"},
		{"measure: curve\nduration: 100ms\ncurve.rates: [100, V]", "10", "9.999", "curve.rates"},
		{"count.messages: 5\nrate: V", "1 1e8", "0 100000001", "load.rate"},
		{"rate: 1e8\nduration: V", "10ns 168h", "0s -1s 168h1ns", "duration"},
		{"rate: 1e8\nduration: V", "10ns", "9ns", "load.rate"},
		{"rate: 1\ndrain: V", "1ns 168h", "0s 168h1ns", "drain"},
		{"rate: 1\nwarmup: V", "0s 168h", "-1ns 168h1ns", "warmup.for"},
		{"rate: 1\nwarmup: {auto: true, for: V, max: 168h}", "1ns 168h", "0s 169h", "warmup.for"},
		{"rate: 1\nwarmup: {auto: true, for: 5s, max: V}", "5s 168h", "4999ms 168h1ns", "warmup.max"},
		{"load: {shape: ramp, rate: 0, to: V}", "1 1e8", "0 -1 100000001", "load.to"},
		{"load: {shape: ramp, rate: V, to: 5}", "0 1e-6 1e8", "-1 100000001", "load.rate"},
		{"load: {shape: ramp, rate: 1, to: V}", "0 1", "-1", "load.to"},
		{"load: {shape: steps, steps: [{rate: V, for: 1s}, {rate: 5}]}", "0 1e8", "-1 100000001", "load.steps"},
		{"load: {shape: steps, steps: [{rate: 1, for: V}, {rate: 5, for: 1s}]}", "1ns 168h", "0s -1s 169h", "load.steps"},
		{"load: {shape: steps, steps: [{rate: 1, for: 1s}, {rate: 5, for: V}]}", "0s 1ns 168h", "-1s 169h", "load.steps"},
		{"load: {shape: steps, steps: [{rate: V, for: 1s}]}", "1", "0", "load.steps"},
		{"load: {shape: steps, steps: [{rate: 1, to: V, for: 1s}, {rate: 5}]}", "0 1e8 2k/s", "-1 100000001", "load.steps"},
		{"load: {shape: steps, steps: [{rate: 1, to: 5, for: V}]}", "1ns 168h", "0s", "load.steps"},
		{"load: {shape: steps, repeat: true, steps: [{rate: 1, for: V}]}", "1ns 168h", "0s", "load.steps"},
		{"load: {shape: bursts, rate: V, burst: {rate: 1, every: 2s, for: 1s}}", "0 1", "-1 100000001", "load.rate"},
		{"load: {shape: bursts, rate: 1, burst: {rate: V, every: 2s, for: 1s}}", "0 1e8", "-1 100000001", "load.burst.rate"},
		{"load: {shape: bursts, rate: 0, burst: {rate: V, every: 2s, for: 1s}}", "1", "0", "load.burst.rate"},
		{"load: {shape: bursts, rate: 1, burst: {rate: 1, every: V, for: 1s}}", "1001ms 168h", "0s 169h", "load.burst.every"},
		{"load: {shape: bursts, rate: 1, burst: {rate: 1, every: 2s, for: V}}", "1ns 1999ms", "0s 2s 3s", "load.burst.for"},

		{"sustainable.width: V", "0.001 0.5", "0 0.501 .nan", "sustainable.width"},
		{"sustainable.trial: V", "1ns 168h", "0s 169h", "sustainable.trial"},
		{"sustainable.confirm: V", "1ns 168h", "0s 169h", "sustainable.confirm"},
		{"sustainable.warmup: V", "0s 168h", "-1s 169h", "sustainable.warmup"},
		{"sustainable: {maxTrials: 200, confirms: V}", "1 100", "0 101", "sustainable.confirms"},
		{"sustainable: {confirms: 5, maxTrials: V}", "7 10000", "6 10001", "sustainable.maxTrials"},
		{"sustainable.maxRate: V", "1e-6 1e8", "0 -1 100000001", "sustainable.maxRate"},
		{"sustainable: {latency: 1s, quantile: V}", "0.001 0.999 1", "0 1.001 -1 .nan", "sustainable.quantile"},
		{"sustainable.latency: V", "1ns 168h", "0s 169h", "sustainable.latency"},
		{"sustainable.exceed: V", "0 0.5", "-0.01 0.501 .nan", "sustainable.exceed"},
		{"sustainable.budget: V", "0s 20.5s 168h", "-1s 1s 20.4s 169h", "sustainable.budget"}, // a confirmation of 20 s and its warm-up
		{"sustainable.soak: V", "0s 1ns 168h", "-1s 169h", "sustainable.soak"},
		{"sustainable.goals: [{}, {latency: V}]", "1ns 168h", "-1s 169h 0s", "sustainable.goals"},
		{"sustainable.goals: [{latency: 1s, quantile: V}]", "0 0.001 0.999 1", "1.001 -1 .nan", "sustainable.goals"},
		{"sustainable.goals: [{latency: 1s}, {latency: 1s, quantile: V}]", "0.98", "0.99 0", "sustainable.goals"},
		{"sustainable.goals: [{quantile: V}]", "0", "0.99", "sustainable.goals"},
		{"measure: curve\nsustainable.goals: [{latency: V}]", "1s", "-1s", "sustainable.goals"},
		{"measure: sustainable\nload.shape: V", "constant poisson", "ramp steps bursts", "load.shape"},
		{"measure: curve\nload.shape: V", "constant poisson", "ramp", "load.shape"},
		{"measure: curve\nsustainable.width: V", "0.5", "0.501", "sustainable.width"},
		{"curve.fractions: [0.5, V]", "0.001 1.501 10", "0 0.5 5e-1 10.001 -1", "curve.fractions"},
		{"curve.rates: [5, V]", "0.1 1e8", "0 5 5.0 0.03 100000001", "curve.rates"},

		{"count.messages: V", "1 1000000000000", "0 1000000000001", "count.messages"},
		{"size: 100\ncount.bytes: V", "100 1PiB", "99 0", "count.bytes"},
		{"backlog.messages: V", "1 1000000000000", "0 1000000000001", "backlog.messages"},
		{"topics: 3\nbacklog: {messages: 5, rate: 5, topics: V}", "1 2 3", "0 -1 4", "backlog.topics"},
		{"backlog: {messages: 5, rate: V}", "5 1e8", "0 -1 100000001", "backlog.rate"},
		{"size: 100\nbacklog.bytes: V", "100 1PiB", "99", "backlog.bytes"},
		{"backlog: {messages: 5, drainRatio: V}", "0 0.5 1", "-0.01 1.01 .nan", "backlog.drainRatio"},
		{"backlog.messages: 5\nsubscriptions: V", "1", "0", "subscriptionsPerTopic"},
		{"count.messages: 5\nsubscriptions: V", "0 1", "-1", "subscriptionsPerTopic"},

		{"rate: 5\nduration: 10s\nfaults: [{at: V, do: kill}]", "0s 9999ms", "-1ns 10s", "faults"},
		{"measure: peak\nduration: 10s\nfaults: [{at: V, do: kill}]", "9s", "10s", "faults"},
		{"count.messages: 5\nfaults: [{at: V, do: kill}]", "0s 60s 168h", "-1s 169h", "faults"},
		{"rate: 5\nfaults: [{at: 1s, do: kill, for: V}]", "0s 1ns 168h", "-1s 169h", "faults"},
		{"rate: 5\nfaults: [{at: 1s, do: pause, for: V}]", "1ns 168h", "0s -1s", "faults"},
		{"rate: 5\nnodes: 3\nfaults: [{at: 1s, do: kill, node: V}]", "1 3 all leader", "0 4 -1 x", "faults"},
		{"attach: V", "a:1 a:65535 '[::1]:1'", "a:0 a:65536 a 'a:' 'a:1,b:2' ::1 'a_b' a:x", "attach"},

		{"testDurationMinutes: V\nproducerRate: 5", "0.1 10080", "-1 10080.1 .nan", "testDurationMinutes"},
		{"warmupDurationMinutes: V\nproducerRate: 5", "0 10080", "-1 10081", "warmupDurationMinutes"},
		{"consumerBacklogSizeGB: V\nproducerRate: 5", "0 1 1048576", "-1 1048577 .nan", "consumerBacklogSizeGB"},
		{"repeats: V", "1 10000", "0 10001 -1", "repeats"},
		{"axes: {topics: {from: 1, to: V, step: 1}}", "1 200", "0 10001", "axes.topics"},
		{"axes: {topics: {from: 1, to: 100, step: V}}", "1 0.5e3", "0 -1 .inf", "axes.topics"},
		{"axes: {rate: {from: 1, to: 100, factor: V}}", "1.01 1e3", "1 0.5 -1", "axes.rate"},
		{"axes: {rate: {from: 100, to: 100, factor: V}}", "1.01 2", "1 0.5 0 -1", "axes.rate"},
		{"axes: {rate: {from: V, to: 100, factor: 2}}", "1 100", "0 -1 101", "axes.rate"},
		{"axes: {topics: {from: 1, to: 200, step: 1}, partitions: {from: 1, to: V, step: 1}}", "3", "501", "axes"},
	} {
		for _, v := range strings.Fields(c.allowed) {
			doc := strings.ReplaceAll(c.doc, "V", v)
			if _, err := points(doc); err != nil {
				t.Errorf("%q is refused: %v", doc, err)
			}
		}
		for _, v := range strings.Fields(c.refused) {
			doc := strings.ReplaceAll(c.doc, "V", v)
			_, err := points(doc)
			var es *Errors
			if !errors.As(err, &es) {
				t.Errorf("%q is allowed", doc)
				continue
			}
			if !slices.ContainsFunc(es.Problems, func(p Problem) bool { return strings.HasPrefix(p.Path, c.path) }) {
				t.Errorf("%q: %v; want a complaint about %s", doc, err, c.path)
			}
		}
	}
}

func TestAStudyOfMoreThanAHundredThousandPointsIsRefusedWhereverTheyComeFrom(t *testing.T) {
	const thousand, hundred = "{from: 1, to: 1000, step: 1}", "{from: 1, to: 100, step: 1}"
	for name, doc := range map[string]string{
		"the last axis doubles them": "axes: {topics: " + thousand + ", rate: " + hundred + ", acks: [leader, quorum]}",
		"two sweeps":                 "sweeps: [{name: a, axes: {topics: " + thousand + ", rate: " + hundred + "}}, {name: b, axes: {topics: [1]}}]",
		"the first axes are enough":  "axes: {topics: " + thousand + ", partitions: " + thousand + ", rate: " + thousand + ", size: " + thousand + ", producersPerTopic: " + thousand + ", subscriptionsPerTopic: " + thousand + ", seed: " + thousand + "}",
	} {
		s, err := Parse("f.yaml", []byte(doc))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := s.Points(); err == nil || err.Error() != "f.yaml: axes: more than 100000 points" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUpToSixteenTopicsHaveConnectionsOfTheirOwn(t *testing.T) {
	for topics, want := range map[string]int{"1": 0, "16": 0, "17": 1} {
		if got := one(t, "{broker: nats, topics: "+topics+"}").Spec.Connections; got != want {
			t.Errorf("%s topics share %d connections, want %d", topics, got, want)
		}
	}
}

func TestARangeHoldsAtMostTenThousandValues(t *testing.T) {
	for doc, want := range map[string]int{
		"axes: {topics: {from: 1, to: 10000, step: 1}}": 10_000, "axes: {rate: {from: 0, to: 9999, step: 1}}": 10_000,
		"axes: {rate: {from: 0, to: 10000, step: 1}}": 0, "axes: {rate: {from: 1, to: 1e300, factor: 1.01}}": 0,
	} {
		s, err := Parse("f.yaml", []byte(doc))
		if (err != nil) != (want == 0) {
			t.Errorf("%q: %v", doc, err)
		}
		if err != nil {
			continue
		}
		if got := len(s.sweeps[0].axes[0].values); got != want {
			t.Errorf("%q: %d values, want %d", doc, got, want)
		}
	}
}

func points(doc string) ([]Point, error) {
	s, err := Parse("f.yaml", []byte(doc+"\n"))
	if err != nil {
		return nil, err
	}
	return s.Points()
}

// A record may come from an attacker, and computations on its spec may take long if its numbers are large.
func TestNoNumberOfASpecIsWithoutABound(t *testing.T) {
	rate := 1.0
	spec := Spec{
		ConsumerPerSubscription: Consumers{1}, Pipeline: new(Pipeline), MessageSize: Sizes{{}}, Faults: []Fault{{}},
		Load: Load{Steps: []Step{{To: &rate}}, Burst: new(Burst)}, Sustainable: Sustainable{Goals: []SearchGoal{{}}},
		Curve: Curve{Fractions: []float64{1}, Rates: []float64{1}},
	}
	numbers := 0
	var each func(v reflect.Value)
	each = func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.Pointer:
			each(v.Elem())
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				each(v.Index(i))
			}
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				each(v.Field(i))
			}
		case v.CanInt():
			numbers++
			was := v.Int()
			for _, n := range []int64{1 << 62, -1} {
				if v.SetInt(n); spec.Seed == 0 && spec.Beyond() == "" {
					t.Errorf("nothing bounds one of %+v", spec)
				}
			}
			v.SetInt(was)
		case v.CanFloat() && v.Addr().Interface() != &spec.MessageSize[0].Weight:
			numbers++
			was := v.Float()
			for _, n := range []float64{1e300, -1} {
				if v.SetFloat(n); spec.Beyond() == "" {
					t.Errorf("nothing bounds one of %+v", spec)
				}
			}
			v.SetFloat(was)
		}
	}
	each(reflect.ValueOf(&spec))
	if what := spec.Beyond(); what != "" || numbers < 60 {
		t.Errorf("of %d numbers: %s", numbers, what)
	}
	spec.Objectives = Objectives{}
	for i := range maxObjectives + 1 {
		spec.Objectives[strings.Repeat("a", i+1)] = 1
	}
	if what := spec.Beyond(); what != "objectives are 201; allowed: 200" {
		t.Errorf("%q of 201 objectives", what)
	}
	for path := range mostOfSetting {
		if setting, _, _ := strings.Cut(path, "."); !slices.Contains(layout().groups[""], setting) {
			t.Errorf("a bound of no setting: %s", path)
		}
	}
	large := Defaults()
	large.SubscriptionsPerTopic, large.Relays, large.Pipeline = 1e18, 1e18, &Pipeline{Servers: 1e18}
	if n := len(large.Parts()); n > 100 {
		t.Errorf("%d parts", n)
	}
	if large.ConsumersPerTopic() != 1e18 {
		t.Errorf("%d consumers of a topic, want 1e18", large.ConsumersPerTopic())
	}
}
