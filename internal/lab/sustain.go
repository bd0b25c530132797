package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// hunt is one search for sustainable rates, with the trials worth keeping.
type hunt struct {
	bench  *bench
	goals  []search.Goal
	trials []store.Trial
	about  float64       // the generator has as many threads in all trials as this rate needs
	warmup time.Duration // the least that a trial's warm-up needs, by the latency of earlier trials
	enough func() bool   // whether probes have used their part of the budget

	// By rate, for the first goal.
	passed    map[float64]*trial // the last trial of full length that passed
	failed    map[float64]*trial // the last trial that failed
	generator map[float64]bool   // whether a trial was void because of the generator
	why       string             // the last trial that didn't pass
}

// sustainable searches for the highest sustainable rates and fills the result from a trial that confirmed the first one.
func (b *bench) sustainable(ctx context.Context) (float64, error) {
	h := &hunt{
		bench: b, goals: goals(b.spec), passed: map[float64]*trial{}, failed: map[float64]*trial{}, generator: map[float64]bool{},
	}
	found, err := h.search(ctx)
	b.record.Result = &store.Result{}
	first := found.Goals[0]
	best := h.passed[first.Low]
	if best != nil {
		b.fill(*best)
		b.record.Result.OfferedRate = best.Rate
	}
	limit := h.limit(first)
	b.record.Result.Sustainable = &store.Sustainable{
		Low: first.Low, High: first.High, Goals: answers(b.spec, found.Goals), Trials: h.trials, Limit: limit,
	}
	switch {
	case err != nil:
		return 0, err
	case first.Low == 0 && first.Void != "":
		return 0, void("no rate could be confirmed: void %s", first.Void)
	case first.Low == 0:
		return 0, failed("%s", strings.TrimSuffix(first.Undecided+": "+h.why, ": "))
	}
	for i, g := range found.Goals {
		if g.Undecided != "" {
			b.doubt("incomplete-search", "%s%s", goalPrefix(h.goals[i], len(h.goals)), g.Undecided)
		}
	}
	if limit == "generator" {
		b.doubt("generator-bound", "at least this: the generator or its client, not the broker, ran out first")
	}
	b.horizon(*best)
	b.lab.remember(b.record, first)
	return first.Low, b.judge(*best, best.Rate)
}

// goalPrefix begins a sentence about one of several goals.
func goalPrefix(g search.Goal, goals int) string {
	switch {
	case goals == 1:
		return ""
	case g.Latency == 0:
		return "without a latency bound: "
	}
	return fmt.Sprintf("latency of at most %s at p%g: ", g.Latency, 100*g.Quantile)
}

func answers(s study.Spec, found []search.Bounds) []store.GoalResult {
	var out []store.GoalResult
	for i, g := range s.Sustainable.Bounds() {
		b := found[i]
		out = append(out, store.GoalResult{
			LatencyNs: int64(g.Latency), Quantile: g.Quantile, Low: b.Low, High: b.High, Conditional: b.Conditional, Undecided: b.Undecided,
		})
	}
	return out
}

func (h *hunt) search(ctx context.Context) (search.Result, error) {
	asked := h.bench.spec.Sustainable
	p := search.Plan{
		Goals: h.goals, Short: time.Duration(asked.Trial), MaxTrials: asked.MaxTrials, Budget: time.Duration(asked.Budget),
		MaxRate: asked.MaxRate, Floor: 1,
	}
	var err error
	if p.Begin, p.Near, err = h.begin(ctx); err != nil {
		return search.Result{Goals: make([]search.Bounds, len(h.goals))}, err
	}
	h.about = p.Begin
	p.Floor = max(p.Floor, p.Begin/tooLow)
	return search.Run(ctx, p, h.run)
}

// tooLow is how many times less than where it begins a search gives up.
const tooLow = 1000

// run runs one trial of the search.
func (h *hunt) run(ctx context.Context, r search.Request) (search.Answer, error) {
	s, err := h.bench.arrivals(r.Rate)
	if err != nil {
		return search.Answer{}, err
	}
	load := h.load(r.For)
	load.Schedule, load.About = s, h.about
	limit := rule(h.bench.spec).AllowedGrowth(r.Rate, h.bench.spec.SubscriptionsPerTopic)
	load.Hopeless = func(samples []worker.Sample) bool {
		if r.For > time.Minute && len(samples)%50 != 0 { // there are thousands to look at, and time enough
			return false
		}
		last := samples[len(samples)-1]
		return search.Hopeless(backlogOf(last.At-int64(r.For), last.At, samples), limit, r.For)
	}
	began := clock.Now()
	t := h.bench.runTrial(ctx, h.stage(r.Kind), r.Rate, load)
	if t.Err != nil {
		return search.Answer{}, t.Err
	}
	a := h.judge(r, t)
	a.Took = time.Duration(clock.Now() - began)
	return a, nil
}

// arrivals is the schedule of a steady load, for searches and curves.
func (b *bench) arrivals(rate float64) (schedule.Schedule, error) {
	return loadSchedule(study.Load{Shape: b.spec.Load.Shape, Rate: rate}, 0, b.spec.Seed)
}

func (h *hunt) stage(k search.Kind) string { return fmt.Sprintf("trial %d: %s", len(h.trials)+1, k) }

