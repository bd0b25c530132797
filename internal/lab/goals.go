package lab

import (
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// Package search knows neither specs nor trials. This file puts both in its terms: a spec's questions as goals and a rule, and what was
// observed in a trial as evidence.

// rule returns the rule by which trials of a spec are judged.
func rule(s study.Spec) search.Rule {
	return search.DefaultRule(store.Guarantee(s))
}

// goals returns the questions of a spec's search, one for each latency bound; at least one.
func goals(s study.Spec) []search.Goal {
	asked := s.Sustainable
	final := time.Duration(asked.Confirm)
	g := search.Goal{
		ExceedRatio: asked.Exceed, FinalDuration: final, Width: asked.Width, Soak: time.Duration(asked.Soak),
		// This sum makes a rate a lower bound after as many good long trials as the spec asks for (search.Goal.Class).
		DurationSum: time.Duration(math.Floor(float64(asked.Confirms) * float64(final) / (1 - asked.Exceed))),
	}
	if s.Delivery == "at-most-once" {
		g.LossRatio = 0.001 // docs/method.md
	}
	var out []search.Goal
	for _, b := range asked.Bounds() {
		g.Latency, g.Quantile = time.Duration(b.Latency), b.Quantile
		out = append(out, g)
	}
	return out
}

// evidence describes a trial to the rule. The books include the warm-up: a promise may be broken there as well, and messages
// that the warm-up lost never drain.
func (b *bench) evidence(t trial, rate float64, fullLength bool) search.Evidence {
	books := t.Measured
	books.Due = max(books.Due, books.Sent)
	warmup := t.Warmup
	warmup.Due = max(warmup.Due, warmup.Sent)
	books.Add(warmup)
	e := search.Evidence{
		Rate: rate, Subscriptions: b.spec.SubscriptionsPerTopic, FullLength: fullLength, Hopeless: t.Hopeless,
		Drained: t.Drained, StillArriving: t.Arriving, ClockBound: time.Duration(t.ClockBound), Impossible: !t.Early.Possible(t.ClockBound),
		Books: books, Generator: t.generatorUse(b.lab.host.Cores), Backlog: backlogOf(t.From, t.Until, t.Samples),
	}
	if latency := b.latency(t); latency.Count() > 0 {
		e.Latency = latency.Quantile
	}
	return e
}

// backlogOf reads the backlog from samples of the measured phase, by time. Samples of the warm-up and those taken outside
// [from, until] are left out.
func backlogOf(from, until int64, samples []worker.Sample) []search.Point {
	var points []search.Point
	for _, s := range samples {
		if s.At >= from && s.At <= until && s.Phase == measure.Measured {
			points = append(points, search.Point{Seconds: float64(s.At-from) / 1e9, Backlog: float64(s.Backlog)})
		}
	}
	return points
}
