package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
)

// The consumer's histogram has the rides of the warm-up too. If it did not answer when that ended, they can't be taken out of it.
func TestALatencyThatIncludesTheWarmupsIsADoubt(t *testing.T) {
	h := hist.New()
	h.Record(1e6)
	counted := consumer.Stats{Latency: h.Snapshot()}
	unreachable := consumer.NewRemote("127.0.0.1:1")
	r := &pipelineRun{}
	if _, doubts := r.measuredLatency(counted); len(doubts) != 0 {
		t.Errorf("without a warm-up: %v", doubts)
	}
	r.warmup.ask(t.Context(), unreachable)
	if latency, doubts := r.measuredLatency(counted); latency.Count() != 1 || len(doubts) != 1 || doubts[0].Code != "warmup-latency" {
		t.Errorf("%d latencies, doubts %v", latency.Count(), doubts)
	}
	r.watch.received.restarted = true
	if latency, doubts := r.measuredLatency(counted); latency.Count() != 1 || len(doubts) != 1 || doubts[0].Code != "restart-latency" {
		t.Errorf("of a process that has forgotten what the one before it measured: %d latencies, doubts %v", latency.Count(), doubts)
	}
}
