package lab

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// curveOrder is the order in which the rates of a curve are offered. It is drawn anew for each repetition: with rates that always rise, the
// effect of a rate can't be told from that of the time since the broker was started. But an overload leaves a broker with full queues and
// caches. So once a rate has not ended ok, the lower ones that are left come first, and then the higher ones in rising order.
//
// For example, 8,000/s is drawn first of 1,000, 2,000, 4,000, 8,000, 16,000 and 32,000/s, and fails. The next are 4,000, 1,000 and
// 2,000/s, as drawn; then 16,000 and 32,000/s.
type curveOrder struct {
	rates   []curveRate
	waiting []int // indexes of the rates that are still to come, the next one first
	offered []int // indexes of those that have come; twice if disturbed
}

// newCurveOrder draws an order of rates.
func newCurveOrder(rates []curveRate, seed int64) *curveOrder {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x6375_7276_65)) // any fixed stream will do
	return &curveOrder{rates: rates, waiting: rng.Perm(len(rates))}
}

// next returns the index of the next rate, and whether it is the last one. There must be one left.
func (o *curveOrder) next() (i int, isLast bool) {
	i, o.waiting = o.waiting[0], o.waiting[1:]
	o.offered = append(o.offered, i)
	return i, len(o.waiting) == 0
}

// ended says how the rate that next returned has ended. disturbed says that messages of the rate before came during it: such a rate is
// offered once more, at once.
func (o *curveOrder) ended(status store.Status, disturbed bool) {
	i := o.offered[len(o.offered)-1]
	if disturbed {
		if !slices.Contains(o.offered[:len(o.offered)-1], i) {
			o.waiting = slices.Insert(o.waiting, 0, i)
		}
		return
	}
	if status != store.OK {
		slices.SortStableFunc(o.waiting, func(a, b int) int { return o.compareAfter(o.rates[i].rate, a, b) })
	}
}

// compareAfter orders two rates that are to come after one that did not end ok: those above it last, and in rising order.
func (o *curveOrder) compareAfter(notOK float64, a, b int) int {
	x, y := o.rates[a].rate, o.rates[b].rate
	if x < notOK && y < notOK {
		return 0 // as drawn
	}
	return cmp.Compare(max(x, notOK), max(y, notOK))
}
