// Package settle gathers the outcomes that a client gives one by one, and reports those of many messages by one Done. It
// knows no client.
package settle

import (
	"sync/atomic"

	"github.com/brokermark/brokermark/internal/driver"
)

// Outcomes are those of one producer's messages. All but Reported belongs to one goroutine.
type Outcomes struct {
	receipts driver.Receipts
	slots    []uint32
	err      error // of all the gathered slots
	reported atomic.Uint64
}

// NewOutcomes makes room for the outcomes of all of a producer's slots.
func NewOutcomes(r driver.Receipts, slots int) *Outcomes {
	return &Outcomes{receipts: r, slots: make([]uint32, 0, slots)}
}

// Next takes the next message that waits for its outcome. It reports the known outcomes before it blocks.
func Next[T any](o *Outcomes, waiting <-chan T) (next T, open bool) {
	select {
	case next, open = <-waiting:
	default:
		o.Flush()
		next, open = <-waiting
	}
	return next, open
}

// Add gathers an outcome; earlier ones are reported first if they differ.
func (o *Outcomes) Add(slot uint32, err error) {
	if err != o.err { //nolint:errorlint // the same, not of the same kind
		o.Flush()
	}
	o.slots, o.err = append(o.slots, slot), err
}

// Flush reports the gathered outcomes.
func (o *Outcomes) Flush() {
	if len(o.slots) == 0 {
		return
	}
	o.receipts.Done(o.slots, o.err)
	o.reported.Add(uint64(len(o.slots)))
	o.slots = o.slots[:0]
}

// Reported counts the outcomes that were handed on.
func (o *Outcomes) Reported() uint64 { return o.reported.Load() }
