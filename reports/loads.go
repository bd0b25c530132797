// Reports show some columns and sentences only if a condition holds for a record. The conditions stand here.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/results"
)

// anyLoad tells whether a condition holds for any record of points, or for any rate of a curve.
func anyLoad(points []results.Point, condition func(results.Record) bool) bool {
	return slices.ContainsFunc(points, func(p results.Point) bool { return slices.ContainsFunc(withRates(p.Records), condition) })
}

// withRates lists records, then each rate of their curves as a record of its own.
func withRates(records []results.Record) []results.Record {
	out := slices.Clone(records)
	for _, r := range records {
		for _, l := range results.Loads(r) {
			if l.Rate > 0 {
				out = append(out, l.Record)
			}
		}
	}
	return out
}

// measured tells whether any repetition of a point has figures.
func measured(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil })
}

// leftUnsent tells whether messages that were due were never sent.
func leftUnsent(r results.Record) bool { return r.Result != nil && r.Result.Books.Unsent > 0 }

// resent tells whether messages were sent again.
func resent(r results.Record) bool { return r.Result != nil && r.Result.Books.Resent > 0 }

// repeated tells whether a record is not the first repetition of its point.
func repeated(r results.Record) bool { return r.Repetition > 1 }

// fannedOut tells whether messages were expected by several subscriptions, or by none.
func fannedOut(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Expected != r.Result.Books.Sent
}

// faulty tells whether any message was lost, duplicated, reordered or corrupted.
func faulty(r results.Record) bool {
	return r.Result != nil && r.Result.Books.Lost+r.Result.Books.Duplicated+r.Result.Books.Reordered+r.Result.Books.Corrupted > 0
}

// orderUnknown tells whether agents' clocks do not show in which order some messages came.
func orderUnknown(r results.Record) bool {
	_, unknown := doubtText(r, results.DoubtOrderUnknown)
	return unknown
}

// flushing tells whether the broker flushed files.
func flushing(r results.Record) bool {
	return r.Result != nil && r.Result.Cost.BrokerFlushes != nil && *r.Result.Cost.BrokerFlushes > 0
}

// pausedTooLong tells whether the generator's machine stood still for long enough to cause a doubt.
func pausedTooLong(r results.Record) bool {
	return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool {
		return d.Code == results.DoubtPauses || d.Code == results.DoubtGeneratorLag
	})
}
