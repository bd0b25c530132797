package sim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
)

var errCut = fmt.Errorf("sim: %w", driver.ErrDisconnected)

// Cut breaks the connections of all producers of the broker at address, and prevents new ones until Mend. It returns how
// many messages were in the broker's hands whose acknowledgements the producers will never see; those that are sent again
// are then there twice. Consumers go on.
func Cut(address string) (unacknowledged int) {
	b := at(address)
	if b == nil {
		return 0
	}
	b.mu.Lock()
	b.cut = true
	producers := slices.Clone(b.producers)
	b.mu.Unlock()
	for _, p := range producers {
		unacknowledged += p.cutOff()
	}
	return unacknowledged
}

// Mend lets producers of the broker at address connect again.
func Mend(address string) {
	if b := at(address); b != nil {
		b.mu.Lock()
		b.cut = false
		b.mu.Unlock()
	}
}

// cutOff takes the acknowledgements on their way to p and returns how many.
func (p *producer) cutOff() int {
	p.completing.Lock()
	defer p.completing.Unlock()
	b := p.broker
	var left []uint32
	b.mu.Lock()
	for ; p.acks.len > 0; p.acks.drop() {
		left = append(left, p.acks.first().slot)
	}
	p.unacked -= int64(len(left))
	if p.waiting {
		p.waiting = false
		select {
		case p.room <- struct{}{}: // to find out
		default:
		}
	}
	b.mu.Unlock()
	if len(left) > 0 {
		p.receipts.Done(left, errCut)
	}
	return len(left)
}
