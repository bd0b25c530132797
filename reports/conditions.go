// Some columns and sentences are shown only where something happened: messages were sent again, a file
// was flushed. Whether it did is asked of every record, and of every rate of a curve. A table of points has
// the column "resent" if anyLoad(points, wasResent).

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// anyLoad reports whether a condition holds for any record of points, or for any rate of a curve.
func anyLoad(points []results.Point, condition func(results.Record) bool) bool {
	return slices.ContainsFunc(points, func(p results.Point) bool {
		return slices.ContainsFunc(withRates(p.Records), condition)
	})
}

// recordsOf lists the records of points.
func recordsOf(points []results.Point) []results.Record {
	return lists.Flat(points, func(p results.Point) []results.Record { return p.Records })
}

// withRates lists records, then each rate of their curves as a record of its own: for one curve of 1k/s
// and 2k/s three records.
func withRates(records []results.Record) []results.Record {
	all := slices.Clone(records)
	for _, r := range records {
		for _, l := range results.Loads(r) {
			if l.Rate > 0 { // of a curve; a record's own load has no Rate
				all = append(all, l.Record)
			}
		}
	}
	return all
}

// booksOf are the message counts of a repetition. All are 0 if nothing was measured.
func booksOf(r results.Record) results.Books {
	if r.Result == nil {
		return results.Books{}
	}
	return r.Result.Books
}

// leftUnsent reports whether messages that were due were never sent.
func leftUnsent(r results.Record) bool { return booksOf(r).Unsent > 0 }

// wasResent reports whether messages were sent again.
func wasResent(r results.Record) bool { return booksOf(r).Resent > 0 }

// wasDropped reports whether the client library dropped deliveries.
func wasDropped(r results.Record) bool { return booksOf(r).Dropped > 0 }

// isLaterRepetition reports whether a record is not the first repetition of its point.
func isLaterRepetition(r results.Record) bool { return r.Repetition > 1 }

// expectsOtherThanSent reports whether not every message was expected exactly once: several subscriptions
// expected it, or none.
func expectsOtherThanSent(r results.Record) bool { return booksOf(r).Expected != booksOf(r).Sent }

// hasDeviations reports whether any message was lost, duplicated, reordered or corrupted.
func hasDeviations(r results.Record) bool {
	b := booksOf(r)
	return b.Lost+b.Duplicated+b.Reordered+b.Corrupted > 0
}

// orderUnknown reports whether agents' clocks do not show in which order some messages came.
func orderUnknown(r results.Record) bool { return hasDoubt(r, doubt.OrderUnknown) }

func flushedFiles(r results.Record) bool {
	return r.Result != nil && r.Result.Cost.BrokerFlushes != nil && *r.Result.Cost.BrokerFlushes > 0
}

// pausedTooLong reports whether the generator's machine stood still for long enough to cause a doubt.
func pausedTooLong(r results.Record) bool { return hasDoubt(r, doubt.Pauses) }

func hasDoubt(r results.Record, kind *doubt.Kind) bool {
	return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool { return d.Is(kind) })
}

// doubtText is the text of a record's first doubt of a kind. It is empty if there is none.
func doubtText(r results.Record, kind *doubt.Kind) string {
	for _, d := range r.Doubts {
		if d.Is(kind) {
			return d.Text
		}
	}
	return ""
}
