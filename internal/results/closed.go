package results

import "slices"

// ClosedLoopNote says once in a document why points of a closed loop show no latency: N messages in flight at a rate X wait N/X each
// (Little's law), whatever the broker.
const ClosedLoopNote = "A peak, a backlog and a count without a rate are closed loops: their latency says how full the client's window or " +
	"the backlog was, nothing about a system under a given load, so none is shown or compared."

// AnyClosedLoop tells whether a document about points needs ClosedLoopNote.
func AnyClosedLoop(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return len(p.Shown()) > 0 && p.Spec.ClosedLoop() })
}
