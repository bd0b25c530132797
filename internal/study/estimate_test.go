package study

import (
	"math"
	"testing"

	posting "github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/usual"
)

func TestAnEstimateKnowsTheBrokersOrderOfMagnitude(t *testing.T) {
	usual.Register("estimated", usual.Defaults{Speed: usual.Speed{
		Rate: 10_000, Flushed: 500, Alone: 0.002, Start: 8, Flushes: "3.",
	}})
	const base = "{broker: estimated, size: 100, "
	for doc, want := range map[string]float64{
		"count.messages: 100000}":                                                            100_000 / 10_000.0,
		"count.messages: 100000, persistence: fsync}":                                        100_000 / 500.0,
		"count.messages: 100000, persistence: log, version: 3.10.8}":                         100_000 / 500.0,
		"count.messages: 100000, persistence: log, version: 4.0.5}":                          100_000 / 10_000.0,
		"count.messages: 100000, delivery: at-most-once, persistence: log, version: 3.10.8}": 100_000 / 10_000.0,
		"count.messages: 100000, subscriptionsPerTopic: 2}":                                  2 * 100_000 / 10_000.0,
		"count.messages: 100000, nodes: 3, replicas: 3}":                                     3 * 100_000 / 10_000.0,
		"count.messages: 1000, inFlight.messages: 1}":                                        1000 * 0.002,
		"count.messages: 1000, inFlight.messages: 1, producersPerTopic: 4}":                  1000 * 0.002 / 4,
		"count.messages: 1000, load.rate: 100}":                                              1000 / 100.0,
		"count.messages: 100000, load.rate: 50000}":                                          100_000 / 10_000.0, // it can't keep that up
		"backlog.messages: 1000, persistence: fsync}":                                        1000/500.0 + 1000/10_000.0,
		"count.messages: 1000, producerDelay: 20ms, producersPerTopic: 4}":                   1000 * 0.005,
		"backlog.messages: 1000, consumerDelay: 20ms}":                                       1000/10_000.0 + 1000*0.020,
		"backlog.messages: 1000, consumerDelay: 20ms, consumerPerSubscription: 10}":          1000/10_000.0 + 1000*0.002,
	} {
		if got := EstimateSeconds(one(t, base+doc).Spec); got < want+settling-1e-9 || got > want+settling+1e-9 {
			t.Errorf("%s is estimated as %g s, want %g", doc, got, want+settling)
		}
	}
	for doc, want := range map[string]float64{"nodes: 1}": 8, "nodes: 3}": 8 * 2.5} {
		if got := StartSeconds(one(t, base+doc).Spec); got != want {
			t.Errorf("%s starts in %g s, want %g", doc, got, want)
		}
	}
}

// Threads that are far away wait for their answers in both phases, and a server that is limited has a rate of its own.
func TestAnEstimateOfAPipelineKnowsItsPhasesItsDistanceAndItsServersLimit(t *testing.T) {
	const far, threads = 0.5, 100
	answered := 2*far + guessedAnswer
	for _, total := range []int64{20_000, 200_000, 500_000} {
		want := settling
		for _, p := range posting.TwoPhases(threads, total) {
			want += float64(p.Requests()) / float64(p.Threads) * answered
		}
		s := one(t, "{broker: estimated, pipeline: {threads: 100}, count.messages: 1000, network.client.delay: 500ms}").Spec
		s.Count.Messages = total
		if got := EstimateSeconds(s); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d requests are estimated as %g s, want %g", total, got, want)
		}
	}
	limited := one(t, "{broker: estimated, pipeline: {servers: 2}, count.messages: 10000, limits.server.cpu: 0.15}").Spec
	if got, want := EstimateSeconds(limited), 10_000/(2*0.15/guessedServer)+settling; math.Abs(got-want) > 1e-6 {
		t.Errorf("two limited servers: %g s, want %g", got, want)
	}
}
