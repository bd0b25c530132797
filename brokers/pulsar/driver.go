// Package pulsar drives and provides Apache Pulsar: pulsar-client-go and the admin interface behind the driver contract,
// and the recipe for one server alone or for brokers, bookies and ZooKeepers. It knows nothing of how messages are made
// or measured.
package pulsar

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	openPatience = 5 * time.Second
	// never is for what the client would do now and then and needn't: topics keep their partitions for a run.
	never = 1000 * time.Hour
)

func init() {
	driver.Register(driver.Kind{
		Name: "pulsar", Client: "github.com/apache/pulsar-client-go", Settings: settings, Supports: supports, Open: open,
	})
}

// supports is the guarantee table of the README.
func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Memory && g.Delivery != driver.AtMostOnce:
		return driver.Unsupported(fmt.Sprintf("persistence: memory with delivery: %s", g.Delivery),
			"a non-persistent topic drops what a subscriber is too slow for; a persistent one always writes, ask for log")
	case g.Persistence == driver.Memory && g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d with persistence: memory", g.Replicas), "a non-persistent topic is in one broker's memory only")
	case g.Delivery != driver.AtMostOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s waits for the broker's answer", g.Delivery)
	}
	return nil
}

// session is one driver: the namespace that its topics are in, and what its subscriptions have delivered.
type session struct {
	config    driver.Config
	log       log.Logger
	admin     *admin
	largest   int // message that the broker takes, bytes
	namespace string
	topology  driver.Topology

	mu   sync.Mutex
	seen map[driver.ConsumerConfig]*seen
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	if err := cmp.Or(supports(c.Guarantee), checkClient(c.Guarantee, c.Client)); err != nil {
		return nil, err
	}
	s := &session{config: c, log: log.DefaultNopLogger(), seen: map[driver.ConsumerConfig]*seen{}}
	if c.Log != nil {
		s.log = log.NewLoggerWithSlog(slog.New(slog.NewTextHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	for _, address := range c.Target.Addresses {
		if err := reach(ctx, address, c.Target.TLS); err != nil {
			return nil, fmt.Errorf("pulsar at %s: %w", address, explain(err))
		}
	}
	s.admin = newAdmin(c.Target, c.Client.String("webServiceUrl"))
	var err error
	if s.largest, err = s.admin.maxMessageSize(ctx); err != nil {
		s.admin.close()
		return nil, fmt.Errorf("pulsar's admin interface at %s: %w", strings.Join(s.admin.urls, ", "), explain(err))
	}
	if err := s.login(); err != nil {
		s.admin.close()
		return nil, fmt.Errorf("pulsar at %s: it answers, but refuses the client's first request; user or password may be wrong: %w",
			strings.Join(c.Target.Addresses, ", "), err)
	}
	return s, nil
}

// reach tells why a broker can't be reached: the client library only says that there was a connection error.
func reach(ctx context.Context, address string, config *tls.Config) error {
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if config != nil {
		dialer = &tls.Dialer{Config: config}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

// login has the broker answer a request of the binary protocol, which it does for nobody whom it doesn't know.
func (s *session) login() error {
	c, err := s.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.TopicPartitions("persistent://public/default/brokermark")
	if err != nil && s.config.Target.TLS == nil && strings.Contains(err.Error(), "connection error") {
		err = fmt.Errorf("it hung up, perhaps because it wants TLS: %w", err)
	}
	return err
}

// explain says which of the usual reasons it is that a broker can't be reached.
func explain(err error) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var answer *answerError
	var reason string
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "nobody listens there"
	case errors.As(err, &answer) && (answer.code == http.StatusUnauthorized || answer.code == http.StatusForbidden):
		reason = "user or password is wrong, or the user is no administrator"
	case errors.As(err, &certificate):
		reason = "its certificate is not trusted"
	case errors.As(err, &record):
		reason = "it doesn't speak TLS"
	case errors.Is(err, io.EOF):
		reason = "it hung up: TLS on one side only, or a login is missing"
	case errors.Is(err, context.DeadlineExceeded):
		reason = fmt.Sprintf("no answer within %v", openPatience)
	default:
		return err
	}
	return fmt.Errorf("%s: %w", reason, err)
}

// connect makes a client of its own for a producer or consumer: a shared one would send everything through one
// connection and one goroutine, and could only be closed as a whole.
func (s *session) connect() (client.Client, error) {
	t, v := s.config.Target, s.config.Client
	scheme := "pulsar://"
	if t.TLS != nil {
		scheme = "pulsar+ssl://"
	}
	o := client.ClientOptions{
		URL: scheme + strings.Join(t.Addresses, ","), TLSConfig: t.TLS, Logger: s.log,
		ConnectionTimeout: v.Duration("connectionTimeout"), OperationTimeout: v.Duration("operationTimeout"),
		KeepAliveInterval: v.Duration("keepAliveInterval"), MaxConnectionsPerBroker: int(v.Int("connectionsPerBroker")),
		MemoryLimitBytes: v.Int("memoryLimitBytes"), ConnectionMaxIdleTime: -1,
		MetricsCardinality: client.MetricsCardinalityNone, MetricsRegisterer: prometheus.NewRegistry(),
	}
	if o.MemoryLimitBytes == 0 {
		o.MemoryLimitBytes = -1
	}
	switch {
	case t.User != "":
		basic, err := client.NewAuthenticationBasic(t.User, t.Password)
		if err != nil {
			return nil, err
		}
		o.Authentication = basic
	case t.Password != "":
		o.Authentication = client.NewAuthenticationToken(t.Password)
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

// within runs do and returns when it has ended, or after patience; then it ends by itself, when the broker answers or
// operationTimeout is over. The client's own Close has no bound.
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
