package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// hunt is one search for the sustainable rate, with the trials worth keeping.
type hunt struct {
	bench  *bench
	trials []store.Trial
	best   *trial // the last confirming trial that passed, or the best short one
	failed *trial // the last trial that failed
	why    string // its reason
	void   bool   // it was the generator's fault
}

// sustainable searches for the highest sustainable rate and fills the result from the trial that confirmed it.
func (b *bench) sustainable(ctx context.Context) (float64, error) {
	goal := b.spec.Sustainable
	h := &hunt{bench: b}
	found, err := search.Sustainable(ctx, search.Goal{
		Width: goal.Width, Confirms: goal.Confirms, MaxTrials: goal.MaxTrials, MaxRate: goal.MaxRate, Floor: 1,
	}, h.run)
	if h.best != nil {
		b.fill(*h.best)
		b.record.Result.OfferedRate = h.best.Rate
	} else {
		b.record.Result = &store.Result{}
	}
	b.record.Result.Sustainable = &store.Sustainable{Low: found.Low, High: found.High, Trials: h.trials, Limit: h.limit()}
	switch {
	case err != nil:
		return 0, err
	case found.Low == 0 && h.void:
		return 0, voidError{"no rate could be confirmed: " + h.why}
	case found.Low == 0:
		return 0, failed("%s: %s", found.Incomplete, h.why)
	case found.Incomplete != "":
		b.doubt("incomplete-search", "%s", found.Incomplete)
	}
	if h.limit() == "generator" {
		b.doubt("generator-bound", "at least this: the generator or its client, not the broker, ran out first")
	}
	return found.Low, b.judge(*h.best, h.best.Rate)
}

// run runs one trial of the search.
func (h *hunt) run(ctx context.Context, r search.Request) (search.Answer, error) {
	goal := h.bench.spec.Sustainable
	load := worker.Load{
		Warmup: worker.Warmup{For: time.Duration(goal.Warmup)}, Duration: time.Duration(goal.Trial),
		Drain: h.allowance(), Settle: settle,
	}
	if r.Kind == search.Probe {
		return h.probe(ctx, load)
	}
	if r.Kind == search.Confirm {
		load.Duration = time.Duration(goal.Confirm)
	}
	stage := fmt.Sprintf("trial %d: %s", len(h.trials)+1, r.Kind)
	if r.Rate > 0 {
		s, err := schedule.Constant(r.Rate)
		if err != nil {
			return search.Answer{}, err
		}
		load.Schedule = s
	}
	t := h.bench.runTrial(ctx, stage, r.Rate, load)
	if t.Err != nil {
		return search.Answer{}, t.Err
	}
	return h.judge(r, load, t), nil
}

// settle bounds how long the leftovers of an overloaded trial are waited for, lest they burden the next.
const settle = 30 * time.Second

// probeWarmup is how many times a trial's warm-up the first probe warms up, since everything is still cold.
const probeWarmup = 5

// probe finds where to begin: closed loops with windows of 32, 256, 2,048 … messages, until eight times the window
// no longer brings four times the rate. A window much larger than the broker can use would only fill its queues,
// which then take long to empty.
func (h *hunt) probe(ctx context.Context, load worker.Load) (search.Answer, error) {
	var last float64
	load.Warmup = worker.Warmup{For: probeWarmup * time.Duration(h.bench.spec.Sustainable.Warmup)}
	load.Duration = min(load.Duration, 500*time.Millisecond)
	for window := 32; ; window *= 8 {
		load.Window = window
		t := h.bench.runTrial(ctx, fmt.Sprintf("trial %d: probe", len(h.trials)+1), 0, load)
		if t.Err != nil {
			return search.Answer{}, t.Err
		}
		a := h.judge(search.Request{Kind: search.Probe}, load, t)
		if a.Throughput < 4*last || window >= h.bench.spec.InFlight.Messages {
			a.Throughput = max(a.Throughput, last)
			return a, nil
		}
		last = a.Throughput
		load.Warmup = worker.Warmup{For: 100 * time.Millisecond}
	}
}

// allowance is how long a trial's messages may take to drain: what a passing trial needs is a matter of latency, so
// a second is generous, and an overloaded one shouldn't be waited for.
func (h *hunt) allowance() time.Duration {
	return min(time.Duration(h.bench.spec.Drain), max(time.Second, 2*time.Duration(h.bench.spec.Sustainable.Latency)))
}

func (h *hunt) judge(r search.Request, load worker.Load, t trial) search.Answer {
	e := h.bench.evidence(t, r.Rate, r.Kind == search.Confirm)
	verdict, why := search.Pass, ""
	if r.Kind != search.Probe {
		e.Offered = due(load.Schedule, t)
		verdict, why = rule(h.bench.spec).Judge(e)
		h.void = verdict == search.Void
		if others, cores := t.others(), float64(h.bench.lab.host.Cores); verdict == search.Fail && others > busyShare*cores {
			// Somebody else's work looks like a broker at its limit: look again.
			verdict, why = search.Void, fmt.Sprintf("other processes used %.1f of %.0f cores, and %s", others, cores, why)
		}
	}
	seconds := max(1e-9, float64(t.Until-t.From)/1e9)
	through := h.throughput(t, seconds)
	_, slope := search.Slope(e.Backlog)
	published, received := t.rates(seconds)
	kept := store.Trial{
		Kind: string(r.Kind), Rate: r.Rate, Verdict: string(verdict), Reason: why,
		PublishRate: published, ReceiveRate: received,
		EndToEndP50: t.Histograms.EndToEnd.Quantile(0.5), EndToEndP99: t.Histograms.EndToEnd.Quantile(0.99),
		Seconds: seconds,
	}
	if len(e.Backlog) >= 3 {
		kept.BacklogSlope = slope
	}
	h.trials = append(h.trials, kept)
	switch {
	case r.Kind == search.Probe:
	case verdict == search.Pass && (r.Kind == search.Confirm || h.best == nil || r.Rate > h.best.Rate):
		h.best = &t
	case verdict != search.Pass:
		h.failed, h.why = &t, why
	}
	return search.Answer{Verdict: verdict, Reason: why, Throughput: through}
}

// throughput is what came through while the trial was sending, per second: the slower of confirming and receiving.
func (h *hunt) throughput(t trial, seconds float64) float64 {
	acked, received, ok := t.flow()
	if !ok {
		return float64(t.Measured.Acked) / seconds
	}
	if subs := float64(h.bench.spec.SubscriptionsPerTopic); subs > 0 {
		return min(acked, received/subs)
	}
	return acked
}

// limit names what ran out in the last trial that failed.
func (h *hunt) limit() string {
	if h.failed == nil {
		return "unknown"
	}
	t := h.failed
	cores := float64(h.bench.lab.host.Cores)
	window := t.Window.Seconds() * float64(max(1, t.Producers))
	goal := h.bench.spec.Sustainable
	switch {
	case h.void:
		return "generator"
	case goal.Latency > 0 && t.Histograms.EndToEnd.Quantile(goal.Quantile) > int64(goal.Latency):
		return "latency"
	case t.brokerCPU()+t.generatorCPU() > 0.9*cores:
		return "cpu"
	case t.Blocked.Seconds() > 0.5*window:
		return "client-window"
	case t.Sending.Seconds() > 0.8*window:
		return "generator"
	}
	return "unknown"
}
