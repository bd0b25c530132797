// The notes below the tables of a report, which say how to read their figures.

package reports

import (
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// howToRead explains the figures of the tables. It is empty if nothing was measured.
func howToRead(points []results.Point) []document.Block {
	if !slices.ContainsFunc(points, isMeasured) {
		return nil
	}
	var d document.Document
	if results.AnyClosedLoop(points) {
		d.Say(results.ClosedLoopNote)
	}
	if results.AnyTails(points) {
		d.Say(results.TailsNote)
	}
	if slices.ContainsFunc(points, hasGoals) {
		d.Say("Conditional throughput: at the sustainable rate at least this many messages per second came through, " +
			"except in the share of the time that a goal may be missed for. " +
			"A goal is undecided if the trials left a bound unknown, or the bounds too far apart.")
	}
	if anyLoad(points, results.OnlyFromSend) {
		d.Say("Latencies of imported results and of the makers' tools are known from the actual send only: " +
			"they hide every wait before it, and stand in columns of their own.")
	}
	if slices.ContainsFunc(points, hasStampsInHeaders) {
		d.Say("Payloads of files arrived as they are, with a message's identity and times in a header. Sizes and MB/s are without headers.")
	}
	searched, curves := "", ""
	if slices.ContainsFunc(points, isSearched) {
		searched = "A sustainable rate is followed by " + bracketWords + ". "
	}
	if slices.ContainsFunc(points, isCurve) {
		curves = "Each rate of a curve is a measurement of its own. "
	}
	d.Say("Rates and latencies are medians over the n repetitions that ended ok; " +
		"counts of messages are sums, also over those that failed. " +
		searched + curves +
		"CPU is in seconds per million messages. Figures in parentheses are of void or failed points and never used.")
	return d.Blocks
}

func isMeasured(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil })
}

func isSearched(p results.Point) bool { return results.Searched(p.Shown()) }

func hasGoals(p results.Point) bool { return len(results.Goals(p.Shown())) > 0 }

func hasStampsInHeaders(p results.Point) bool {
	return slices.ContainsFunc(p.Shown(), func(r results.Record) bool { return r.Result != nil && r.Identity == results.InHeader })
}

func isCurve(p results.Point) bool { return p.Spec.Measure == study.MeasureCurve }
