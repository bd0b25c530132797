package study

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestSpellingAndOrderDoNotChangeTheIdentity(t *testing.T) {
	for name, c := range map[string][]string{
		"units":        {"size: 1KiB", "size: 1024", "messageSize: 1.0KiB", "messageSize: [{size: 1024, weight: 7}]"},
		"times":        {"rate: 5\nduration: 60s", "rate: 5\nduration: 1m", "rate: 5\nduration: 0.5m30s", "testDurationMinutes: 1\nproducerRate: 5.0\nwarmup: 5s"},
		"defaults":     {"topics: 1", "topics: 1.0", "partitions: 1\nmeasure: sustainable", "broker: nats\ndelivery: at-most-once\nacks: none", "seed: 1"},
		"words":        {"name: a", "name: b\nlabel: c\ntopics: 1\nobjectives: {lost: 0}"},
		"key order":    {"topics: 2\nsize: 10\nserver: {b: 1, a: 2}", "server: {a: 2, b: 1}\nsize: 10\ntopics: 2"},
		"nesting":      {"load: {rate: 5, shape: constant}", "load.rate: 5", "base: {load: {rate: 5}}", "rate: 5"},
		"native types": {"server: {a: 4}", `server: {a: "4"}`, "server.a: 4.0"},
		"on and off":   {"tls: on", "tls: true", `tls: "on"`, "tls: yes"},
		"distribution": {"size: [{size: 10, weight: 1}, {size: 20, weight: 2}]", "size: [{size: 20, weight: 2}, {size: 10, weight: 1}]"},
		"place":        {"topics: 1", "place: topic", "place: {deal: topic}", "place.deal: topic", "place: {}"},
		"spread":       {"place: spread", "place: {deal: spread}"},
		"warm-up":      {"rate: 1\nwarmup: auto", "rate: 1\nwarmup: {auto: true}", "rate: 1\nwarmup: {auto: true, for: 5s, max: 30s}"},
		"faults":       {"rate: 1\nfaults: [{at: 1s, do: kill}, {at: 2s, do: restart}]", `{rate: 1, faults: [{at: 2000ms, do: restart, node: 1}, {at: 1s, do: kill, node: "1"}]}`},
		"broker":       {"broker: kafka@4.3.1", "broker: kafka\nversion: 4.3.1"},
		"groups":       {"subscriptions: [{consumers: 3}, {consumers: 2}]", "consumers: 3+2", "subscriptionsPerTopic: 2\nconsumerPerSubscription: 3 + 2"},
		"equal groups": {"subscriptions: 2\nconsumers: 3", "subscriptions: [{consumers: 3}, {consumers: 3}]", "consumers: 3+3"},
		"one group":    {"consumers: 3", "subscriptions: [{consumers: 3}]"},
		"plain groups": {"subscriptions: 2", "subscriptions: [{}, {}]"},
	} {
		t.Run(name, func(t *testing.T) {
			first := one(t, c[0])
			for _, doc := range c[1:] {
				if p := one(t, doc); p.ID != first.ID {
					a, _ := json.Marshal(first.Spec)
					b, _ := json.Marshal(p.Spec)
					t.Errorf("%q and %q differ\n%s\n%s", c[0], doc, a, b)
				}
			}
		})
	}
}

// Stored results are found again by identity: a change here makes every one of them unreachable, so it must be meant.
func TestIdentityOfTheDefaultsStays(t *testing.T) {
	if got, want := Defaults().ID(), "7f678c26d33e1a53"; got != want {
		t.Errorf("got %s, want %s: a default, a field or the canonical form has changed", got, want)
	}
}

var notOfIdentity = []string{"name", "label", "passwordEnv", "passwordFile", "oauth.url", "oauth.scope", "oauth.audience", "caFile", "certFile", "keyFile", "objectives", "payloadColumn", "topicPrefix"}

