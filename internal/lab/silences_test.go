package lab

import (
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestAnOutageLeavesOutPausesOfTheGenerator(t *testing.T) {
	tr := trial{Outcome: worker.Outcome{
		DeliverySilences:     []worker.Interval{{From: 150, To: 800}, {From: 900, To: 1080}},
		ConfirmationSilences: []worker.Interval{{From: 100, To: 300}},
		Pauses:               worker.Pauses{Stops: []worker.Interval{{From: 160, To: 790}, {From: 1070, To: 2000}}},
	}}
	tr.SampleEvery = 20 * time.Millisecond
	if got := outage(tr); got.SampleNs != 20e6 || got.ReceiveNs != 170 || got.PublishNs != 60 {
		t.Errorf("nothing delivered for %d ns, want 170; nothing confirmed for %d, want 60; samples %d ns apart", got.ReceiveNs, got.PublishNs, got.SampleNs)
	}
}

// A pause of 150 ms in 10 s delays 1.5 of 100 messages, so their p99 may be that pause.
func TestAPauseOfEitherProcessDelaysEveryMessageThatPassesBoth(t *testing.T) {
	const length = int64(10 * time.Second)
	still := worker.PausesOf([]worker.Interval{{From: 1e9, To: 1e9 + 150e6}}, 0, length)
	going := worker.PausesOf(nil, 0, length)
	h := hist.New()
	h.RecordN(1e6, 985)
	h.RecordN(100e6, 15)
	out := worker.Outcome{Pauses: still, Until: length, Histograms: measure.Histograms{EndToEnd: h.Snapshot()}}
	alone, apart := trial{Outcome: out, Scheduled: true}, trial{Outcome: out, Scheduled: true}
	apart.Pauses = going.Union(still)
	apart.Cost.Sides = &store.Sides{}
	for name, tr := range map[string]trial{"the only process": alone, "one of two": apart} {
		var d doubts
		(&bench{spec: study.Defaults()}).doubtOwnDelay(tr, "end to end", &d)
		const want = "the generator's own delay may be up to 99ms of 100ms at p99, 75.2ms of 100ms at p99.9, 75.2ms of 100ms at the maximum " +
			"of the latency end to end; the longest pause was 150ms, 1s into the measured phase"
		if len(d) != 1 || d[0].Code != doubt.Pauses.Code() || d[0].Text != want || d[0].Share < 0.98 || d[0].Share > 1 || !slices.Equal(d[0].Quantiles, []float64{0.99, 0.999, 1}) {
			t.Errorf("in %s: %+v", name, d)
		}
	}
}

func TestAnOutageLeavesOutOnlyPausesThatAllAgentsShare(t *testing.T) {
	agentOf := func(stops ...worker.Interval) agent.Part {
		return agent.Part{Outcome: worker.Outcome{Producers: 1, LastReceived: 1, Pauses: worker.Pauses{Stops: stops}}}
	}
	tr := trial{
		Outcome: worker.Outcome{
			DeliverySilences: []worker.Interval{{From: 0, To: 1000}}, ConfirmationSilences: []worker.Interval{{From: 0, To: 1000}},
			Pauses: worker.Pauses{Stops: []worker.Interval{{From: 0, To: 1000}}},
		},
		Parts: []agent.Part{
			agentOf(worker.Interval{From: 0, To: 200}, worker.Interval{From: 300, To: 400}, worker.Interval{From: 500, To: 900}),
			agentOf(worker.Interval{From: 100, To: 350}, worker.Interval{From: 600, To: 1000}),
			agentOf(worker.Interval{From: 0, To: 1000}),
		},
	}
	if got := outage(tr); got.ReceiveNs != 1000-100-50-300 || got.PublishNs != got.ReceiveNs {
		t.Errorf("%+v", got)
	}
	tr.Parts[0].Outcome.Producers, tr.Parts[1].Outcome.LastReceived, tr.Parts[2].Outcome.LastReceived = 0, 0, 0 // which receives only, and those that send only
	if got := outage(tr); got.ReceiveNs != 1000-400-500 || got.PublishNs != 1000-250-400 {
		t.Errorf("%+v", got)
	}
}
