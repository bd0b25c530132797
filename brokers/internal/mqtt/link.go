package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/log"
	"github.com/eclipse/paho.golang/paho/session"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	openBudget  = 4 * time.Second        // TCP, TLS and CONNACK together
	closeBudget = time.Second            // for the last acknowledgements, and for DISCONNECT
	retryPause  = 200 * time.Millisecond // between attempts to reconnect
	// Subscriptions are made, and presences asked for, one at a time, so one identifier is enough; messages have the lower ones.
	subscribeID = 65535
)

// handshake is a session of the client without any publication in it: the client asks it for identifiers and tells it of
// packets that have one. Producers and consumers extend it. The client's own session starts a goroutine and copies the
// message for every publication, and doesn't report an acknowledgement that no call waits for.
type handshake struct {
	mu      sync.Mutex
	waiting chan<- packets.ControlPacket // for SUBACK or PUBACK
	max     int                          // publications the server takes unacknowledged
	present bool                         // the server still has the session of the connection before
}

var _ session.SessionManager = (*handshake)(nil)

func (h *handshake) ConAckReceived(_ io.Writer, _ *packets.Connect, ack *packets.Connack) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.present, h.max = ack.SessionPresent, subscribeID-1
	if p := ack.Properties; p != nil && p.ReceiveMaximum != nil {
		h.max = min(h.max, int(*p.ReceiveMaximum))
	}
	return nil
}

func (h *handshake) AddToSession(_ context.Context, p session.Packet, answer chan<- packets.ControlPacket) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.SetIdentifier(subscribeID)
	h.waiting = answer
	return nil
}

func (h *handshake) PacketReceived(p *packets.ControlPacket, _ chan<- *packets.Publish) error {
	if p.Type == packets.SUBACK || p.Type == packets.PUBACK {
		h.reply(*p)
	}
	return nil
}

func (h *handshake) ConnectionLost(*packets.Disconnect) error {
	h.reply(packets.ControlPacket{})
	return nil
}

func (h *handshake) reply(answer packets.ControlPacket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting != nil {
		h.waiting <- answer
		h.waiting = nil
	}
}

func (h *handshake) Ack(*packets.Publish) error { return nil }
func (h *handshake) Close() error               { return nil }
func (h *handshake) SetErrorLogger(log.Logger)  {}
func (h *handshake) SetDebugLogger(log.Logger)  {}

// station is one end of a connection, as the client has to know it.
type station struct {
	id       string
	clean    bool                   // begin without the server's session of this id
	keep     bool                   // have the server keep the session when the connection ends
	session  session.SessionManager // nil: handshake
	idle     func()
	received func(*paho.Publish) // messages of QoS 0, and of the client's own session all
}

// link is one connection.
type link struct {
	*paho.Client
	wire        *wire
	subscribing sync.Mutex // subscribeID is one
}

