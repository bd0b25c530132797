package reports

import (
	"math"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

const (
	flushesKey = "broker_flushes_per_message"
	// rarely is a flush for a thousand messages: fewer are a broker's own housekeeping.
	rarely = 0.001
)

// flushing tells that the broker was seen to flush files.
func flushing(r results.Record) bool {
	return r.Result != nil && r.Result.Cost.BrokerFlushes != nil && *r.Result.Cost.BrokerFlushes > 0
}

// unequalFlushes says of points that are compared which brokers flush messages to the disk and which don't; empty where
// they are alike, or where it is not known of any two.
func unequalFlushes(points []results.Point) string {
	var do, dont []string
	seen := map[string]bool{}
	for _, p := range points {
		n := summaryOf(flushesKey, p.Ok()).Median
		if seen[p.Name] || math.IsNaN(n) {
			continue
		}
		seen[p.Name] = true
		if n < rarely {
			dont = append(dont, p.Name)
		} else {
			do = append(do, p.Name+" ("+unit.None.Format(n)+" flushes per message)")
		}
	}
	if len(do) == 0 || len(dont) == 0 {
		return ""
	}
	return "Not alike: " + strings.Join(do, ", ") + " flushed files to the disk, " + strings.Join(dont, ", ") +
		" left that to the operating system. A power failure takes more from the latter."
}
