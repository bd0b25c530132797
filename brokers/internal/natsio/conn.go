// Package natsio is what core NATS, JetStream and NATS Streaming share: connections that can always be ended, the server that is
// compiled in, and the common half of their recipes. It knows nothing of guarantees.
package natsio

import (
	"cmp"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/driver"
)

// ClientSettings are the connection options that the drivers pass through, under the names of nats.Options.
var ClientSettings = ConnectionSettings(nats.DefaultReconnectBufSize)

// ConnectionSettings returns the ClientSettings with another default for the messages kept while disconnected.
func ConnectionSettings(reconnectBuffer int64) []driver.Setting {
	return []driver.Setting{
		{Scope: driver.ClientScope, Name: "WriteBufferSize", Class: driver.Batching, Default: int64(nats.DefaultWriteBufSize), Least: int64(1), Doc: "bytes buffered before the publishing goroutine itself writes to the socket", Tries: []string{"4096", "131072"}},
		{Scope: driver.ClientScope, Name: "ReconnectBufSize", Default: reconnectBuffer, Least: int64(-1), Doc: "bytes kept while disconnected, then publishing fails; -1 and 0 keep none"},
		{Scope: driver.ClientScope, Name: "ReconnectWait", Default: 250 * time.Millisecond, Least: time.Millisecond, Doc: "pause between attempts to reach the same server again; reconnecting never gives up"},
		{Scope: driver.ClientScope, Name: "PingInterval", Default: nats.DefaultPingInterval, Least: time.Millisecond, Doc: "how often an idle connection is checked"},
	}
}

// MonitorSetting names the monitoring ports of servers that were not started here: the client protocol doesn't say what a
// server keeps and when it syncs.
func MonitorSetting(idle func(driver.Guarantee, driver.Values) string) driver.Setting {
	return driver.Setting{Scope: driver.ClientScope, Name: monitorName, Default: "", Idle: idle, Doc: "monitoring addresses of all servers, such as http://127.0.0.1:8222, separated by commas; empty: of servers that are started here"}
}

const monitorName = "monitor"

// Monitors returns the base URLs of the servers' monitoring ports, as far as they are known.
func Monitors(c driver.Config) (urls []string) {
	for url := range strings.SplitSeq(c.Client.String(monitorName), ",") {
		if url = strings.TrimRight(strings.TrimSpace(url), "/"); url != "" {
			if !strings.Contains(url, "://") { // localhost:8222 would be taken for a scheme
				url = "http://" + url
			}
			urls = append(urls, url)
		}
	}
	if len(urls) > 0 {
		return urls
	}
	for _, role := range slices.Sorted(maps.Keys(c.Target.Endpoints)) {
		if strings.HasPrefix(role, monitorName) {
			urls = append(urls, c.Target.Endpoints[role])
		}
	}
	return urls
}

const brokenOff = "the server ended the connection after the handshake"

const (
	openBudget  = 4 * time.Second // over all addresses
	flushBudget = 2 * time.Second
	shutBudget  = 500 * time.Millisecond
)

// Dialer makes the connections of one driver; all of them log to the same place.
type Dialer struct {
	target  driver.Target
	options []nats.Option
	budget  time.Duration // per address
	log     *log.Logger
	asked   atomic.Bool // for a client certificate
	drops   drops

	unusable error // why no connection can be tried: the login is not of the right form
}

// NewDialer reads target, log and the ClientSettings of c.
func NewDialer(c driver.Config) *Dialer {
	out := c.Log
	if out == nil {
		out = io.Discard
	}
	d := &Dialer{target: c.Target, log: log.New(out, "nats: ", log.LstdFlags|log.Lmsgprefix)}
	kept := int(c.Client.Int("ReconnectBufSize"))
	if kept == 0 { // to the client that would mean its default
		kept = -1
	}
	d.budget = openBudget / time.Duration(max(1, len(c.Target.Addresses)))
	d.options = []nats.Option{
		nats.Timeout(d.budget), nats.MaxReconnects(-1), nats.ReconnectJitter(0, 0),
		nats.WriteBufferSize(int(c.Client.Int("WriteBufferSize"))),
		nats.ReconnectBufSize(kept),
		nats.ReconnectWait(c.Client.Duration("ReconnectWait")),
		nats.PingInterval(c.Client.Duration("PingInterval")),
	}
	if !driver.UsesStock(c.Client) { // Setup has validated every subject once; the client would do it again for every message
		d.options = append(d.options, nats.SkipSubjectValidation())
	}
	if c.Target.TLS != nil {
		d.options = append(d.options, nats.Secure(driver.NoticeDemand(c.Target.TLS, func() { d.asked.Store(true) })))
	}
	way, err := login(c.Target)
	if d.unusable = err; way != nil {
		d.options = append(d.options, way)
	}
	return d
}

// Logf writes a line to the client log.
func (d *Dialer) Logf(format string, args ...any) { d.log.Printf(format, args...) }

// Dial connects within a few seconds, or returns an error that says what failed. lost, unless nil, is called each time the
// connection is lost, before there is another one, perhaps more than once; it must not call the client. closed is called
// when the connection will never come back.
func (d *Dialer) Dial(name string, lost func(error), closed func()) (*Conn, error) {
	return d.dial(d.target.Addresses, name, lost, closed)
}

