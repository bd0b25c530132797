package study

import (
	"strings"
	"testing"
)

func TestPipelinesAreCompletedAndChecked(t *testing.T) {
	s, err := Parse("x.yaml", []byte("broker: kafka\nmeasure: count\npipeline: {servers: 2, threads: 300}\n"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	got := points[0].Spec
	if want := (Pipeline{Servers: 2, Balancer: "haproxy", Pool: 20, Answer: "confirmed", Threads: 300, State: "memory"}); *got.Pipeline != want {
		t.Errorf("%+v", got.Pipeline)
	}
	if got.ProducersPerTopic != 40 || got.ConsumerPerSubscription.Largest() != 32 || got.InFlight.Messages != 1 {
		t.Errorf("%d producers of %d in flight, %s consumers", got.ProducersPerTopic, got.InFlight.Messages, got.ConsumerPerSubscription)
	}
	if parts := strings.Join(got.Parts(), " "); parts != "server-1 server-2 balancer consumer" {
		t.Error(parts)
	}
	for text, says := range map[string]string{
		"measure: peak\npipeline: {threads: 3}\n":                                                                               "only by rate, count",
		"measure: count\npipeline: {servers: 0}\n":                                                                              "allowed: 1 to 16",
		"measure: count\npipeline: {servers: 2, balancer: none}\n":                                                              "allowed before several: haproxy",
		"measure: count\npipeline: {balancer: traefik}\n":                                                                       "is not one of none, haproxy, nginx",
		"measure: count\npipeline: {servants: 1}\n":                                                                             "allowed: servers, balancer",
		"measure: count\npipeline: {threads: 0}\n":                                                                              "pipeline.threads",
		"measure: count\ntopics: 2\npipeline: {threads: 3}\n":                                                                   "a pipeline has 1",
		"measure: count\nmessageSize: 1KiB\npipeline: {threads: 3}\n":                                                           "not used with pipeline",
		"measure: count\nattach: [\"localhost:1\"]\npipeline: {threads: 3}\n":                                                   "can't be combined with attach",
		"measure: count\npipeline: {threads: 3}\nfaults: [{at: 1s, do: kill, node: consumer, for: 1s}]\n":                       "allowed then: sqlite, postgres",
		"measure: count\npipeline: {threads: 3}\nfaults: [{at: 1s, do: kill, node: server-2, for: 1s}]\n":                       "server-1, consumer",
		"measure: count\npipeline: {threads: 3}\nfaults: [{at: 1s, do: kill, node: server-1}]\n":                                "would not come back",
		"measure: count\npipeline: {threads: 3}\nfaults: [{at: 1s, do: pause, node: balancer, for: 200ms}]\n":                   "balancer",
		"measure: count\nbrokerWarmup: 5s\npipeline: {threads: 3}\nfaults: [{at: 1s, do: pause, node: server-1, for: 200ms}]\n": "can't be combined with faults",
	} {
		s, err := Parse("x.yaml", []byte(text))
		if err == nil {
			_, err = s.Points()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", text, err, says)
		}
	}
}
