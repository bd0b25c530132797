package studies_test

import (
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/study"
)

func TestPublishedStudiesAreRepeatedWithStockClients(t *testing.T) {
	for name := range papers {
		_, points := open(t, name, study.Full)
		for _, p := range points {
			if mode := p.Spec.Client["mode"]; mode != nil && mode != "stock" {
				t.Errorf("%s: %s: client.mode %v", name, p.Label, mode)
				break
			}
		}
	}
}

func TestRabieesScalePaperHasEveryPartitionAndLimitOnThreeNodes(t *testing.T) {
	_, points := open(t, "rabiee-2018", "paper")
	kept := valuesOf(points)
	for axis, want := range map[string][]string{
		"kafka-1 partitionsPerTopic":          {"5", "15", "30", "50"},
		"rabbitmq-3 topicConfig.x-max-length": {"-1", "10", "100", "1000", "10000"},
	} {
		if !slices.Equal(kept[axis], want) {
			t.Errorf("%s: %v, want %v", axis, kept[axis], want)
		}
	}
	queues := map[string][]string{} // claims set the experiments beside each other
	for _, p := range points {
		s := p.Spec
		if s.Nodes != 3 || s.Duration < study.Duration(10*time.Second) {
			t.Errorf("%s: %d nodes for %s", p.Label, s.Nodes, s.Duration)
		}
		if v := p.Axes["topics"]; v != "" && !slices.Contains(queues[p.Axes["sweep"]], v) {
			queues[p.Axes["sweep"]] = append(queues[p.Axes["sweep"]], v)
		}
	}
	for sweep, n := range queues {
		if !slices.Equal(n, queues["rabbitmq-2"]) {
			t.Errorf("%s has %v queues, rabbitmq-2 %v", sweep, n, queues["rabbitmq-2"])
		}
	}
	batches := map[string]int{} // figures 5.1 and 5.5 have all twenty
	for _, p := range points {
		if p.Axes["mode"] == "at-most-once" && p.Axes["partitionsPerTopic"] == "5" && (p.Axes["client.linger.ms"] == "" || p.Axes["client.linger.ms"] == "10") {
			batches[p.Axes["sweep"]+" "+p.Axes["when"]]++
		}
	}
	for _, experiment := range []string{"kafka-1 then", "kafka-1 now", "kafka-2 then", "kafka-2 now"} {
		if batches[experiment] != 20 {
			t.Errorf("%s: %d batch sizes", experiment, batches[experiment])
		}
	}
}

func TestRajesScalePaperHasItsMessagesInEveryModel(t *testing.T) {
	for _, scale := range []string{study.Full, "paper"} {
		_, points := open(t, "raje-2019", scale)
		perModel := map[string]int{}
		for _, p := range points {
			s, experiment := p.Spec, p.Axes["sweep"]
			perModel[experiment+" "+p.Axes["model"]]++
			if isPaced := experiment == "latency-by-number" || experiment == "latency-by-size"; isPaced != (s.Load.Rate > 0) {
				t.Errorf("%s: %g/s", p.Label, s.Load.Rate)
			}
			bySize := experiment == "latency-by-size" || experiment == "time-by-size"
			if bySize && s.Count.Bytes < 100e6 || experiment == "throughput" && s.Count.Messages != 1_000_000 {
				t.Errorf("%s, scale %s: %d messages, %d bytes", p.Label, scale, s.Count.Messages, s.Count.Bytes)
			}
			if want := map[string]string{"kafka": "log"}[s.Broker]; s.Persistence != "memory" && s.Persistence != want {
				t.Errorf("%s: persistence %s", p.Label, s.Persistence)
			}
			if s.Broker == "activemq" && s.Topic["destination"] != "topic" {
				t.Errorf("%s: destination %v", p.Label, s.Topic["destination"])
			}
		}
		for experiment, points := range map[string]int{"throughput": 6, "latency-by-number": 18, "latency-by-size": 18, "time-by-size": 24} {
			for _, model := range []string{"1:1", "1:2", "2:1", "2:2"} {
				if got := perModel[experiment+" "+model]; got < points {
					t.Errorf("%s %s at scale %s: %d points, want %d", experiment, model, scale, got, points)
				}
			}
		}
	}
}

func TestChensScalePaperHasAllRunsInBothPhasesAtItsDistance(t *testing.T) {
	_, points := open(t, "chen-2024", "paper")
	runs := 0
	for _, p := range points {
		s := p.Spec
		if p.Axes["sweep"] == "pipeline" {
			runs++
		}
		phases := load.TwoPhases(s.Pipeline.Threads, s.Count.Messages)
		if len(phases) != 2 || phases[0] != (load.Phase{Threads: 32, Each: 1000}) || phases[1].Threads != s.Pipeline.Threads || phases[1].Total != 168_000 {
			t.Errorf("%s: %+v", p.Label, phases)
		}
		if s.Network.Client.Delay != study.Duration(26*time.Millisecond) {
			t.Errorf("%s: %s away each way", p.Label, s.Network.Client.Delay)
		}
	}
	if runs != 2*17 {
		t.Errorf("%d runs, want all 17 on both versions", runs)
	}
	_, points = open(t, "chen-2024", "quick")
	for _, p := range points {
		if phases := load.TwoPhases(p.Spec.Pipeline.Threads, p.Spec.Count.Messages); len(phases) != 2 {
			t.Errorf("quick, %s: one phase", p.Label)
		}
	}
}
