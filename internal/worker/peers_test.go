package worker

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/testkit"
)

// sharing is several workers that share streams, and what a fleet passes between them.
type sharing struct {
	workers []*Worker
	bases   []uint64 // of the next trial's messages, by producer
	mu      sync.Mutex
	counts  map[int]measure.Count // of those that have sent everything
}

// share prepares workers with parts of plan. Worker i has the producers and consumers with the numbers in producers[i] and consumers[i], and
// a driver of its own, as on another host.
func share(t *testing.T, client map[string]any, plan Plan, producers, consumers [][]int) *sharing {
	t.Helper()
	s := &sharing{workers: make([]*Worker, len(producers)), bases: make([]uint64, len(plan.Producers))}
	probes := make([]*Probes, len(producers))
	for i := range probes {
		probes[i] = NewProbes(len(plan.Producers), len(plan.Topology.Subscriptions))
		probes[i].OnSeen = func(producer, subscription int) {
			for k, other := range probes {
				if k != i {
					other.Seen(producer, subscription)
				}
			}
		}
	}
	var preparing sync.WaitGroup
	for i := range producers {
		part := plan
		part.Producers, part.Consumers, part.Peers = nil, nil, &Peers{Producers: len(plan.Producers)}
		if plan.Part != nil { // else each worker sends a whole schedule
			part.Part = &Part{Clients: producers[i], Whole: plan.Part.Whole}
		}
		for _, k := range producers[i] {
			part.Producers = append(part.Producers, plan.Producers[k])
		}
		for _, k := range consumers[i] {
			part.Consumers = append(part.Consumers, plan.Consumers[k])
		}
		d := open(t, client)
		preparing.Go(func() {
			w, err := PrepareShared(t.Context(), d, part, probes[i])
			if err != nil {
				t.Errorf("worker %d: %v", i, err)
				return
			}
			s.workers[i] = w
			t.Cleanup(func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	preparing.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return s
}

// run runs one trial on all workers and joins their counts.
func (s *sharing) run(t *testing.T, l Load) (*measure.Trial, []Outcome) {
	t.Helper()
	s.counts = map[int]measure.Count{}
	l.Start = clock.Now() + int64(500*time.Millisecond) // by then every consumer listens, however busy the machine is
	outs := make([]Outcome, len(s.workers))
	var running sync.WaitGroup
	for i, w := range s.workers {
		own := l
		if len(w.plan.Producers) == 0 { // no message is due of it
			own.Schedule = nil
		}
		for k, other := range s.workers {
			if k != i {
				e := PeerProducers{From: l.Start + int64(l.Warmup.For)}
				for _, p := range other.plan.Producers {
					e.Producers = append(e.Producers, FirstMessage{p.ID, s.bases[p.ID]})
				}
				own.Peers = append(own.Peers, e)
			}
		}
		own.CountAll = func(c measure.Count) (all measure.Count, sending bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.counts[i] = c
			for _, one := range s.counts {
				all = all.Plus(one)
			}
			return all, len(s.counts) < len(s.workers)
		}
		running.Go(func() {
			outs[i] = w.Run(t.Context(), own)
			s.mu.Lock()
			defer s.mu.Unlock()
			if _, counted := s.counts[i]; !counted { // it missed the start, and the others must not wait for it
				s.counts[i] = measure.Count{}
			}
		})
	}
	running.Wait()
	var parts []measure.Part
	for i, o := range outs {
		if errors.Is(o.Err, ErrLate) {
			testkit.Undecided(t, "the machine stood still for half a second: %v", o.Err)
		}
		if o.Err != nil || !o.Drained && !l.Lossy || o.Shard == nil {
			t.Fatalf("worker %d: drained %v, shard %v: %v; of all: %+v", i, o.Drained, o.Shard != nil, o.Err, s.counts)
		}
		for _, sent := range o.Shard.Sent {
			s.bases[sent.Producer] = sent.Base + sent.End
		}
		parts = append(parts, measure.Part{Shard: *o.Shard})
	}
	plan := s.workers[0].plan
	joined, err := measure.Join(measure.Shape{Producers: plan.Peers.Producers, Subscriptions: len(plan.Topology.Subscriptions)}, 1<<20, parts)
	if err != nil {
		t.Fatal(err)
	}
	return joined, outs
}

func TestConsumersKnowTheMessagesOfOtherWorkersProducers(t *testing.T) {
	for name, c := range map[string]struct {
		producers, consumers [][]int
		trials               int
		closed               bool // a closed loop
	}{
		"producers here, consumers there": {producers: [][]int{{0, 1, 2}, {}}, consumers: [][]int{{}, {0, 1}}, trials: 1},
		"some of each":                    {producers: [][]int{{2}, {0, 1}}, consumers: [][]int{{1}, {0}}, trials: 2},
		"some of each, closed loop":       {producers: [][]int{{2}, {0, 1}}, consumers: [][]int{{1}, {0}}, trials: 2, closed: true},
		"four workers":                    {producers: [][]int{{1}, {}, {0}, {2}}, consumers: [][]int{{}, {0}, {1}, {}}, trials: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { goleak.VerifyNone(t) })
			s := share(t, nil, simple(3, 2), c.producers, c.consumers)
			l := Load{Schedule: constant(t, 3000), Warmup: Warmup{For: 100 * time.Millisecond}, Duration: 300 * time.Millisecond, Drain: 5 * time.Second}
			if c.closed {
				l.Schedule, l.Window = nil, 3
			}
			for range c.trials { // the second trial must not count messages of the first
				joined, outs := s.run(t, l)
				for _, phase := range []measure.Phase{measure.Warmup, measure.Measured} {
					b := joined.Books(phase)
					late := c.closed && phase == measure.Warmup // nothing is due, so on a busy machine the loop may begin after the warm-up
					if b.Sent == 0 && !late || b.Received != 2*b.Sent || b.Lost+b.Duplicated+b.Reordered+b.Corrupted+b.Stale+b.Untimed != 0 || !b.Balanced() {
						t.Errorf("phase %d: %+v", phase, b)
					}
					if h := joined.Histograms(phase); h.EndToEnd.Count() != b.Received || h.Publish.Count() != b.Sent {
						t.Errorf("phase %d: %d latencies of %d deliveries", phase, h.EndToEnd.Count(), b.Received)
					}
				}
				if joined.Unordered() != 0 || joined.Missing() != 0 {
					t.Errorf("%d ledgers without a known order, %d messages missing", joined.Unordered(), joined.Missing())
				}
				for i, o := range outs {
					if o.Early != (measure.Early{}) || o.Measured.Corrupted+o.Warmup.Corrupted != 0 {
						t.Errorf("worker %d: %+v, %+v", i, o.Early, o.Measured)
					}
				}
			}
		})
	}
}

// The broker loses, duplicates or reorders one message of 100 between a producer and a consumer of different workers.
func TestFaultsAreTheSameBetweenWorkers(t *testing.T) {
	const messages = 20_000
	for name, c := range map[string]struct {
		client map[string]any
		want   measure.Books
	}{
		"loss":       {map[string]any{"loss.every": 100}, measure.Books{Lost: 200, LostAcked: 200}},
		"duplicates": {map[string]any{"duplicate.every": 100}, measure.Books{Duplicated: 200}},
		"reorders":   {map[string]any{"reorder.every": 100}, measure.Books{Reordered: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			s := share(t, c.client, simple(1, 1), [][]int{{0}, {}}, [][]int{{}, {0}})
			l := Load{Messages: messages, Drain: 2 * time.Second, Lossy: true}
			joined, _ := s.run(t, l)
			b := joined.Books(measure.Measured)
			b.Add(joined.Books(measure.Warmup))
			if got := (measure.Books{Lost: b.Lost, LostAcked: b.LostAcked, Duplicated: b.Duplicated, Reordered: b.Reordered}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if b.Sent != messages || b.Received != messages-b.Lost || b.Stale+b.Untimed+b.Corrupted != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

func TestPlansAndLoadsThatDoNotFitSharedStreamsAreRefused(t *testing.T) {
	probes := func() *Probes { return NewProbes(2, 1) }
	for want, edit := range map[string]func(*Plan){
		"with which workers":          func(p *Plan) { p.Peers = nil },
		"a backlog":                   func(p *Plan) { p.Lagging = allLagging },
		"producer 1 is none of the 1": func(p *Plan) { p.Peers.Producers = 1 },
		"payloads of 10 bytes":        func(p *Plan) { p.Payload.Sizes[0].Bytes = 10 },
	} {
		plan := simple(2, 1)
		plan.Peers = &Peers{Producers: 2}
		edit(&plan)
		if _, err := PrepareShared(t.Context(), &script{}, plan, probes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
	plan := simple(2, 1)
	plan.Peers = &Peers{Producers: 3}
	w, err := PrepareShared(t.Context(), &script{}, plan, NewProbes(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	alone := ready(t, &script{}, simple(1, 1))
	for want, run := range map[string]func() Outcome{
		"only after the start": func() Outcome {
			return w.Run(t.Context(), Load{Messages: 1, Start: clock.Now() - 1})
		},
		"shares no streams": func() Outcome {
			return alone.Run(t.Context(), Load{Messages: 1, Drain: time.Second, Peers: []PeerProducers{{}}})
		},
		"the warm-up": func() Outcome {
			return w.Run(t.Context(), Load{Duration: 1, Warmup: Warmup{Auto: true}})
		},
		"producer 1 can't be": func() Outcome {
			return w.Run(t.Context(), Load{Duration: 1, Peers: []PeerProducers{{Producers: []FirstMessage{{Producer: 1}}}}})
		},
		"producer 3 can't be": func() Outcome {
			return w.Run(t.Context(), Load{Duration: 1, Peers: []PeerProducers{{Producers: []FirstMessage{{Producer: 3}}}}})
		},
	} {
		if out := run(); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%v; want an error with %q", out.Err, want)
		}
	}
}

func TestWhatDidNotComeToAnyOfSeveralWorkersIsCensoredAtItsIntendedTime(t *testing.T) {
	for name, before := range map[string]float64{"one schedule": 0, "a warm-up of its own": 500} {
		t.Run(name, func(t *testing.T) {
			whole := simple(3, 2) // producers, subscriptions
			plan := whole
			plan.Part = &Part{Whole: whole.deal()}
			s := share(t, map[string]any{"loss.every": 10}, plan, [][]int{{0, 2}, {1}}, [][]int{{0}, {1}})
			load := Load{
				Schedule: constant(t, 900), Warmup: Warmup{For: 300 * time.Millisecond}, Duration: time.Second, Drain: 3 * time.Second, Lossy: true,
			}
			if before > 0 {
				load.Before = constant(t, before)
			}
			_, outs := s.run(t, load)
			out := whole.Joined(load, outs, make([]clock.Line, 2))
			e2e, b := out.Histograms.EndToEnd, out.Measured
			if out.Err != nil || b.Lost == 0 || e2e.Censored() != b.Lost || e2e.Count() != b.Expected {
				t.Fatalf("%d latencies, %d of them censored; %v; the books: %+v", e2e.Count(), e2e.Censored(), out.Err, b)
			}
			// The wait ends a second after the last delivery, and the messages were intended over the second before it.
			for q, least := range map[float64]time.Duration{0.92: time.Second, 1: 1900 * time.Millisecond} {
				if got := time.Duration(e2e.Quantile(q)); got < least || got > least+1500*time.Millisecond || e2e.QuantileAtMost(q) != hist.Unbounded {
					t.Errorf("quantile %g is at least %v, want %v or a little more", q, got, least)
				}
			}
		})
	}
}
