// Notes that a document shows once if its points need them.

package results

import "slices"

// ClosedLoopNote says why points of a closed loop show no latency: N messages in flight at a rate X wait N/X each (Little's law), whatever
// the broker.
const ClosedLoopNote = "A peak, a backlog and a count without a rate are closed loops: their latency says how full the client's window or " +
	"the backlog was, nothing about a system under a given load, so none is shown or compared."

// PublishedNote explains published figures.
const PublishedNote = "Published figures are those of a paper, on its machines and versions: they stand beside the measured ones, and nothing " +
	"is ranked, tested or judged by them."

// AnyClosedLoop tells whether a document about points needs ClosedLoopNote.
func AnyClosedLoop(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return len(p.Shown()) > 0 && p.Spec.ClosedLoop() })
}