// settle bounds how long the leftovers of an overloaded trial are waited for, lest they burden the next.
const settle = 30 * time.Second

// longestWarmup bounds a warm-up that is lengthened because of the latency.
const longestWarmup = 10 * time.Second

// load is what all trials of a search have in common. The broker's own latency is no reason to fail: until the first
// deliveries have come the backlog grows, which is left to the warm-up, and the tail may take as long as the spec's drain.
func (h *hunt) load(length time.Duration) worker.Load {
	return worker.Load{
		Warmup: worker.Warmup{For: max(time.Duration(h.bench.spec.Sustainable.Warmup), min(h.warmup, longestWarmup))}, Duration: length,
		Drain: time.Duration(h.bench.spec.Drain), Settle: settle, Brisk: true,
	}
}

func (h *hunt) judge(r search.Request, t trial) search.Answer {
	b := h.bench
	e := b.evidence(t, r.Rate, r.Kind != search.Short)
	var a search.Answer
	for _, g := range h.goals {
		a.Judgements = append(a.Judgements, t.undisturbed(rule(b.spec).Judge(e, g), float64(b.lab.host.Cores)))
	}
	a.Served, a.Through = e.Served(), h.bench.throughput(t)
	if rule(b.spec).Saturated(e).Text != "" {
		h.generator[r.Rate] = true
		if t.Procs < b.lab.host.Cores && e.GeneratorCPU > 0.9*e.GeneratorCores {
			h.about = maxRate // one thread was too few for this search; from now on it has all of them
		}
	}
	h.keep(r, t, a, e)
	return a
}

// undisturbed makes a failure void where other processes used many cores: a broker that they hold up looks like one at its
// limit, so the rate is tried again. A broken promise stays a failure.
func (t trial) undisturbed(l search.Judgement, cores float64) search.Judgement {
	if l.Verdict != search.Fail || l.Broken || t.others() <= busyShare*cores {
		return l
	}
	return search.Judgement{Verdict: search.Void, Reason: t.neighbours(cores).Text + ", and " + l.Reason}
}

// maxRate is more than any generator sends.
const maxRate = 1e12

// keep adds a trial to the record's list, and keeps the trial itself where the record may be filled from it.
func (h *hunt) keep(r search.Request, t trial, a search.Answer, e search.Evidence) {
	first := a.Judgements[0]
	kept := h.stored(r.Kind, t)
	kept.Rate, kept.Verdict, kept.Reason = r.Rate, string(first.Verdict), first.Reason
	for _, l := range a.Judgements[1:] {
		kept.Others = append(kept.Others, string(l.Verdict))
	}
	if g := search.GrowthOf(e.Backlog); g.Known() {
		kept.BacklogSlope = g.AtMost(0.95)
	}
	h.trials = append(h.trials, kept)
	switch {
	case first.Verdict == search.Pass:
		if r.For >= h.goals[0].Final {
			h.passed[r.Rate] = &t
		}
		h.sawLatency(t)
	case first.Verdict == search.Fail:
		h.failed[r.Rate], h.why = &t, first.Reason
	default:
		h.why = first.Reason
	}
}

func (h *hunt) stored(k search.Kind, t trial) store.Trial {
	seconds := max(1e-9, float64(t.Until-t.From)/1e9)
	published, received := t.rates(seconds)
	return store.Trial{
		Kind: string(k), Verdict: string(search.Pass), PublishRate: published, ReceiveRate: received,
		EndToEndP50: t.Histograms.EndToEnd.Quantile(0.5), EndToEndP99: t.Histograms.EndToEnd.Quantile(0.99),
		Seconds: seconds,
	}
}

// sawLatency makes the next warm-ups last twice the latency at p99: by then messages are delivered as fast as they are sent.
func (h *hunt) sawLatency(t trial) {
	latency := t.Histograms.EndToEnd
	if h.bench.spec.SubscriptionsPerTopic == 0 {
		latency = t.Histograms.Publish
	}
	h.warmup = 2 * time.Duration(latency.Quantile(0.99))
}

// throughput is what came through while the trial was sending, per second: the slower of confirming and receiving.
func (b *bench) throughput(t trial) float64 {
	acked, received, ok := t.flow()
	if !ok {
		return 0
	}
	if subs := float64(b.spec.SubscriptionsPerTopic); subs > 0 {
		return min(acked, received/subs)
	}
	return acked
}

// limit names what ran out above the rate that was found.
func (h *hunt) limit(found search.Bounds) string {
	if found.Void != "" {
		for rate := range h.generator {
			if rate > found.Low && (found.High == 0 || rate < found.High) {
				return "generator"
			}
		}
	}
	t := h.failed[found.High]
	if t == nil {
		return "unknown"
	}
	cores := float64(h.bench.lab.host.Cores)
	window := t.sendingTime()
	goal := h.goals[0]
	switch {
	case goal.Latency > 0 && t.Histograms.EndToEnd.Quantile(goal.Quantile) > int64(goal.Latency):
		return "latency"
	case t.Working > busyConsumers:
		return "consumer-delay"
	case t.brokerCPU()+t.generatorCPU() > 0.9*cores:
		return "cpu"
	case t.Blocked.Seconds() > 0.5*window:
		return "client-window"
	case t.Sending.Seconds() > 0.8*window:
		return "generator"
	}
	return "unknown"
}
