package mqtt

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/eclipse/paho.golang/packets"

	"github.com/brokermark/brokermark/internal/driver"
)

// ConAckReceived implements session.SessionManager.
func (p *producer) ConAckReceived(w io.Writer, c *packets.Connect, ack *packets.Connack) error {
	p.socket.Store(w.(*wire)) // what dial gave the client
	p.mu.Lock()
	p.up = true
	p.mu.Unlock()
	return p.handshake.ConAckReceived(w, c, ack)
}

// ConnectionLost implements session.SessionManager.
func (p *producer) ConnectionLost(d *packets.Disconnect) error {
	if d != nil && slices.Contains(final, d.ReasonCode) {
		driver.Refuse(p.receipts, ended(d))
	}
	p.mu.Lock()
	p.up = false
	p.mu.Unlock()
	p.wake()
	return nil
}

// PacketReceived implements session.SessionManager; called by the client's reading goroutine.
func (p *producer) PacketReceived(packet *packets.ControlPacket, _ chan<- *packets.Publish) error {
	switch m := packet.Content.(type) {
	case *packets.Puback:
		p.answered(uint32(m.PacketID)-1, m.ReasonCode)
	case *packets.Pubrec:
		if m.ReasonCode >= packets.PubrecUnspecifiedError {
			p.answered(uint32(m.PacketID)-1, m.ReasonCode)
			break
		}
		p.release(m.PacketID)
		p.socket.Load().answer(pubrel, m.PacketID)
	case *packets.Pubcomp:
		if m.ReasonCode == packets.PubcompPacketIdentifierNotFound { // it answered before, on a connection that is lost
			m.ReasonCode = 0
		}
		p.answered(uint32(m.PacketID)-1, m.ReasonCode)
	}
	return nil
}

// release notes that the server is about to be asked to release the message: from now on, if it loses its memory, it may
// have delivered it.
func (p *producer) release(id uint16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slot := int(id) - 1; slot < len(p.freed) {
		p.freed[slot] = true
	}
}

func (p *producer) answered(slot uint32, reason byte) {
	if !p.answers.Load() {
		p.answers.Store(true)
	}
	if int(slot) >= len(p.stages) {
		return
	}
	if reason == packets.PubackNoMatchingSubscribers && len(p.d.subscriptions) == 0 {
		reason = 0 // there is no subscription
	}
	if reason != 0 {
		err := errNobody
		if reason != packets.PubackNoMatchingSubscribers {
			why := cmp.Or((&packets.Puback{ReasonCode: reason}).Reason(), (&packets.Disconnect{ReasonCode: reason}).Reason()) // servers also use codes that aren't Puback's, such as 0x95
			err = fmt.Errorf("the server refused the message, reason %#x: %s", reason, why)
		}
		p.complete([]uint32{slot}, err)
		return
	}
	if p.acked = append(p.acked, slot); len(p.acked) >= burst {
		p.settle()
	}
}

// settle reports the acknowledged messages, before the reading goroutine waits for more.
func (p *producer) settle() {
	if len(p.acked) > 0 {
		p.complete(p.acked, nil)
		p.acked = p.acked[:0]
	}
	if w := p.socket.Load(); w != nil && p.d.qos == 2 {
		w.push()
	}
}

// complete ends the flight of slots, whose place in the slice it reuses.
func (p *producer) complete(slots []uint32, err error) {
	done := slots[:0]
	p.mu.Lock()
	for _, slot := range slots {
		switch p.stages[slot] {
		case written:
			p.stages[slot] = free
			done = append(done, slot)
		case writing:
			p.stages[slot] = early
			if err != nil {
				p.fates[slot] = err
			}
		}
	}
	p.flying -= len(done)
	p.mu.Unlock()
	if len(done) > 0 {
		p.receipts.Done(done, err)
	}
	p.wake()
}
