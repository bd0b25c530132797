// The terms of the promise report, in sentences below its tables: what its columns count, and what they leave out.

package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
)

// promiseTerms explains the columns that the tables have, a sentence or two each.
func promiseTerms(trials []faultTrial) string {
	terms := []string{
		"Acked: confirmed as the guarantee demands. With at-most-once nothing is confirmed, and every message handed to the client counts.",
		"Failed: the client reported an error; the message may have been delivered nevertheless.",
	}
	if anyTrial(trials, wasResent) {
		terms = append(terms, "Resent: sent once more because the connection was lost or no answer came.")
	}
	terms = append(terms, "Lost after ack: acked and never delivered.")
	if slices.ContainsFunc(trials, faultTrial.leavesLossesOut) {
		terms = append(terms, "Messages that may only be late, or still be in a broker that did not come back, are not counted as lost.")
	}
	terms = append(terms,
		"Dup.: deliveries of a message that had been delivered."+listening(trials),
		"Reord.: first deliveries after a later message of the same stream.")
	if slices.ContainsFunc(trials, faultTrial.hasOutage) {
		terms = append(terms,
			"Outage: the longest time in which nothing was delivered, from samples "+sampleIntervals(trials)+" apart.")
	}
	return strings.Join(terms, " ")
}

// listening says how long the trials that count duplicates as breaches went on receiving for their sake; empty if there are none.
func listening(trials []faultTrial) string {
	listened := lists.Filter(trials, func(t faultTrial) bool { return t.record.Result != nil && t.record.Result.Listened != nil })
	if len(listened) == 0 {
		return ""
	}
	words := lists.Map(listened, func(t faultTrial) string {
		return t.record.Spec.Broker + " " + listeningWords(*t.record.Result.Listened)
	})
	slices.Sort(words)
	return " Where they break a promise, the trial went on receiving at its end, as long as the broker waits for an acknowledgement before it " +
		"delivers again: " + strings.Join(slices.Compact(words), "; ") + "."
}

// listeningWords are "for 31s", "for 1m0s, although it delivers again after 30m0s" and "for 0s, since it delivers again only when a
// connection ends".
func listeningWords(l results.Listened) string {
	text := "for " + time.Duration(l.Ns).Round(100*time.Millisecond).String()
	switch {
	case l.RedeliveryNs == 0:
		return text + ", since it delivers again only when a connection ends"
	case l.Ns < l.RedeliveryNs:
		return text + ", although it delivers again after " + time.Duration(l.RedeliveryNs).String()
	}
	return text
}

// leavesLossesOut reports whether messages are missing that may not be lost, so that the verdict leaves them
// out.
func (t faultTrial) leavesLossesOut() bool {
	return t.lossesUnproven && booksOf(t.record).LostAcked > 0
}

// sampleIntervals lists the times between the samples that outages were read from: "20 ms or 50 ms".
func sampleIntervals(trials []faultTrial) string {
	withOutage := lists.Filter(trials, faultTrial.hasOutage)
	intervals := lists.Map(withOutage, func(t faultTrial) int64 { return t.record.Result.Outage.SampleNs }) // ns
	slices.Sort(intervals)

	words := lists.Map(slices.Compact(intervals), func(ns int64) string { return fmt.Sprintf("%g ms", float64(ns)/1e6) })
	return strings.Join(words, " or ")
}
