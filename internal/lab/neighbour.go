package lab

import (
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
)

// neighbour is a point of this run whose sustainable rate is known. A search for a similar point begins there.
type neighbour struct {
	study, point, broker string
	axes                 map[string]string
	messageSize          float64 // mean, bytes
	low, high            float64 // messages per second
	p99                  int64   // end-to-end latency at low, ns
}

// remember keeps the outcome of a search for points that come later.
func (l *lab) remember(r *store.Record, found search.Bounds) {
	l.searched = append(l.searched, neighbour{
		study: r.Study, point: r.PointID, broker: r.Spec.Broker, axes: r.Axes, messageSize: r.Spec.MessageSize.Mean(),
		low: found.Low, high: max(found.Low, found.High), // High is 0 if no rate failed
		p99: r.Result.Latency.EndToEnd.Quantile(0.99),
	})
}

// similarSizes is how many times larger, or smaller, a neighbour's messages may be: a broker that carries 400,000/s of 8 B does not
// carry as many of 1 MB.
const similarSizes = 4

// neighbourOf returns the point most like that of a record: the same point in an earlier repetition, or else one of the same study
// and broker that differs in one axis and has messages of similar size. The latest one is the best guess. ok is false if there is
// none.
func (l *lab) neighbourOf(r *store.Record) (n neighbour, samePoint, ok bool) {
	for i := len(l.searched) - 1; i >= 0; i-- {
		candidate := l.searched[i]
		if candidate.point == r.PointID {
			return candidate, true, true
		}
		ratio := candidate.messageSize / r.Spec.MessageSize.Mean()
		similar := candidate.study == r.Study && candidate.broker == r.Spec.Broker && ratio <= similarSizes && ratio >= 1.0/similarSizes &&
			differingAxes(candidate.axes, r.Axes) == 1
		if similar && !ok {
			n, ok = candidate, true
		}
	}
	return n, false, ok
}

// differingAxes counts the axes in which two points differ.
func differingAxes(a, b map[string]string) int {
	n := 0
	for name, value := range a {
		if b[name] != value {
			n++
		}
	}
	for name := range b {
		if _, known := a[name]; !known {
			n++
		}
	}
	return n
}