func TestEverySettingChangesTheIdentity(t *testing.T) {
	base := map[string]string{
		"load": "rate: 5\n", "user": "attach: [a:1]\npasswordEnv: PW\nuser: adam\n", "login": "attach: [a:1]\npasswordEnv: PW\n", "warmup": "rate: 5\n", "duration": "rate: 5\n", "faults": "rate: 5\n", "keys": "keyDistributor: RANDOM\n",
		"zipfExponent": "keyDistributor: ZIPF\n", "curve": "measure: curve\n", "count": "measure: count\n", "backlog": "measure: backlog\n", "backlog.keepSending": "measure: backlog\nrate: 5\n",
		"backlog.topics": "measure: backlog\nbacklog.rate: 5\n", "backlog.subscriptions": "measure: backlog\nbacklog.rate: 5\nsubscriptions: 2\n",
		"replicas": "nodes: 3\n", "isolation": "", "sustainable.quantile": "sustainable.latency: 1s\n", "load.to": "load.shape: ramp\nload.rate: 1\n",
		"load.burst": "load.shape: bursts\nload.burst: {rate: 1, every: 9s, for: 1s}\n", "warmup.max": "rate: 5\nwarmup.auto: true\n",
		"load.steps": "load.shape: steps\n", "load.repeat": "load: {shape: steps, steps: [{rate: 5, for: 1s}]}\n", "consumerDelays": "consumerDelay: 1ms\n", "randomizedPayloadPoolSize": "", "acks": "broker: kafka\n", "keys.": "",
		"pipeline": "measure: count\npipeline: {servers: 1}\n", "limits.server": "measure: count\npipeline: {servers: 2}\n",
		"topicName": "attach: [a:1]\n", "read": "measure: read\nattach: [a:1]\ntopicName: orders\n",
		"generator": "measure: peak\n", "network.client": "measure: count\npipeline: {servers: 1}\n", "limits.balancer": "measure: count\npipeline: {servers: 2}\n", "limits.consumer": "consumersApart: true\n", "place.producers": "place: {consumers: [a]}\n", "place.consumers": "place: {producers: [a]}\n",
	}
	values := map[string]string{
		"broker": "kafka", "version": "9", "attach": "[a:1]", "tls": "on", "user": "eve", "login": "token", "server": "{x: 1}", "client": "{x: 1}", "topicConfig": "{x: 1}", "headers": "{x: 1}",
		"delivery": "at-least-once", "persistence": "log", "acks": "quorum", "ordering": "ordered", "useRandomizedPayloads": "false",
		"payloadFile": "testdata/payload/sixtyfour.data", "consumerPerSubscription": "3+2", "keyDistributor": "RANDOM", "measure": "peak", "load.shape": "poisson",
		"load.steps": "[{rate: 5, for: 1s}]", "load.repeat": "true", "warmup.auto": "true", "curve.fractions": "[0.5]", "curve.rates": "[7]", "faults": "[{at: 1s, do: kill}]",
		"backlog.topics": "1", "backlog.subscriptions": "1",
		"backlog.keepSending": "true", "isolation": "shared", "nodes": "3", "replicas": "2", "randomBytesRatio": "0.7",
		"sustainable.width": "0.1", "sustainable.exceed": "0.2", "sustainable.budget": "30s", "consumerDelays": "exponential", "consumersApart": "true", "sustainable.goals": "[{latency: 7s}, {}]", "zipfExponent": "2", "sustainable.quantile": "0.5", "backlog.drainRatio": "0.5", "count.bytes": "1MB", "backlog.bytes": "1MB",
		"inFlight.bytes": "1MB", "connections": "1", "place.deal": "spread", "warmup.max": "40s", "load.burst.for": "2s", "load.burst.every": "8s",
		"brokerWarmup": "3s", "pipeline.servers": "3", "pipeline.balancer": "haproxy", "pipeline.answer": "at-once", "pipeline.state": "sqlite", "read.from": "start",
	}
	at := func(m map[string]string, path string) string {
		for p := path; ; {
			if v, ok := m[p]; ok {
				return v
			}
			head, _, ok := cutLast(p)
			if !ok {
				return ""
			}
			p = head
		}
	}
	for _, f := range Fields() {
		if slices.Contains(notOfIdentity, f.Path) {
			continue
		}
		value, ok := values[f.Path]
		switch {
		case ok:
		case f.Type == "time":
			value = "7s"
		case f.Type == "size":
			value = "17MiB"
		default:
			value = "17"
		}
		doc := at(base, f.Path)
		topics := "topics: 2\n"
		if groupOf(f.Path) == "pipeline" || f.Path == "generator" || strings.Contains(doc, "pipeline") || f.Path == "topicName" || f.Path == "read.from" { // which has one
			topics = ""
		}
		s := parse(t, topics+doc)
		var before string
		if points, err := s.Points(); err == nil {
			before = points[0].ID
		}
		if err := s.Set(f.Path + "=" + value); err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		points, err := s.Points()
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			continue
		}
		if points[0].ID == before {
			t.Errorf("%s=%s does not change the identity", f.Path, value)
		}
	}
}

