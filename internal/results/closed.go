package results

import (
	"math"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// ClosedLoop tells that s sends as fast as the client's window allows, or into a backlog. No message is due at any
// time then, and its latency only says how full the window or the backlog was: N messages in flight at a rate X wait
// N/X each (Little's law), whatever the broker.
func ClosedLoop(s study.Spec) bool { return s.ClosedLoop() }

// ClosedLoopNote says once in a document why points of a closed loop show no latency.
const ClosedLoopNote = "A peak, a backlog and a count without a rate are closed loops: their latency says how full the client's window or " +
	"the backlog was, nothing about a system under a given load, so none is shown or compared."

// AnyClosedLoop tells whether a document about points needs ClosedLoopNote.
func AnyClosedLoop(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return len(p.Shown()) > 0 && ClosedLoop(p.Spec) })
}

// latencyMetric is a quantile of a latency under a load.
func latencyMetric(key, name, histogram string, q float64) Metric {
	return readFrom(histogram, key, name, func(s hist.Snapshot) float64 { return Quantile(s, q) })
}

// meanMetric is the mean of a latency under a load.
func meanMetric(key, name, histogram string) Metric {
	return readFrom(histogram, key, name, func(s hist.Snapshot) float64 {
		if s.Count() == 0 {
			return math.NaN()
		}
		return s.Mean()
	})
}

func readFrom(histogram, key, name string, read func(hist.Snapshot) float64) Metric {
	kind, err := LatencyByName(histogram)
	if err != nil {
		panic("results: " + err.Error())
	}
	m := latency(key, name, fromResult(func(r *store.Result) float64 { return read(kind.Of(r.Latency)) }))
	m.Histogram, m.Read, m.twoClocks = histogram, read, strings.HasPrefix(histogram, "e2e")
	return m
}

// latency is a figure of a latency under a load. Records of a closed loop don't have one.
func latency(key, name string, raw func(store.Record) float64) Metric {
	return Metric{
		Key: key, Name: name, Unit: unit.Nanoseconds, Better: Lower, raw: raw,
		Of: func(r store.Record) float64 {
			if ClosedLoop(r.Spec) {
				return math.NaN()
			}
			return raw(r)
		},
	}
}

// Latency tells that m is a latency, which closed loops don't have.
func (m Metric) Latency() bool { return m.raw != nil }

// Recorded is the value that the record holds of m, for formats that copy records. Of a closed loop it includes the latency,
// which says how full the window was.
func (m Metric) Recorded(r store.Record) float64 {
	if m.raw != nil {
		return m.raw(r)
	}
	return m.Of(r)
}
