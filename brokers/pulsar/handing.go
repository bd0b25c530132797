package pulsar

import (
	"context"

	"github.com/brokermark/brokermark/internal/driver"
)

// handing is used if messages are acknowledged when the client has them: as fire-and-forget applications do, the producer gives
// the client copies. The client reads a payload when it makes a batch, some time after the send, and always answers. Until its
// answer, a copy's place stands for the slot in all data about a message.
type handing struct {
	copies [][]byte    // by place
	free   chan uint32 // places
	batch  []driver.Message
	slots  []uint32 // slots of a batch
}

func newHanding(places int) *handing {
	h := &handing{copies: make([][]byte, places), free: make(chan uint32, places), batch: make([]driver.Message, 0, places), slots: make([]uint32, 0, places)}
	for place := range places {
		h.free <- uint32(place)
	}
	return h
}

func (h *handing) release(places []uint32) {
	for _, place := range places {
		h.free <- place
	}
}

// handOver gives the client copies of messages of one topic, as many as there is room for, and completes them. It waits for room:
// unanswered messages fill the client's own window.
func (p *producer) handOver(ctx context.Context, batch []driver.Message) (taken int) {
	h := p.handing
	h.batch, h.slots = h.batch[:0], h.slots[:0]
	for i := range batch {
		place, ok := h.place(ctx, i == 0)
		if !ok {
			break
		}
		m := batch[i]
		h.slots = append(h.slots, m.Slot)
		h.copies[place] = append(h.copies[place][:0], m.Payload...)
		m.Slot, m.Payload = place, h.copies[place]
		h.batch = append(h.batch, m)
	}
	if len(h.batch) == 0 {
		driver.Fail(p.receipts, batch, context.Cause(ctx))
		return len(batch)
	}
	err := p.lines[batch[0].Topic].send(ctx, h.batch)
	p.receipts.Done(h.slots, err)
	return len(h.slots)
}

// place returns a free place; false if none is free and wait is false, or when ctx has ended.
func (h *handing) place(ctx context.Context, wait bool) (place uint32, ok bool) {
	select {
	case place = <-h.free:
		return place, true
	default:
	}
	if !wait {
		return 0, false
	}
	select {
	case place = <-h.free:
		return place, true
	case <-ctx.Done():
		return 0, false
	}
}