func (d *Dialer) dial(addresses []string, name string, lost func(error), closed func()) (*Conn, error) {
	if d.unusable != nil {
		return nil, d.unusable
	}
	c := &Conn{lost: lost}
	options := append([]nats.Option{
		nats.Name("brokermark " + name), nats.SetCustomDialer(c),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.deny(err)
			}
			d.report(name, s, err)
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { d.Logf("%s: connected again, to %s", name, nc.ConnectedAddr()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err == nil {
				return // our own Close
			}
			d.Logf("%s: disconnected: %v", name, err)
			if lost != nil {
				lost(err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) {
			if closed != nil {
				closed()
			}
		}),
	}, d.options...)
	c.dialer.Timeout = d.budget
	nc, err := nats.Connect("nats://"+strings.Join(addresses, ",nats://"), options...)
	if err != nil {
		return nil, d.explain(addresses, err)
	}
	c.Conn = nc
	return c, nil
}

func (d *Dialer) report(name string, s *nats.Subscription, err error) {
	if s == nil {
		d.Logf("%s: %v", name, err)
		return
	}
	d.drops.watch(s)
	d.Logf("%s: subscription to %s: %v", name, s.Subject, err)
}

// explain distinguishes a refusal from a connection that failed otherwise.
func (d *Dialer) explain(addresses []string, err error) error {
	where := strings.Join(addresses, ", ")
	switch {
	case errors.Is(err, nats.ErrMaxConnectionsExceeded), errors.Is(err, nats.ErrMaxAccountConnectionsExceeded),
		errors.Is(err, nats.ErrNkeysNotSupported): // the server has none, and so it gives nothing to be signed
		return driver.Refused("nats", where, err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return driver.RefusedLogin("nats", where, d.target, err)
	case errors.Is(err, nats.ErrSecureConnWanted): // the server has said that it has none
		return &driver.ErrConnect{Broker: "nats", Address: where, Obstacle: driver.TLSMismatch, Detail: "TLS was asked for, but this is a plain port", Err: err}
	case errors.Is(err, nats.ErrTLS) && strings.Contains(err.Error(), "after TLS handshake"): // asked again, the server would say INFO before TLS
		detail := brokenOff
		if d.asked.Load() {
			detail = driver.DemandsCertificate
		}
		return &driver.ErrConnect{Broker: "nats", Address: where, Obstacle: driver.TLSMismatch, Detail: detail, Err: err}
	}
	if said := refusal(addresses[0]); said != "" {
		return driver.Refused("nats", where, errors.New(said))
	}
	return driver.Explain("nats", addresses, d.target, err)
}

// refusal returns the error that the server sends a new connection before it closes it, such as that it has too many; empty
// if there is none. The client may see the end of the connection before it reads that error.
func refusal(address string) string {
	raw, err := net.DialTimeout("tcp", address, refusalBudget)
	if err != nil {
		return ""
	}
	defer raw.Close()
	_ = raw.SetReadDeadline(time.Now().Add(refusalBudget))
	said, _ := io.ReadAll(io.LimitReader(raw, 1<<16))
	if _, said, found := strings.Cut(string(said), "-ERR '"); found {
		text, _, _ := strings.Cut(said, "'")
		return text
	}
	return ""
}

// refusalBudget is more than a server takes to send INFO and its objection to a connection.
const refusalBudget = 500 * time.Millisecond

// Conn is a client connection whose socket can be cut from outside. The client holds its lock while it writes: when a
// server stops reading, Publish, its flusher and even Close would wait for each other until the write times out, after
// a minute.
type Conn struct {
	*nats.Conn
	dialer net.Dialer

	lost func(error) // unless nil, called before dialling again

	mu     sync.Mutex
	raw    net.Conn
	cut    bool
	denial error         // nil: the server has denied nothing
	told   []func(error) // of the denial
}

// WhenDenied calls f when the server first denies something on c, at once if it has already: a denial belongs to no answer,
// and a denied publish gets none.
func (c *Conn) WhenDenied(f func(error)) {
	c.mu.Lock()
	denial := c.denial
	c.told = append(c.told, f)
	c.mu.Unlock()
	if denial != nil {
		f(denial)
	}
}

func (c *Conn) deny(err error) {
	c.mu.Lock()
	first := c.denial == nil
	c.denial = cmp.Or(c.denial, err)
	told := c.told
	c.mu.Unlock()
	if first {
		for _, f := range told {
			f(err)
		}
	}
}

// Denial returns the operation that the server has denied on c; nil if none yet.
func (c *Conn) Denial() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.denial
}

// Dial implements nats.CustomDialer.
func (c *Conn) Dial(network, address string) (net.Conn, error) {
	c.mu.Lock()
	cut, again := c.cut, c.raw != nil
	c.mu.Unlock()
	if cut {
		return nil, net.ErrClosed
	}
	if again && c.lost != nil { // the client's handler may come later than the next connection
		c.lost(nats.ErrDisconnected)
	}
	raw, err := c.dialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = raw
	return raw, nil
}

// Cut closes the socket under the client and lets it make no other: a blocked writer gets an error.
func (c *Conn) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	if c.raw != nil {
		_ = c.raw.Close()
	}
}

// Finish makes the server read the published messages, then shuts the connection; it takes a few seconds at most, whatever
// the server does.
func (c *Conn) Finish() {
	cut := time.AfterFunc(flushBudget, c.Cut)
	defer cut.Stop()
	if c.IsConnected() {
		_ = c.FlushTimeout(flushBudget)
	}
	c.Close()
}

// Shut closes at once; only a blocked write holds it up, for a moment.
func (c *Conn) Shut() {
	cut := time.AfterFunc(shutBudget, c.Cut)
	defer cut.Stop()
	c.Close()
}

// Describe returns the server's data from the beginning of the connection.
func (c *Conn) Describe() driver.Description {
	return driver.Description{
		Product: "NATS", Version: c.ConnectedServerVersion(), Settings: map[string]any{"max_payload": c.MaxPayload()},
	}
}
