package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/testkit"
)

// effort is what many searches took, and what they found.
type effort struct {
	trials, seconds, found []float64 // of each search; found is the lower bound over the truth
	kinds                  map[string]*trialsOf
	open                   int // searches that did not answer
}

// trialsOf counts the trials of one kind and their seconds, warm-ups and drains included.
type trialsOf struct{ count, seconds float64 }

func quantile(of []float64, q float64) float64 {
	return slices.Sorted(slices.Values(of))[int(q*float64(len(of)-1))]
}

func (e *effort) String() string {
	out := fmt.Sprintf(
		"median %2.0f, p90 %2.0f trials; median %3.0f, p90 %3.0f s; found %.3f, %.3f, %.3f of the truth (1, 50, 99 %%); %d open; each",
		quantile(e.trials, 0.5), quantile(e.trials, 0.9), quantile(e.seconds, 0.5), quantile(e.seconds, 0.9),
		quantile(e.found, 0.01), quantile(e.found, 0.5), quantile(e.found, 0.99), e.open,
	)
	for _, kind := range []string{"short", "long pass", "long fail", "long void"} {
		if k := e.kinds[kind]; k != nil {
			n := float64(len(e.trials))
			out += fmt.Sprintf(", %.1f %s in %.0f s", k.count/n, kind, k.seconds/n)
		}
	}
	return out
}

// add adds a search that ended.
func (e *effort) add(r Result, took time.Duration, truth float64) {
	b := r.Goals[0]
	e.trials, e.seconds, e.found = append(e.trials, float64(r.Trials)), append(e.seconds, took.Seconds()), append(e.found, b.Low/truth)
	if b.Undecided.Text != "" {
		e.open++
	}
}

// addTrial adds a trial of a search.
func (e *effort) addTrial(r Request, a Answer) {
	kind := string(r.Kind)
	if r.Kind != Short {
		kind = "long " + string(a.Judgements[0].Verdict)
	}
	if e.kinds == nil {
		e.kinds = map[string]*trialsOf{}
	}
	if e.kinds[kind] == nil {
		e.kinds[kind] = &trialsOf{}
	}
	e.kinds[kind].count++
	e.kinds[kind].seconds += a.Took.Seconds()
}

// disturbed runs the model with another capacity in each trial, and with void trials.
func disturbed(q *queue, goals []Goal) func(context.Context, Request) (Answer, error) {
	mean, undisturbed := q.capacity, q.answer(goals)
	return func(ctx context.Context, r Request) (Answer, error) {
		q.capacity = mean * math.Exp(q.unsteady*q.rng.NormFloat64())
		a, err := undisturbed(ctx, r)
		if q.rng.Float64() < q.voids {
			a.Judgements[0] = Judgement{Verdict: Void, Reason: remark.Of("others")}
		}
		return a, err
	}
}

// The log shows what the searches of each kind of broker take, and what they find.
func TestSearchesOfBrokersOfAllKindsTakeFewTrials(t *testing.T) {
	testkit.Long(t)
	const searches = 60
	var all effort
	for _, kind := range []struct {
		name string
		make func(*queue) (truth float64)
	}{
		{"steady", func(q *queue) float64 { return q.capacity }},
		{"stalls of 30 ms", func(q *queue) float64 { q.stall = 30 * time.Millisecond; return 0.97 * q.capacity }},
		{"hiccups of 250 ms", func(q *queue) float64 { q.hiccups = 0.1; return 0.975 * q.capacity }},
		{"warms up", func(q *queue) float64 {
			q.cold, q.warms, q.hiccups = 0.2+0.2*q.rng.Float64(), time.Duration(5+25*q.rng.Float64())*time.Second, 0.04
			return 0.99 * q.capacity
		}},
		{"wanders", func(q *queue) float64 { q.wanders, q.hiccups = 0.08*q.rng.Float64(), 0.04; return 0.99 * q.capacity }},
		{"unsteady", func(q *queue) float64 { q.unsteady = 0.05; return q.capacity }},
		{"quota over 10 s", func(q *queue) float64 {
			q.quota = q.capacity
			q.capacity *= 2 + 10*q.rng.Float64()
			return q.quota
		}},
		{"bucket of tokens", func(q *queue) float64 { // a burst of half a second to 5.5 s of the rate
			q.fill, q.bucket = q.capacity, q.capacity*(0.5+5*q.rng.Float64())
			q.tokens = q.bucket
			q.capacity *= 1.2 + 3*q.rng.Float64()
			return q.fill
		}},
		{"collapses", func(q *queue) float64 { q.collapses = 0.3; return q.capacity }},
		{"often void", func(q *queue) float64 { q.voids = 0.25; return q.capacity }},
	} {
		rng := rand.New(rand.NewPCG(41, 43))
		var e effort
		for range searches {
			q := &queue{
				capacity: 500 * math.Pow(2000, rng.Float64()), latency: time.Duration(rng.Float64() * 1e7), subscriptions: 1, rng: rng,
				noise: 0.005 * rng.Float64(),
			}
			truth, p := kind.make(q), planFor(held(0))
			p.Begin = q.capacity * math.Exp(0.6*(rng.Float64()-0.7))
			answer := disturbed(q, p.Goals)
			r, err := Run(t.Context(), p, func(ctx context.Context, r Request) (Answer, error) {
				a, err := answer(ctx, r)
				e.addTrial(r, a)
				all.addTrial(r, a)
				return a, err
			})
			if err != nil {
				t.Fatal(err)
			}
			e.add(r, q.took, truth)
			all.add(r, q.took, truth)
		}
		t.Logf("%-18s %s", kind.name, &e)
		if m := quantile(e.found, 0.5); m < 0.955 || m > 1.03 {
			t.Errorf("%s: the median search finds %.3f of the truth", kind.name, m)
		}
	}
	t.Logf("%-18s %s", "all", &all)
	if m, p90 := quantile(all.seconds, 0.5), quantile(all.seconds, 0.9); m > 70 || p90 > 200 || all.open > len(all.trials)/50 {
		t.Errorf("the median search takes %.0f s, one in ten more than %.0f s, and %d don't answer", m, p90, all.open)
	}
}
