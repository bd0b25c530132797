package lab_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/study"
)

// specOf is what a document of one point says.
func specOf(t *testing.T, text string) study.Spec {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || len(points) != 1 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	return points[0].Spec
}

// Every part of an application around JetStream is killed or paused in the middle of a load: what was accepted is counted
// once, and the record says what each part cost.
func TestThePipelinesBooksBalanceThoughItsPartsDie(t *testing.T) {
	host := brokerHost(t)
	r := one(t, specOf(t, `
broker: jetstream
persistence: log
measure: rate
load.rate: 400
duration: 4s
warmup: 500ms
drain: 30s
client: {AckWait: 1s}
pipeline: {threads: 60, pool: 4, state: sqlite}
consumerPerSubscription: 4
faults:
- {at: 500ms, do: kill, node: server-1, for: 300ms}
- {at: 1500ms, do: kill, node: consumer, for: 300ms}
- {at: 2500ms, do: pause, node: server-1, for: 300ms}
- {at: 3s, do: pause, node: "1", for: 300ms}
`), lab.Options{Host: host})
	if r.Status != "ok" {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	b, p := r.Result.Books, r.Result.Pipeline
	if !b.Balanced() || b.Due != 1600 || b.Acked != 1600 || b.Received != 1600 || b.LostAcked+b.Duplicated+b.Corrupted+b.Failed != 0 || b.Resent == 0 {
		t.Errorf("%+v", b)
	}
	if len(r.Result.Faults) != 8 || r.Result.Faults[0].Part != "server-1" || r.Result.Faults[7].Part != "" {
		t.Errorf("%+v", r.Result.Faults)
	}
	if p.Response.Count() != 1600 || p.QueueMax == nil || len(p.Series) < 5 {
		t.Errorf("%d response times, queue %v, %d ticks", p.Response.Count(), p.QueueMax, len(p.Series))
	}
	for _, name := range []string{"client", "server", "broker", "consumer"} {
		if part, ok := p.Part(name); !ok || part.RSSBytes == 0 || part.UserSeconds+part.SystemSeconds <= 0 {
			t.Errorf("%s: %+v", name, part)
		}
	}
	nothingLeft(t, host)
}

func TestAClosedLoopPipelineIsACount(t *testing.T) {
	host := brokerHost(t)
	r := one(t, specOf(t, `
broker: jetstream
measure: count
count.messages: 1500
tls: on
pipeline: {threads: 20, pool: 3, answer: at-once}
consumerPerSubscription: 2
`), lab.Options{Host: host})
	if r.Status != "ok" {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if b := r.Result.Books; b.Sent != 1500 || b.Acked != 1500 || b.Received != 1500 || r.Result.Count.Messages != 1500 || r.Result.PublishRate <= 0 {
		t.Errorf("%+v, %+v", b, r.Result.Count)
	}
	if r.Spec.ProducersPerTopic != 3 {
		t.Errorf("%d producers", r.Spec.ProducersPerTopic)
	}
	nothingLeft(t, host)
}

func TestAPipelineNeedsABrokerInAProcessOfItsOwn(t *testing.T) {
	if r := once(t, specOf(t, "broker: sim\nmeasure: count\npipeline: {threads: 2}\n"), lab.Options{}); r.Status != "refused" {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}
