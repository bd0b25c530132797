package reports

import (
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// longFlush is the time that a flush of many messages takes on a slow disk, in seconds.
const longFlush = 0.02

// flushesFirst tells whether the broker can have flushed the messages that it acknowledged: one flush serves all messages that wait at a
// time, which are, by Little's law, the rate times the time to the acknowledgement. Flushes of fewer than a quarter of that are its
// housekeeping. Who waits longer than a flush takes waits in a queue before it.
func flushesFirst(perMessage, rate, seconds float64) bool {
	waiting := max(1, rate*min(seconds, longFlush))
	if math.IsNaN(waiting) { // nobody acknowledged
		waiting = 1
	}
	return perMessage >= 0.25/waiting
}

// unequalFlushes names the compared brokers that flush messages to the disk, and those that don't. It is empty if they are alike,
// or if it is known of fewer than two.
func unequalFlushes(points []results.Point) string {
	var do, dont []string
	seen := map[string]bool{}
	for _, p := range points {
		median := func(key string) float64 { return summaryOf(key, p.Ok()).Median }
		n := median(results.KeyBrokerFlushes)
		if seen[p.Name] || math.IsNaN(n) {
			continue
		}
		seen[p.Name] = true
		if flushesFirst(n, median(results.KeyPublishRate), median(results.KeyPublishMean)/1e9) {
			do = append(do, p.Name+" ("+unit.None.Format(n)+" flushes per message)")
		} else {
			dont = append(dont, p.Name)
		}
	}
	if len(do) == 0 || len(dont) == 0 {
		return ""
	}
	return "Not alike: " + strings.Join(do, ", ") + " flushed to the disk what they acknowledged, " + strings.Join(dont, ", ") +
		" left that to the operating system. A power failure takes more from the latter."
}