// dial connects. Its error says which step failed, in words for the user who typed the address.
func (d *driving) dial(ctx context.Context, s station) (*link, error) {
	if len(d.config.Target.Addresses) == 0 {
		return nil, errors.New("no address to connect to")
	}
	address := d.config.Target.Addresses[0]
	ctx, cancel := context.WithTimeout(ctx, openBudget)
	defer cancel()
	conn, err := connect(ctx, address, d.config.Client.String(overWebSocket), d.config.Target)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", d.product.Name, address, err)
	}
	if s.idle == nil {
		s.idle = func() {}
	}
	if s.received == nil {
		s.received = func(*paho.Publish) {}
	}
	if s.session == nil {
		s.session = &handshake{}
	}
	l := &link{wire: newWire(conn, s.idle)}
	if driver.UsesStock(d.config.Client) {
		l.wire = plainWire(conn)
	}
	l.Client = paho.NewClient(paho.ClientConfig{
		Conn: l.wire, Session: s.session, PacketTimeout: openBudget,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			if p.Packet.QoS > 0 || d.qos == 0 { // else it asks for presence
				s.received(p.Packet)
			}
			return true, nil
		}},
		OnClientError: func(err error) {
			if !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) { // by us, or the answer to our goodbye
				d.logf("%s: %v", s.id, err)
			}
		},
		OnServerDisconnect: func(p *paho.Disconnect) { d.logf("%s: %v", s.id, ended(p.Packet())) },
	})
	ack, err := l.Connect(ctx, d.connectPacket(s))
	switch {
	case err == nil:
		return l, nil
	case ack != nil && (ack.ReasonCode == packets.ConnackNotAuthorized || ack.ReasonCode == packets.ConnackBadUsernameOrPassword):
		return nil, driver.RefusedLogin(d.product.Name, address, d.config.Target, err)
	case ack != nil && ack.Properties != nil && ack.Properties.ServerReference != "":
		return nil, driver.Refused(d.product.Name, address, fmt.Errorf("reason %#x: it refers clients to %s, which is the address to attach to: %w", ack.ReasonCode, ack.Properties.ServerReference, err))
	case ack != nil:
		return nil, driver.Refused(d.product.Name, address, fmt.Errorf("reason %#x: %w", ack.ReasonCode, err))
	}
	if d.product.MostClients != "" && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w; it hangs up without a word on clients beyond the server's %s", err, d.product.MostClients)
	}
	if d.product.Silence != "" {
		err = fmt.Errorf("%w; %s", err, d.product.Silence)
	}
	return nil, fmt.Errorf("%s at %s gave no answer of MQTT 5: %w", d.product.Name, address, err)
}

// final are reasons to end a connection that would recur with the same message, or on every connection.
var final = []byte{
	packets.DisconnectNotAuthorized, packets.DisconnectTopicNameInvalid, packets.DisconnectPacketTooLarge, packets.DisconnectQuotaExceeded,
	packets.DisconnectQoSNotSupported, packets.DisconnectUseAnotherServer, packets.DisconnectServerMoved,
}

// ended returns why the server has ended a connection, in the server's words if it has sent any.
func ended(p *packets.Disconnect) error {
	text := fmt.Sprintf("the server disconnected, reason %#x: %s", p.ReasonCode, p.Reason())
	if own := p.Properties; own != nil && own.ReasonString != "" {
		text += ": " + own.ReasonString
	}
	if own := p.Properties; own != nil && own.ServerReference != "" {
		text += "; it refers clients to " + own.ServerReference
	}
	return errors.New(text)
}

func (d *driving) connectPacket(s station) *paho.Connect {
	c, t := d.config.Client, d.config.Target
	receive := uint16(c.Int("ReceiveMaximum"))
	var expiry uint32
	if s.keep {
		expiry = uint32(c.Duration("SessionExpiryInterval") / time.Second)
	}
	return &paho.Connect{
		ClientID: s.id, CleanStart: s.clean, KeepAlive: uint16(c.Duration("KeepAlive") / time.Second),
		Username: t.User, UsernameFlag: t.User != "", Password: []byte(t.Password), PasswordFlag: t.Password != "",
		Properties: &paho.ConnectProperties{ReceiveMaximum: &receive, SessionExpiryInterval: &expiry},
	}
}

// close says goodbye, and returns when nothing of the client runs any more. It waits, for a moment, until the server has
// closed the connection: closed at once on our side, the server's next message would cause a reset, and a reset discards
// what the server has not read yet, such as the last acknowledgements. With forget the server's session ends as well.
func (l *link) close(forget bool) {
	goodbye := &paho.Disconnect{}
	if forget {
		goodbye.Properties = &paho.DisconnectProperties{SessionExpiryInterval: new(uint32)}
	}
	_ = l.wire.SetWriteDeadline(time.Now().Add(closeBudget))
	if _, err := goodbye.Packet().WriteTo(l.wire); err == nil {
		select {
		case <-l.Done():
		case <-time.After(closeBudget):
		}
	}
	_ = l.wire.Conn.Close()
	_ = l.Disconnect(&paho.Disconnect{})
}

func (d *driving) logf(format string, args ...any) {
	if d.config.Log != nil {
		fmt.Fprintf(d.config.Log, "paho.golang: "+format+"\n", args...)
	}
}

var _ driver.Driver = (*driving)(nil)
