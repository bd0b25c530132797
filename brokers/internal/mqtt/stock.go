package mqtt

import (
	"context"
	"io"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session"
	"github.com/eclipse/paho.golang/paho/session/state"
)

// stockSession is the client's own session of one connection, which keeps a copy of every message until it is acknowledged.
// It passes acknowledgements on to the producer: the client's asynchronous publishing doesn't report them.
type stockSession struct {
	*state.State
	p     *producer
	slot  uint32            // of the message that is being published; run's own
	slots map[uint16]uint32 // by packet identifier; guarded by the producer's mu
}

func newStockSession(p *producer) *stockSession {
	return &stockSession{State: state.NewInMemory(), p: p, slots: map[uint16]uint32{}}
}

// ConAckReceived implements session.SessionManager.
func (s *stockSession) ConAckReceived(w io.Writer, c *packets.Connect, ack *packets.Connack) error {
	if err := s.p.ConAckReceived(w, c, ack); err != nil {
		return err
	}
	return s.State.ConAckReceived(w, c, ack)
}

// ConnectionLost implements session.SessionManager.
func (s *stockSession) ConnectionLost(d *packets.Disconnect) error {
	err := s.State.ConnectionLost(d)
	_ = s.p.ConnectionLost(d) // has none
	return err
}

// AddToSession implements session.SessionManager; the client calls it before it writes the packet.
func (s *stockSession) AddToSession(ctx context.Context, packet session.Packet, answer chan<- packets.ControlPacket) error {
	err := s.State.AddToSession(ctx, packet, answer)
	if m, ok := packet.(*packets.Publish); ok && err == nil {
		s.p.mu.Lock()
		s.slots[m.PacketID] = s.slot
		s.p.mu.Unlock()
	}
	return err
}

// PacketReceived implements session.SessionManager.
func (s *stockSession) PacketReceived(packet *packets.ControlPacket, next chan<- *packets.Publish) error {
	err := s.State.PacketReceived(packet, next)
	if m, ok := packet.Content.(*packets.Puback); ok {
		s.p.mu.Lock()
		slot, known := s.slots[m.PacketID]
		delete(s.slots, m.PacketID)
		s.p.mu.Unlock()
		if known {
			s.p.answered(slot, m.ReasonCode)
			s.p.settle()
		}
	}
	return err
}

// publish sends taken as the client documents it, one by one. At QoS 0 a message is done when the client has written it.
func (p *producer) publish(taken []uint32) {
	for i, slot := range taken {
		m := &p.packets[slot]
		p.stock.slot = slot
		out := &paho.Publish{Topic: m.Topic, QoS: m.QoS, Payload: m.Payload}
		out.InitProperties(m.Properties)
		_, err := p.link.PublishWithOptions(p.quit, out, paho.PublishOptions{Method: paho.PublishMethod_AsyncSend})
		if p.d.qos == 0 {
			p.receipts.Done(taken[i:i+1], err)
		} else if err != nil { // it may have been sent or not: all that is open is given up with the connection
			_ = p.link.wire.Conn.Close()
		}
	}
	if p.d.qos > 0 {
		p.wrote(taken)
	}
}

// stockReceiver is the client's own session of a consumer, which acknowledges a message after its callback. It acknowledges
// only delivered messages: those that arrive while the consumer leaves go to another one.
type stockReceiver struct {
	*state.State
	r         *receiver
	delivered bool // the message whose callback has just run
}

func newStockReceiver(r *receiver) *stockReceiver {
	return &stockReceiver{State: state.NewInMemory(), r: r}
}

// deliver is the callback. The turn lasts until the message is acknowledged.
func (s *stockReceiver) deliver(m *paho.Publish) {
	if s.r.qos == 0 {
		s.r.deliverOne(m)
		return
	}
	s.r.turn.Lock()
	if s.delivered = !s.r.left; s.delivered {
		s.r.deliverOne(m)
	}
}

// Ack implements session.SessionManager; the client calls it after every callback, also at QoS 0.
func (s *stockReceiver) Ack(m *packets.Publish) error {
	if m.QoS == 0 {
		return nil
	}
	defer s.r.turn.Unlock()
	if !s.delivered {
		return nil
	}
	return s.State.Ack(m)
}
