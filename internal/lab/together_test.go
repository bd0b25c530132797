package lab

import (
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// atLatency is a trial of 20 s at 1,000/s, all messages of which took the same time, on a broker that used 2 s of a core for them.
func atLatency(latency time.Duration) trial {
	var all hist.Histogram
	all.RecordN(int64(latency), 20_000)
	h := all.Snapshot()
	var samples []worker.Sample
	for at := int64(1e9); at <= 21e9; at += 100e6 {
		due := int64(at-1e9) / 1e6
		samples = append(samples, worker.Sample{At: at, Phase: measure.Measured, Sending: true, Count: measure.Count{Acked: due, Received: due}, Backlog: 1})
	}
	return trial{
		Rate: 1000, Scheduled: true, Senders: 1,
		Outcome: worker.Outcome{
			From: 1e9, Until: 21e9, LastSent: 21e9, LastReceived: 21e9, Producers: 1, Drained: true, Samples: samples,
			Measured:   measure.Books{Due: 20_000, Sent: 20_000, Acked: 20_000, Expected: 20_000, Received: 20_000},
			Histograms: measure.Histograms{EndToEnd: h, EndToEndService: h, Publish: h, Service: h},
			Pauses:     worker.Pauses{Stops: []worker.Interval{{From: 2e9, To: 2e9 + int64(latency)/100}}},
		},
		trialCost: trialCost{Cost: store.Cost{BrokerKnown: true, BrokerUserSeconds: 2, Messages: 20_000, BrokerDiskWriteBytes: -1}},
	}
}

func TestFiguresAtTheSustainableRateAreOfAllTrialsThere(t *testing.T) {
	spec := study.Defaults()
	spec.Sustainable.Latency = study.Duration(50 * time.Millisecond)
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: spec, record: &store.Record{}}
	s := &rateSearch{bench: b, goals: goals(spec), tried: map[float64]attempts{}}
	hold := s.goals[0].FinalDuration
	for _, c := range []struct {
		kind    search.Kind
		length  time.Duration
		latency time.Duration
	}{
		{search.Short, hold / 10, 70 * time.Millisecond}, // too short to count
		{search.Confirm, hold, 10 * time.Millisecond},
		{search.Confirm, hold, 90 * time.Millisecond}, // fails
		{search.Confirm, hold, 20 * time.Millisecond},
	} {
		a := s.judge(search.Request{Kind: c.kind, Rate: 1000, For: c.length}, atLatency(c.latency))
		if j := a.Judgements[0]; (j.Verdict == search.Pass) != (c.latency <= 50*time.Millisecond) {
			t.Fatalf("%v: %+v", c.latency, j)
		}
	}
	s.recordResult(search.Result{Goals: []search.Bounds{{Low: 1000, High: 1100}}})
	r := b.record.Result
	if r.Books.Received != 60_000 || r.Seconds != 60 || r.PublishRate != 1000 || r.OfferedRate != 1000 {
		t.Errorf("%+v in %v s, %v/s of %v/s; want those of three trials of 20 s", r.Books, r.Seconds, r.PublishRate, r.OfferedRate)
	}
	for q, want := range map[float64]time.Duration{0.3: 10, 0.6: 20, 0.9: 90} {
		if got := time.Duration(r.Latency.EndToEnd.Quantile(q)).Round(time.Millisecond); got != want*time.Millisecond {
			t.Errorf("latency at %v: %v, want %d ms", q, got, want)
		}
	}
	if c := r.Cost; c.BrokerUserSeconds != 6 || c.Messages != 60_000 || c.BrokerDiskWriteBytes != -1 {
		t.Errorf("cost %+v", c)
	}
	if r.Pauses.LongestNs != int64(900*time.Microsecond) {
		t.Errorf("longest pause %v", time.Duration(r.Pauses.LongestNs))
	}
}

func TestFiguresOfSeveralTrialsHaveTheDoubtsOfEach(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: study.Defaults(), record: &store.Record{}}
	disturbed := atLatency(time.Millisecond)
	disturbed.Cost.Shares = &store.Shares{Seconds: 20, Others: 1}
	disturbed.neighbours.Used = 20 * time.Second
	disturbed.Doubts = []store.Doubt{store.DoubtOf(doubt.MeterLost, "an agent was lost")}
	disturbed.bursts = []burst{{from: 5e9, at: 15e9, taken: 10 * time.Second}}
	b.keepResult(summedUp(atLatency(time.Millisecond), []trial{disturbed}))
	for _, kind := range []*doubt.Kind{doubt.BusyMachine, doubt.MeterLost, doubt.Stolen} {
		if !slices.ContainsFunc(b.record.Doubts, func(d store.Doubt) bool { return d.Is(kind) }) {
			t.Errorf("no doubt %s: %v", kind.Code(), b.record.Doubts)
		}
	}
}

func TestAPromiseIsNotBrokenByMessagesThatComeDuringTheNextTrial(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(first, second *trial)
		broken bool
	}{
		"all of them":                    {func(_, second *trial) { second.Measured.Stale = 5 }, false},
		"one fewer":                      {func(_, second *trial) { second.Measured.Stale = 4 }, true},
		"more, so that some came twice":  {func(_, second *trial) { second.Measured.Stale = 6 }, true},
		"some may have been sent again":  {func(first, second *trial) { first.Measured.Resent, second.Measured.Stale = 1, 5 }, true},
		"others came twice":              {func(_, second *trial) { second.Warmup.Duplicated, second.Measured.Stale = 1, 5 }, true},
		"others came corrupted":          {func(first, second *trial) { first.Measured.Corrupted, second.Measured.Stale = 1, 5 }, true},
		"nothing came, which stays lost": {func(_, _ *trial) {}, true},
	} {
		spec := study.Defaults()
		spec.Delivery = "at-least-once"
		b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: spec, record: &store.Record{}}
		s := &rateSearch{bench: b, goals: goals(spec), tried: map[float64]attempts{}}
		first, second := atLatency(time.Millisecond), atLatency(time.Millisecond)
		first.Measured.Received, first.Measured.Lost, first.Measured.LostAcked = 19_995, 5, 5
		c.edit(&first, &second)
		second.previous = first.Outcome
		r := search.Request{Kind: search.Confirm, Rate: 1000, For: s.goals[0].FinalDuration}
		if a := s.judge(r, first); !a.Judgements[0].Broken || a.CameLate {
			t.Fatalf("%s: the first: %+v", name, a)
		}
		if a := s.judge(r, second); a.CameLate == c.broken || s.trials[0].Broken != c.broken {
			t.Errorf("%s: %+v, and of the first: %+v", name, a, s.trials[0])
		}
	}
}