func TestStoredSpecsKeepTheirIdentity(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		seed := rapid.Int64().Draw(t, "seed")
		size := rapid.Int64Range(8, 1<<20).Draw(t, "size")
		native := rapid.OneOf(rapid.Float64Range(-1e6, 1e6).AsAny(), rapid.IntRange(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.StringMatching(`[a-z]{1,8}`).AsAny()).Draw(t, "native")
		lines := []string{
			fmt.Sprintf("seed: %d", seed), fmt.Sprintf("size: %d", size), fmt.Sprintf("server: {x.y: %v}", native),
			fmt.Sprintf("rate: %v", rapid.Float64Range(1, 1e6).Draw(t, "rate")),
			fmt.Sprintf("duration: %dms", rapid.IntRange(1e3, 1e6).Draw(t, "ms")),
			fmt.Sprintf("topics: %d", rapid.IntRange(1, 100).Draw(t, "topics")),
		}
		id := func() (string, Spec) {
			lines = rapid.Permutation(lines).Draw(t, "order")
			s, err := Parse("f.yaml", []byte(strings.Join(lines, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			points, err := s.Points()
			if err != nil {
				t.Fatal(err)
			}
			return points[0].ID, points[0].Spec
		}
		first, spec := id()
		if second, _ := id(); second != first {
			t.Fatalf("another order, another identity")
		}
		data, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		var back Spec
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if back.ID() != first {
			t.Fatalf("%s after a round trip through %s, %s before", back.ID(), data, first)
		}
	})
}

func TestPayloadsAreIdentifiedByWhatTheyHold(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, a, "x.json", `{"time": 1}`)
	write(t, b, "y.json", `{"time": 1}`)
	at := func(path string) Point { return one(t, "payloadFile: "+path) }
	first, second := at(filepath.Join(a, "x.json")), at(filepath.Join(b, "y.json"))
	if first.ID != second.ID {
		t.Error("a copy elsewhere is another point")
	}
	if got := first.Spec.MessageSize.String(); got != "11" {
		t.Errorf("size %s, want that of the file", got)
	}
	write(t, b, "y.json", `{"time": 2}`)
	if at(filepath.Join(b, "y.json")).ID == first.ID {
		t.Error("other contents, the same point")
	}
	write(t, b, "z.json", `{"time": 2, "more": true}`)
	write(t, b, "zz.json", `{"time": 3, "more": true}`)
	if got := at(b).Spec.MessageSize.String(); got != "11:1,25:2" {
		t.Errorf("sizes %s, want those of the files", got)
	}
	if _, err := os.Stat(at(b).Spec.PayloadFile); err != nil {
		t.Error(err)
	}
}

func TestOrderInterleavesRepeatsInASeededShuffle(t *testing.T) {
	s := New("x")
	if err := s.SetAxis("--topics", "topics", strings.Fields("1 2 3 4 5 6 7 8 9 10")); err != nil {
		t.Fatal(err)
	}
	points := expand(t, s)
	runs := Order(points, 3, 7, nil)
	if len(runs) != 30 {
		t.Fatalf("got %d runs", len(runs))
	}
	rounds := map[string]bool{}
	for r := range 3 {
		seen := map[string]bool{}
		var order []string
		for _, run := range runs[10*r : 10*r+10] {
			if run.Repetition != r+1 {
				t.Errorf("repetition %d in round %d", run.Repetition, r+1)
			}
			seen[run.Point.ID] = true
			order = append(order, run.Point.Label)
		}
		if len(seen) != 10 {
			t.Errorf("round %d has %d different points", r+1, len(seen))
		}
		rounds[strings.Join(order, ";")] = true
	}
	if len(rounds) != 3 {
		t.Error("two rounds have the same order")
	}
	same := func(a, b []Run) bool {
		return slices.EqualFunc(a, b, func(x, y Run) bool { return x.Point.ID == y.Point.ID && x.Repetition == y.Repetition })
	}
	if !same(runs, Order(points, 3, 7, nil)) {
		t.Error("equal seeds, other orders")
	}
	if same(runs, Order(points, 3, 8, nil)) {
		t.Error("other seeds, equal orders")
	}
	if len(Order(points, 0, 1, nil)) != 0 || len(Order(nil, 3, 1, nil)) != 0 {
		t.Error("runs of nothing")
	}
}

// Only then one broker at a time need be up, and each repetition can have its own.
func TestPointsThatShareABrokerComeInABlock(t *testing.T) {
	s := New("x")
	if err := errors.Join(s.SetAxis("--topics", "topics", strings.Fields("1 2 3 4 5")), s.SetAxis("--broker", "broker", strings.Fields("a b c"))); err != nil {
		t.Fatal(err)
	}
	points := expand(t, s)
	byBroker := func(s Spec) string {
		if s.Topics == 5 {
			return "" // has one of its own
		}
		return s.Broker
	}
	orders := map[string]bool{}
	for seed := range int64(20) {
		var order []string
		changes, before := 0, ""
		for _, run := range Order(points, 1, seed, byBroker) {
			name := cmp.Or(byBroker(run.Point.Spec), run.Point.ID)
			if name != before {
				changes++
			}
			before = name
			order = append(order, run.Point.ID)
		}
		if len(order) != 15 || changes != 3+3 {
			t.Errorf("seed %d: %d points on %d brokers one after the other, want 15 on 6", seed, len(order), changes)
		}
		orders[strings.Join(order, " ")] = true
	}
	if len(orders) != 20 {
		t.Errorf("20 seeds make %d orders", len(orders))
	}
}
