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

// Package search knows neither specs nor trials. This file translates for it: what a spec asks becomes goals and a rule, and what a
// trial showed becomes evidence. For example, "sustainable: {latency: 50ms, confirm: 10s}" becomes a goal with a Latency of 50 ms and a
// FinalDuration of 10 s, and a trial in which 3 of 9,000 messages were lost becomes evidence that says so.

// rule returns the rule by which trials of a spec are judged.
func rule(s study.Spec) search.Rule {
	return search.DefaultRule(store.Guarantee(s))
}

// mostLost is the share of messages that may be lost at a sustainable rate if delivery is at most once, and of sends that may fail in
// other measurements: a client may lose single messages when it reconnects.
const mostLost = 0.001

// goals returns the questions of a spec's search, one for each latency bound; at least one. For example, the bounds 5 ms and 50 ms at
// p99 ask for the highest rates at which the p99 stays below each.
func goals(s study.Spec) []search.Goal {
	asked := s.Sustainable
	final, lossRatio := time.Duration(asked.Confirm), 0.0
	if s.Delivery == "at-most-once" {
		lossRatio = mostLost
	}
	// A rate is sustained if trials that last durationSum together were good, but for the share Exceed of that time, which may be bad. So
	// with 2 Confirms of 10 s and an Exceed of 0.34, the sum is 30.3 s: its good share of 66 % is 20 s, two long trials.
	// The study allows an Exceed of 0.5 at most.
	durationSum := time.Duration(math.Floor(float64(asked.Confirms) * float64(final) / (1 - asked.Exceed)))
	var list []search.Goal
	for _, bound := range asked.Bounds() {
		list = append(list, search.Goal{
			Latency: time.Duration(bound.Latency), Quantile: bound.Quantile, LossRatio: lossRatio, ExceedRatio: asked.Exceed,
			FinalDuration: final, DurationSum: durationSum, Width: asked.Width, Soak: time.Duration(asked.Soak),
		})
	}
	return list
}

// evidence describes a trial to the rule, as one of full length; searches have short ones as well. rate is the offered rate. The books
// include the warm-up: a promise may be broken there as well, and messages that the warm-up lost never drain.
func (b *bench) evidence(t trial, rate float64) search.Evidence {
	books, warmup := t.Measured, t.Warmup
	books.Due = max(books.Due, books.Sent) // what was sent was due
	warmup.Due = max(warmup.Due, warmup.Sent)
	books.Add(warmup)
	e := search.Evidence{
		Rate: rate, Subscriptions: b.spec.SubscriptionsPerTopic, FullLength: true, Hopeless: t.Hopeless,
		Drained: t.Drained, StillArriving: t.Arriving, Drain: time.Duration(b.spec.Drain), Overdue: t.Overdue,
		Faults: b.spec.BrokerFaults(), Silent: len(b.spec.Faults) > 0, Scheduled: t.Scheduled, Err: t.Err, BrokeOff: brokeOff(t), SendErr: t.SendErr,
		ClockBound: time.Duration(t.ClockBound),
		Books:      books, Generator: t.generatorUse(b.lab.machine.Cores), Backlog: backlogOf(t.From, t.Until, t.Samples),
	}
	if through, due, behind := b.cameThrough(t); behind {
		e.Missed = cameThroughText(through, due)
	}
	if b.coresInUseHere(t) > usedUpShare*float64(b.lab.machine.Cores) { // then it is the cores that were missing
		e.Generator.Busiest = ""
	}
	e.Generator.DropsAt = b.dropsAt()
	if !t.Early.Possible(t.ClockBound) {
		e.Early = time.Duration(t.Early.By)
	}
	if latency := b.latency(t); latency.Count() > 0 {
		e.Latency = func(q float64) (least, most int64) { return latency.Quantile(q), latency.QuantileAtMost(q) }
		e.WithoutGenerator = b.latencyWithoutOwn(t)
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
