package results

import (
	"slices"

	"github.com/brokermark/brokermark/internal/study"
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
