// Whether compared brokers flushed messages to the disk before they acknowledged them.

package reports

import (
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// longFlush is the time that a flush of many messages takes on a slow disk, in seconds.
const longFlush = 0.02

// flushesFirst tells whether a broker can have flushed messages before it acknowledged them. One flush serves all messages that wait at
// the time; by Little's law these are the rate times the seconds from send to acknowledgement. A message that waits longer than a flush
// takes spends the rest of the time in a queue. Fewer flushes than a quarter of what that asks for are the broker's housekeeping.
// rate and seconds may be NaN, where no message was acknowledged.
func flushesFirst(perMessage, rate, seconds float64) bool {
	waiting := max(1, rate*min(seconds, longFlush))
	if math.IsNaN(waiting) {
		waiting = 1
	}
	return perMessage >= 0.25/waiting
}

// unequalFlushes names the compared brokers that flush messages to the disk, and those that don't. It is empty if they are alike,
// or if it is known of fewer than two.
func unequalFlushes(points []results.Point) string {
	var flush, others []string
	seen := map[string]bool{} // by name; the first point of a broker for which flushes are known speaks for it
	for _, p := range points {
		median := func(key string) float64 { return summaryOf(key, p.Ok()).Median }
		perMessage := median(results.KeyBrokerFlushes)
		if seen[p.Name] || math.IsNaN(perMessage) {
			continue
		}
		seen[p.Name] = true
		if flushesFirst(perMessage, median(results.KeyPublishRate), median(results.KeyPublishMean)/1e9) {
			flush = append(flush, p.Name+" ("+unit.None.Format(perMessage)+" flushes per message)")
		} else {
			others = append(others, p.Name)
		}
	}
	if len(flush) == 0 || len(others) == 0 {
		return ""
	}
	return "Not alike: " + strings.Join(flush, ", ") + " flushed to the disk what they acknowledged, " + strings.Join(others, ", ") +
		" left that to the operating system. A power failure takes more from the latter."
}
