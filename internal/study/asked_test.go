package study

import (
	"strings"
	"testing"
)

func TestASpecSaysInWordsWhatItAsksForBesideTheDefaults(t *testing.T) {
	for doc, want := range map[string]string{
		"broker: kafka\nrate: 5000": "",
		"broker: kafka\nrate: 5000\nnodes: 3\nreplicas: 3\nsubscriptions: 3":                               "3 nodes, 3 replicas, 3 subscriptions",
		"broker: kafka\nrate: 5000\nnodes: 3\nreplicas: 3\nacks: leader\npersistence: fsync":               "3 nodes, persistence fsync, 3 replicas, acks leader",
		"broker: kafka\nrate: 5000\ntopics: 40\npartitions: 2\nconsumers: 3+2\nduration: 9s\nseed: 5":      "40 topics, 2 partitions, 3+2 consumers",
		"broker: kafka\nrate: 5000\nsubscriptions: 0":                                                      "0 subscriptions",
		"broker: kafka\nrate: 5000\nattach: [a:1, b:1]\ntls: on":                                           "attached, tls on",
		"broker: kafka\nsustainable.latency: 20ms\nsustainable.confirm: 5s":                                "p99 within 20ms",
		"broker: kafka\nsustainable.goals: [{}, {latency: 10ms}, {latency: 1s, quantile: 1}]":              "p99 within 10ms, max within 1s",
		"broker: kafka\nrate: 5\nclient.linger.ms: 5\nserver: {num.io.threads: 4}\nordering: ordered":      "ordered, server.num.io.threads 4, client.linger.ms 5",
		"broker: kafka\nrate: 5\nmessageSize: 1MiB\nproducers: 20\nkeyDistributor: RANDOM":                 "20 producers, keyDistributor RANDOM",
		"broker: kafka\nrate: 5\nfaults: [{at: 1s, do: kill}]\nlimits.broker.cpu: 0.5\nconsumerDelay: 2ms": "consumerDelay 2ms, limits.broker.cpu 0.5, with faults",
		"broker: kafka\nrate: 5\nmeasure: backlog\ntopics: 9\nsubscriptions: 3\nbacklog: {topics: 2, subscriptions: 1, rate: 9}": "9 topics, 3 subscriptions, backlog in 2 of 9 topics, " +
			"backlog of 1 of 3 subscriptions",
		"broker: kafka\nrate: 5\nmeasure: backlog":       "",
		"broker: kafka\nrate: 5\npipeline: {servers: 2}": "pipeline.servers 2, pipeline.balancer haproxy",
	} {
		s, err := Parse("f.yaml", []byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		spec := points[0].Spec
		var words []string
		for _, path := range spec.Asked() {
			words = append(words, spec.InWords(path))
		}
		if got := strings.Join(words, ", "); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
	if asked := (Spec{Broker: "kafka", Measure: MeasureImportedClosedLoop, Delivery: atLeastOnce}).Asked(); len(asked) > 0 {
		t.Errorf("of results imported without settings: %q", asked)
	}
}
