// Package pulsar drives and starts Apache Pulsar: pulsar-client-go and the admin interface behind the driver contract, and the
// recipe for a single server or for brokers, bookies and ZooKeepers. It knows nothing of how messages are made or measured.
package pulsar

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// never is the interval of the client's periodic tasks that aren't needed: topics keep their partitions for a run.
const never = 1000 * time.Hour

func driverKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Threading: "by the load"},
		Client:  "github.com/apache/pulsar-client-go", Settings: settings, Supports: supports, Fits: fits, Maps: natives, Keeps: keeps, ServerKeeps: drops.By("pulsar"), Server: completed, Attaching: attaching, Open: open, Found: finds, Pasted: pasted,
		Relays: true, Headers: driver.Always, Logins: []driver.Login{driver.ByToken, driver.ByOAuth},
	}
}

// supports implements the guarantee table of the README.
func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Memory && g.Delivery != driver.AtMostOnce:
		return driver.Unsupported(fmt.Sprintf("persistence: memory with delivery: %s", g.Delivery),
			"a non-persistent topic drops what a subscriber is too slow for; a persistent one always writes, ask for log")
	case g.Persistence == driver.Memory && g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d with persistence: memory", g.Replicas), "a non-persistent topic is in one broker's memory only")
	case g.Persistence == driver.Fsync && g.Acks == driver.AcksNone:
		return driver.Unsupported("persistence: fsync with acks: none", "flushed means before the acknowledgement, and none is asked for")
	case g.Delivery != driver.AtMostOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s waits for the broker's answer", g.Delivery)
	}
	return nil
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	if s.Prefix != "" {
		return driver.Unsupported("topicPrefix: "+s.Prefix, "a run's topics have a namespace of their own, so their names give no rights; allowed: topic")
	}
	if subscriptionType(c.Guarantee, c.Client) == client.Exclusive && s.Consumers > 1 {
		return driver.Unsupported("client.subscriptionType: Exclusive", "a subscription then has one consumer; Failover has more that take over")
	}
	largest := usualLargest
	if n, err := strconv.Atoi(provision.Text(c.Target.Server["maxMessageSize"])); err == nil {
		largest = n
	}
	if c.Target.Server == nil {
		largest = math.MaxInt
	}
	return cmp.Or(driver.FitsAck(c.Guarantee, c.Client), checkClient(c.Guarantee, c.Client), fitsRelays(c, s), fitsNamespace(c), fitsSize(s.MaxBytes, largest))
}

// fitsSize refuses messages that are too large for the broker.
func fitsSize(size, largest int) error {
	if size+headroom > largest {
		return driver.Unsupported(fmt.Sprintf("messageSize: %d", size), "the broker takes up to %d bytes (maxMessageSize)", largest)
	}
	return nil
}

// session is one driver: the namespace of its topics, and the messages that its subscriptions have delivered.
type session struct {
	config    driver.Config
	log       log.Logger
	logged    slog.Handler // the target of log
	admin     *admin
	largest   int // largest message that the broker accepts, bytes
	namespace string
	topology  driver.Topology

	mu   sync.Mutex
	seen map[driver.Seat]*seen
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	s := &session{config: c, logged: slog.DiscardHandler, seen: map[driver.Seat]*seen{}}
	if c.Log != nil {
		s.logged = slog.NewTextHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelWarn})
	}
	s.log = log.NewLoggerWithSlog(slog.New(s.logged))
	s.admin = newAdmin(c.Target, c.Client.String("webServiceUrl"))
	if err := s.attach(ctx); err != nil {
		s.admin.close()
		return nil, err
	}
	return s, nil
}

// connect makes a separate client for a producer or consumer: a shared one would send everything through one connection and one
// goroutine, and could only be closed as a whole. Its log goes to logged.
func (s *session) connect(logged slog.Handler) (client.Client, error) {
	t, v := s.config.Target, s.config.Client
	scheme := "pulsar://"
	if t.TLS != nil {
		scheme = "pulsar+ssl://"
	}
	o := client.ClientOptions{
		URL: scheme + strings.Join(t.Addresses, ","), TLSConfig: t.TLS, Logger: log.NewLoggerWithSlog(slog.New(logged)),
		ConnectionTimeout: v.Duration("connectionTimeout"), OperationTimeout: v.Duration("operationTimeout"),
		KeepAliveInterval: v.Duration("keepAliveInterval"), MaxConnectionsPerBroker: int(v.Int("connectionsPerBroker")),
		MemoryLimitBytes: cmp.Or(v.Int("memoryLimitBytes"), -1), ConnectionMaxIdleTime: -1,
		MetricsCardinality: client.MetricsCardinalityNone, MetricsRegisterer: prometheus.NewRegistry(),
	}
	switch {
	case t.Login == driver.ByToken:
		o.Authentication = client.NewAuthenticationToken(t.Password)
	case t.Login == driver.ByOAuth: // for the broker it is a token; the client's own way needs the secret in a file
		o.Authentication = client.NewAuthenticationTokenFromSupplier(func() (string, error) { return s.admin.tokens.Token(context.Background()) })
	case t.User != "":
		basic, err := client.NewAuthenticationBasic(t.User, t.Password)
		if err != nil {
			return nil, err
		}
		o.Authentication = basic
	}
	c, err := client.NewClient(o)
	if err != nil {
		return nil, driver.Unsupported("client settings", "pulsar-client-go says: %v", err)
	}
	return c, nil
}

func (s *session) Close() error {
	s.admin.close()
	return nil
}

// within runs do and returns when it has ended, or after patience; do then ends by itself, when the broker answers or after
// operationTimeout. The client's own Close has no time limit.
func within(patience time.Duration, do func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
	}
}
