package amqp10

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	dialTimeout  = 4 * time.Second        // TCP, TLS, SASL and AMQP handshakes together
	closeTimeout = time.Second            // the closing handshake; a frozen broker never answers it
	retryPause   = 200 * time.Millisecond // between attempts to reconnect
)

var errLost = fmt.Errorf("AMQP 1.0: %w", driver.ErrDisconnected)

// Link is one connection with one session on it.
type Link struct {
	Conn    *amqp.Conn
	Session *amqp.Session
	wire    *coalescer
}

// Dial connects to one of the target's nodes, starting with the one whose turn it is for id. In a pair of which only
// one node serves, the other one is passed over.
func Dial(ctx context.Context, p *Product, c *driver.Config, id int) (*Link, error) {
	var errs []error
	nodes := c.Target.Addresses
	for i := range nodes {
		l, err := dialNode(ctx, p, c, nodes[(id+i)%len(nodes)])
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, errors.New("no address to connect to")
	}
	return nil, errors.Join(errs...)
}

func dialNode(ctx context.Context, p *Product, c *driver.Config, address string) (*Link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	stream, err := secure(ctx, raw, c.Target.TLS, address)
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", address, err)
	}
	l := &Link{wire: newCoalescer(stream, int(c.Client.Int("write.buffer")))}
	l.Conn, err = amqp.NewConn(ctx, l.wire, options(p, c))
	if err == nil {
		l.Session, err = l.Conn.NewSession(ctx, nil)
	}
	if err != nil {
		l.Close()
		_ = raw.Close()
		return nil, handshakeError(ctx, p, c, address, err)
	}
	return l, nil
}

// secure puts TLS on raw where the target has it. It is done here and not by the client, so that the coalescer sits
// above it: one TLS record per batch, not one per message.
func secure(ctx context.Context, raw net.Conn, conf *tls.Config, address string) (net.Conn, error) {
	if conf == nil {
		return raw, nil
	}
	conf = conf.Clone()
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(address)
	}
	secured := tls.Client(raw, conf)
	return secured, secured.HandshakeContext(ctx)
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
	if c.Target.User != "" {
		o.SASLType = amqp.SASLTypePlain(c.Target.User, c.Target.Password)
	}
	return o
}

// handshakeError tells a refusal from a handshake that never came about.
func handshakeError(ctx context.Context, p *Product, c *driver.Config, address string, err error) error {
	var refused *amqp.Error
	switch {
	case strings.Contains(err.Error(), "SASL"), strings.Contains(err.Error(), "auth mechanism"),
		errors.As(err, &refused) && refused.Condition == amqp.ErrCondUnauthorizedAccess:
		return driver.RefusedLogin(p.Name, address, c.Target, err)
	case refused != nil:
		return driver.Refused(p.Name, address, err)
	case ctx.Err() != nil:
		return fmt.Errorf("AMQP 1.0 handshake with %s: %w", address, ctx.Err())
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

// cut closes the socket: whoever waits in a write or for the broker gets an error.
func (l *Link) cut() {
	if l != nil {
		_ = l.wire.Close()
	}
}

// Close ends the link within closeTimeout; afterwards the client has released everything that waited on it. The
// session's closing handshake makes the broker read what was sent before: a socket closed with unread bytes in it
// would discard those on their way.
func (l *Link) Close() {
	if l == nil || l.Conn == nil {
		return
	}
	late := time.AfterFunc(closeTimeout, l.cut)
	defer late.Stop()
	if l.Session != nil && !l.dead() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = l.Session.Close(ctx)
	}
	_ = l.Conn.Close()
}
