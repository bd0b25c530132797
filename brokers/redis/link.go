package redis

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	openBudget  = 4 * time.Second        // TCP, TLS, authentication and the first answer together
	closeBudget = time.Second            // for the last replies, in Close
	retryPause  = 200 * time.Millisecond // between attempts to reconnect
	maxCopies   = 64                     // of a message
)

var errLost = fmt.Errorf("redis: %w", driver.ErrDisconnected)

// dial makes a client with one connection to address, opened when first needed and reopened when lost. The client sends nothing
// twice: a command without a reply has failed. If reading is not nil, the connection's reader calls it before every read.
func (d *session) dial(address string, reading func()) *redis.Client {
	return redis.NewClient(d.options(address, reading))
}

func (d *session) options(address string, reading func()) *redis.Options {
	c, t := d.config.Client, d.config.Target
	return &redis.Options{
		Addr: address, Username: t.User, Password: t.Password, Protocol: 2, ClientName: "brokermark",
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			if watchedName(d.config) != "" {
				master, _, err := d.master(ctx)
				if err != nil {
					return nil, err
				}
				addr = master
			}
			return d.connect(ctx, addr, reading)
		},
		// One connection, so that messages keep their order, and no second attempt, so that none is doubled.
		PoolSize: 1, MaxActiveConns: 1, PipelinePoolSize: -1, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: openBudget, ReadTimeout: c.Duration("ReadTimeout"), WriteTimeout: c.Duration("WriteTimeout"),
		ReadBufferSize: int(c.Int("ReadBufferSize")), WriteBufferSize: int(c.Int("WriteBufferSize")),
		ConnMaxIdleTime: -1, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// connect has a time limit of its own: the client's context may last for a whole run.
func connect(ctx context.Context, address string, secure *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, openBudget)
	defer cancel()
	return socket.Dial(ctx, address, secure)
}

// connect makes a connection that calls reading, if it isn't nil, before each read, and is guarded if another program started the server. It
// keeps the socket's other interfaces for the client.
func (d *session) connect(ctx context.Context, address string, reading func()) (net.Conn, error) {
	conn, err := connect(ctx, address, d.config.Target.TLS)
	if err != nil {
		return nil, err
	}
	o := overhearing{before: reading}
	if d.config.Target.Server == nil {
		o.guard = &guard{}
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &overheardSocket{tcp, o}, nil
	}
	return &overheardConn{conn, o}, nil
}

type overhearing struct {
	before func()
	guard  *guard
}

func (o *overhearing) read(from io.Reader, p []byte) (int, error) {
	if o.before != nil {
		o.before()
	}
	n, err := from.Read(p)
	if o.guard != nil {
		if err := o.guard.take(p[:n]); err != nil {
			return 0, err
		}
	}
	return n, err
}

type overheardConn struct {
	net.Conn
	overhearing
}

func (c *overheardConn) Read(p []byte) (int, error) { return c.read(c.Conn, p) }

type overheardSocket struct {
	*net.TCPConn
	overhearing
}

func (c *overheardSocket) Read(p []byte) (int, error) { return c.read(c.TCPConn, p) }

// primary finds the node that accepts writes, and explains what is wrong with nodes that can't be asked.
func (d *session) primary(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, openBudget)
	defer cancel()
	servers, err := d.servers(ctx)
	if err != nil {
		return "", err
	}
	errs := []error{}
	for _, address := range servers {
		client := d.dial(address, nil)
		role, err := client.Do(ctx, "role").Slice()
		_ = client.Close()
		switch {
		case err != nil:
			errs = append(errs, refusal(address, d.config.Target, err))
		case len(role) == 0 || role[0] != "master":
			errs = append(errs, fmt.Errorf("redis at %s is a replica and takes no writes", address))
		default:
			return address, nil
		}
	}
	if len(errs) == 0 {
		return "", errors.New("no address to connect to")
	}
	return "", errors.Join(errs...)
}

// refusal distinguishes a refusal from a failed connection.
func refusal(address string, t driver.Target, err error) error {
	var reply redis.Error
	switch {
	case !errors.As(err, &reply):
		if said := greeting(address, t); said != nil {
			return driver.Refused("redis", address, said)
		}
		return driver.Explain("redis", []string{address}, t, err)
	case strings.Contains(err.Error(), "WRONGPASS"), strings.Contains(err.Error(), "AUTH"), strings.Contains(err.Error(), "NOPERM"):
		return driver.RefusedLogin("redis", address, t, err)
	}
	return driver.Refused("redis", address, err)
}

// refused is refusal for the node that has a stream.
func (d *session) refused(ctx context.Context, stream string, err error) error {
	address, unknown := d.owner(ctx, stream)
	if unknown != nil {
		return err
	}
	return refusal(address, d.config.Target, err)
}

// greeting is the error that a server sends to a new connection unasked before it closes it; nil if there is none. The client
// library takes it for the answer of a server without HELLO, continues, and reports a broken connection. Over TLS a server closes
// without an error.
func greeting(address string, t driver.Target) error {
	if t.TLS != nil {
		return nil
	}
	conn, err := connect(context.Background(), address, nil)
	if err != nil {
		return nil //nolint:nilerr // the caller explains the client's own error
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(retryPause)) // any other server waits for a command
	line, _ := bufio.NewReader(conn).ReadString('\n')
	line = strings.TrimSpace(line)
	if strings.Contains(line, "max number of clients") {
		line += " (the server's maxclients)"
	}
	if reason, said := strings.CutPrefix(line, "-"); said {
		return replied(reason)
	}
	return nil
}

// passing are the prefixes of temporary errors: the server loads its files, or another node has the stream or soon will.
var passing = []string{"LOADING", "MOVED", "ASK ", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "UNBLOCKED"}

// lost distinguishes a broken connection, or a temporary error, from an error that the server would send again.
func lost(err error) bool {
	var reply redis.Error
	return err != nil && (!errors.As(err, &reply) || slices.ContainsFunc(passing, func(p string) bool { return strings.HasPrefix(reply.Error(), p) }))
}

// denied reports whether the user lacks a right, which no further attempt changes.
func denied(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "NOPERM")
}

func (d *session) logf(format string, args ...any) {
	if d.config.Log != nil {
		fmt.Fprintf(d.config.Log, "redis: "+format+"\n", args...)
	}
}

// clientLog takes the client library's log lines. The library has one logger for the whole process.
var clientLog logLines

type logLines struct{ to atomic.Pointer[io.Writer] }

func (l *logLines) Printf(_ context.Context, format string, v ...any) {
	if w := l.to.Load(); w != nil {
		fmt.Fprintf(*w, "go-redis: "+format+"\n", v...)
	}
}

func init() { redis.SetLogger(&clientLog) }

var _ driver.Driver = (*session)(nil)
