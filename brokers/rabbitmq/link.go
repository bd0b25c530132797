package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	dialTimeout  = 4 * time.Second        // TCP, TLS and AMQP handshakes together
	closeTimeout = time.Second            // the closing handshake; a frozen broker never answers it
	retryPause   = 200 * time.Millisecond // between attempts to reconnect
	channelMax   = 2047                   // the server's default; more would be refused
)

var errLost = fmt.Errorf("rabbitmq: %w", driver.ErrDisconnected)

// link is one connection with one channel open on it, or one channel of a connection that others share.
type link struct {
	conn    *amqp.Connection
	ch      *amqp.Channel
	wire    *socket.Coalescer
	returns chan amqp.Return // nil unless messages are mandatory
	ended   chan *amqp.Error // receives the reason if the broker closed the channel
	reason  atomic.Pointer[amqp.Error]
	shared  *trunk // nil: it has a connection of its own
	left    sync.Once
	culprit bool // the message that made the broker close the channel is known; used by settle until all outcomes are reported
}

// dial connects to one of the target's nodes, starting with the one whose turn it is for id.
func (d *rabbit) dial(ctx context.Context, id int) (*link, error) {
	return socket.InTurn(d.cfg.Target.Addresses, id, func(address string) (*link, error) { return d.dialNode(ctx, address) })
}

func (d *rabbit) dialNode(ctx context.Context, address string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	login, err := d.login(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := socket.Dial(ctx, address, d.cfg.Target.TLS) // below the coalescer: one TLS record per batch, not one per message
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	l := &link{wire: socket.Plain(conn)}
	if !driver.UsesStock(d.cfg.Client) {
		l.wire = socket.NewCoalescer(conn, int(d.cfg.Client.Int("write.buffer")), 0)
	}
	if l.conn, err = amqp.Open(l.wire, d.config(login)); err == nil {
		l.ch, err = l.conn.Channel()
	}
	if err != nil {
		_ = conn.Close()
		return nil, d.handshakeError(ctx, address, err)
	}
	l.ended = l.ch.NotifyClose(make(chan *amqp.Error, 1))
	if d.cfg.Target.Login == driver.ByOAuth {
		go d.renew(l.conn, l.conn.NotifyClose(make(chan *amqp.Error, 1)))
	}
	return l, nil
}

func (d *rabbit) config(login amqp.Authentication) amqp.Config {
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName("brokermark")
	return amqp.Config{
		SASL:       []amqp.Authentication{login},
		Vhost:      d.cfg.Client.String("vhost"),
		Heartbeat:  d.cfg.Client.Duration("heartbeat"),
		FrameSize:  int(d.cfg.Client.Int("frame_max")),
		ChannelMax: channelMax,
		Locale:     "en_US",
		Properties: properties,
	}
}

// handshakeError distinguishes a refusal from a failed handshake.
func (d *rabbit) handshakeError(ctx context.Context, address string, err error) error {
	var refusal *amqp.Error
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("AMQP handshake with %s: %w", address, ctx.Err())
	case errors.Is(err, amqp.ErrSASL):
		return driver.Refused("rabbitmq", address, fmt.Errorf("it takes no login of this kind: %w", err))
	case errors.Is(err, amqp.ErrCredentials), errors.As(err, &refusal) && refusal.Code == amqp.AccessRefused:
		return driver.RefusedLogin("rabbitmq", address, d.cfg.Target, err)
	case refusal != nil && refusal.Server:
		return driver.Refused("rabbitmq", address, err)
	}
	return fmt.Errorf("AMQP handshake with %s: %w", address, err)
}

// channel opens another channel, or returns an error if the connection may have no more.
func (l *link) channel() (*amqp.Channel, error) {
	ch, err := l.conn.Channel()
	if errors.Is(err, amqp.ErrChannelMax) {
		most := int(l.conn.Config.ChannelMax)
		return nil, channelless(most, most+1)
	}
	return ch, err
}

func (l *link) dead() bool { return l == nil || l.ch.IsClosed() || l.conn.IsClosed() }

// why is why the broker closed the channel of a dead link; nil: it didn't, the connection was lost.
func (l *link) why() *amqp.Error {
	select {
	case e := <-l.ended:
		if e != nil {
			l.reason.Store(e)
		}
	default:
	}
	return l.reason.Load()
}

// bound cuts the link when ctx ends, or when a request made before stop isn't answered soon: the client's calls wait for ever,
// and a queue without a leader never answers.
func (l *link) bound(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	cut := context.AfterFunc(ctx, func() { _ = l.wire.Close() })
	return func() { cut(); cancel() }
}

// close ends the link within closeTimeout; afterwards the client has released all calls that waited on it.
func (l *link) close() {
	if l == nil {
		return
	}
	if l.shared != nil {
		l.left.Do(func() { l.shared.leave(l) })
		return
	}
	_ = l.conn.CloseDeadline(time.Now().Add(closeTimeout))
	_ = l.wire.Close()
}

// clientLog takes the client library's log lines. The library has one logger for the whole process, which must not change while
// connections live, hence the indirection.
var clientLog logLines

type logLines struct{ to atomic.Pointer[io.Writer] }

func (l *logLines) Printf(format string, v ...any) {
	if w := l.to.Load(); w != nil {
		fmt.Fprintf(*w, "amqp091-go: "+format+"\n", v...)
	}
}

func init() { amqp.SetLogger(&clientLog) }
