package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/logs"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	greetTimeout = 4 * time.Second        // TCP, TLS and the first frame together
	callTimeout  = 5 * time.Second        // for an answer of the server
	leaderWait   = 20 * time.Second       // for a stream to have a leader, after a restart
	closeTimeout = time.Second            // for the closing of connections; a frozen broker never answers
	retryPause   = 200 * time.Millisecond // between attempts to reconnect
)

// link is the client's handle on a server; the connections below it are made as producers and consumers are.
type link struct {
	*stream.Environment
	version string
}

// dial connects to one of the target's nodes, starting with the one whose turn it is.
func (d *streams) dial(ctx context.Context, turn int) (*link, error) {
	return socket.InTurn(d.cfg.Target.Addresses, turn, func(address string) (*link, error) { return d.dialNode(ctx, address) })
}

// dialNode first exchanges the protocol's greeting with the node: for a wrong port, a TLS mismatch and a server that
// doesn't answer the client reports the same timeout, and it retries for ever if there is no server.
func (d *streams) dialNode(ctx context.Context, address string) (*link, error) {
	properties, err := greet(ctx, address, d.cfg.Target.TLS)
	if err != nil {
		return nil, err
	}
	version := properties["version"]
	if !reach.AtLeast(version, 0, 0) {
		return nil, driver.Refused(broker, address, fmt.Errorf("version %q is none", version))
	}
	options, err := d.environment(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	env, err := within(ctx, func() (*stream.Environment, error) { return stream.NewEnvironment(options) },
		func(env *stream.Environment) { _ = env.Close() })
	switch {
	case errors.Is(err, stream.AuthenticationFailure), errors.Is(err, stream.AuthenticationFailureLoopbackError):
		t := d.cfg.Target
		t.User = d.user()
		return nil, driver.RefusedLogin(broker, address, t, err)
	case err != nil:
		return nil, driver.Refused(broker, address, err)
	}
	return &link{env, version}, nil
}

func (d *streams) user() string {
	if d.cfg.Target.User == "" {
		return "guest"
	}
	return d.cfg.Target.User
}

func (d *streams) environment(address string) (*stream.EnvironmentOptions, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	password := d.cfg.Target.Password
	if d.cfg.Target.User == "" {
		password = "guest"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	o := stream.NewEnvironmentOptions()
	// The client pastes these into a URI and takes it apart again, the path twice.
	o.ConnectionParameters = []*stream.Broker{{
		Host: host, Port: port, User: url.PathEscape(d.user()), Password: url.PathEscape(password),
		Vhost: url.PathEscape(url.QueryEscape(d.cfg.Client.String("vhost"))),
	}}
	o.SetRPCTimeout(callTimeout).SetMaxProducersPerClient(254).SetMaxConsumersPerClient(254)
	o.SetRequestedHeartbeat(d.cfg.Client.Duration("heartbeat")).SetRequestedMaxFrameSize(int(d.cfg.Client.Int("frame.max")))
	o.SetWriteBuffer(int(d.cfg.Client.Int("write.buffer"))).SetReadBuffer(int(d.cfg.Client.Int("read.buffer")))
	if d.cfg.Target.Login == driver.ByCertificate {
		o.SetSaslConfiguration(stream.SaslConfigurationExternal)
	}
	if conf := socket.ForServer(d.cfg.Target.TLS, address); conf != nil {
		o.IsTLS(true).SetTLSConfig(conf)
	}
	return o, nil
}

// available tries again while the stream has no leader: a restarted node answers before it leads.
func available(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, stream.StreamNotAvailable) && !errors.Is(err, stream.LeaderNotReady) {
			return err
		}
		if socket.Pause(ctx, copiesPause) != nil {
			return err
		}
	}
}

// within runs f, which the client doesn't let us bound, until ctx ends. A later result of f goes to discard, which may be nil.
func within[T any](ctx context.Context, f func() (T, error), discard func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		if discard != nil {
			go func() {
				if r := <-done; r.err == nil {
					discard(r.value)
				}
			}()
		}
		var none T
		return none, context.Cause(ctx)
	}
}

// close ends the link's connections, and leaves that to the background after closeTimeout: the client asks the server.
func (l *link) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, _ = within(ctx, func() (struct{}, error) { return struct{}{}, l.Close() }, nil)
}

// clientLog takes the client library's log lines. The library has one logger for the whole process.
var clientLog logLines

type logLines struct{ to atomic.Pointer[io.Writer] }

func (l *logLines) line(level, format string, v []any) {
	if w := l.to.Load(); w != nil {
		fmt.Fprintf(*w, "rabbitmq-stream-go-client: "+level+": "+format+"\n", v...)
	}
}

func (l *logLines) Info(format string, v ...any)  { l.line("info", format, v) }
func (l *logLines) Error(format string, v ...any) { l.line("error", format, v) }
func (l *logLines) Warn(format string, v ...any)  { l.line("warning", format, v) }
func (l *logLines) Debug(string, ...any)          {}

func init() { logs.SetLogger(&clientLog) }
