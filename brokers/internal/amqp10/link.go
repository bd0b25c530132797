package amqp10

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	dialTimeout  = 4 * time.Second        // TCP, TLS, SASL and AMQP handshakes together
	closeTimeout = time.Second            // the closing handshake; a frozen broker never answers it
	retryPause   = 200 * time.Millisecond // between attempts to reconnect
	// heldAtMost bounds how long a gathered write may wait: the client may have to wait for the broker's credit, which the
	// broker grants only for messages that it has seen.
	heldAtMost = 100 * time.Microsecond
)

var errLost = fmt.Errorf("AMQP 1.0: %w", driver.ErrDisconnected)

// Link is one connection with one session on it.
type Link struct {
	Conn    *amqp.Conn
	Session *amqp.Session
	Kept    Kept
	wire    wire
}

// Kept is the state that a dialect creates on a connection at its first use, and that ends with the connection. Its user holds the lock.
type Kept struct {
	sync.Mutex
	Value any
}

// Dial connects to one of the target's nodes, starting with the one whose turn it is for id. In a pair of which only
// one node serves, the other one is passed over.
func Dial(ctx context.Context, p *Product, c *driver.Config, id int) (*Link, error) {
	return socket.InTurn(c.Target.Addresses, id, func(address string) (*Link, error) { return dialNode(ctx, p, c, address) })
}

func dialNode(ctx context.Context, p *Product, c *driver.Config, address string) (*Link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := socket.Dial(ctx, address, c.Target.TLS) // below the coalescer: one TLS record per batch, not one per message
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	l := &Link{wire: wire{socket.Plain(conn)}}
	if !driver.UsesStock(c.Client) {
		l.wire = wire{socket.NewCoalescer(conn, int(c.Client.Int("write.buffer")), heldAtMost)}
	}
	l.Conn, err = amqp.NewConn(ctx, l.wire, options(p, c))
	if err == nil {
		l.Session, err = l.Conn.NewSession(ctx, nil)
	}
	if err != nil {
		l.Close()
		_ = conn.Close()
		return nil, handshakeError(ctx, p, c, address, err)
	}
	return l, nil
}

func options(p *Product, c *driver.Config) *amqp.ConnOptions {
	o := &amqp.ConnOptions{
		IdleTimeout:  c.Client.Duration("IdleTimeout"),
		MaxFrameSize: uint32(c.Client.Int("MaxFrameSize")),
		SASLType:     amqp.SASLTypeAnonymous(),
	}
	if p.Hostname != "" {
		o.HostName = c.Client.String(p.Hostname)
	}
	switch {
	case c.Target.Login == driver.ByCertificate:
		o.SASLType = amqp.SASLTypeExternal("")
	case c.Target.User != "":
		o.SASLType = amqp.SASLTypePlain(c.Target.User, c.Target.Password)
	}
	return o
}

// handshakeError distinguishes a refusal from a handshake that failed otherwise.
func handshakeError(ctx context.Context, p *Product, c *driver.Config, address string, err error) error {
	var refused *amqp.Error
	switch {
	case strings.Contains(err.Error(), "SASL"), strings.Contains(err.Error(), "auth mechanism"),
		errors.As(err, &refused) && refused.Condition == amqp.ErrCondUnauthorizedAccess:
		return driver.RefusedLogin(p.Name, address, c.Target, err)
	case refused != nil && refused.Condition == amqp.ErrCondNotFound && p.Hostname != "":
		return driver.Refused(p.Name, address, fmt.Errorf("%w; client.%s names the virtual host", err, p.Hostname))
	case refused != nil:
		return driver.Refused(p.Name, address, err)
	case ctx.Err() != nil:
		return fmt.Errorf("AMQP 1.0 handshake with %s: %w", address, ctx.Err())
	case p.MostClients != "":
		return fmt.Errorf("AMQP 1.0 handshake with %s: %w; it hangs up without a word on clients beyond the server's %s", address, err, p.MostClients)
	}
	return fmt.Errorf("AMQP 1.0 handshake with %s: %w", address, err)
}

func (l *Link) dead() bool {
	if l == nil {
		return true
	}
	select {
	case <-l.Conn.Done():
		return true
	default:
		return false
	}
}

// Cut closes the socket: a caller that waits in a write or for the broker gets an error, even if it doesn't heed its context.
func (l *Link) Cut() {
	if l != nil {
		_ = l.wire.Close()
	}
}

// Close ends the link within closeTimeout; afterwards no call of the client waits on it any more. The session's closing
// handshake makes the broker read earlier messages: a socket closed with unread bytes in it would discard those on their
// way.
func (l *Link) Close() {
	if l == nil || l.Conn == nil {
		return
	}
	late := time.AfterFunc(closeTimeout, l.Cut)
	defer late.Stop()
	if l.Session != nil && !l.dead() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = l.Session.Close(ctx)
	}
	_ = l.Conn.Close()
}
