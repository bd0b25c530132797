// Package kafka drives and provides Apache Kafka: franz-go behind the driver contract, and the recipe for KRaft
// servers of Kafka's own jars. It knows nothing of how messages are made or measured.
package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	openPatience  = 5 * time.Second
	leavePatience = 2 * time.Second
	pollInterval  = 20 * time.Millisecond
	// requestLimit is the broker's socket.request.max.bytes and franz-go's own bound, less room for the headers.
	requestLimit = 100<<20 - 4096
	// headroom is what a record and its batch add to a payload, a key of some hundred bytes included.
	headroom = 1024
)

func init() {
	driver.Register(driver.Kind{
		Name: "kafka", Client: "github.com/twmb/franz-go", Settings: settings, Supports: supports, Open: open,
	})
}

// supports is the guarantee table of the README.
func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "Kafka always writes to its log; ask for log")
	case g.Persistence == driver.Fsync && g.Acks == driver.AcksNone:
		return driver.Unsupported("persistence: fsync with acks: none", "nobody waits for the broker, so nothing is flushed before the acknowledgement")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("delivery: at-least-once with acks: none", "without an answer the producer can't know what to send again")
	case g.Delivery == driver.ExactlyOnce && g.Acks != driver.AcksQuorum:
		return driver.Unsupported(fmt.Sprintf("delivery: exactly-once with acks: %s", g.Acks), "transactions need acks: quorum (acks=all)")
	}
	return nil
}

type kafka struct {
	config   driver.Config
	common   []kgo.Opt
	admin    *kadm.Client
	topology driver.Topology
	// delivered holds, per consumer group, the next offset of each partition to be delivered. It is kept only where
	// nothing may be delivered twice: a group that loses its members starts again at the last committed offset.
	delivered map[string][]atomic.Int64
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	if err := cmp.Or(supports(c.Guarantee), checkClient(c.Guarantee, c.Client)); err != nil {
		return nil, err
	}
	k := &kafka{config: c, common: connection(c)}
	client, err := kgo.NewClient(k.common...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	// From here on a connection that breaks is a broker that restarts; before, it tells of wrong credentials.
	k.common = append(k.common, kgo.AlwaysRetryEOF())
	k.admin = kadm.NewClient(client)
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("kafka at %s: %w", strings.Join(c.Target.Addresses, ", "), explain(err))
	}
	return k, nil
}

func connection(c driver.Config) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Target.Addresses...), kgo.ClientID("brokermark"), kgo.DisableClientMetrics(),
		kgo.DialTimeout(openPatience), kgo.MetadataMaxAge(millis(c.Client, "metadata.max.age.ms")),
		kgo.MetadataMinAge(min(250*time.Millisecond, millis(c.Client, "metadata.max.age.ms"))),
	}
	if c.Log != nil {
		opts = append(opts, kgo.WithLogger(kgo.BasicLogger(&lockedWriter{w: c.Log}, kgo.LogLevelWarn, nil)))
	}
	if c.Target.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(c.Target.TLS.Clone()))
	}
	user, password := c.Target.User, c.Target.Password
	switch mechanism := c.Client.String("sasl.mechanism"); {
	case user == "":
	case mechanism == "PLAIN":
		opts = append(opts, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case mechanism == "SCRAM-SHA-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case mechanism == "SCRAM-SHA-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return opts
}

// explain says which of the usual reasons it is that a broker can't be reached.
func explain(err error) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var reason string
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		reason = "nobody listens there"
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		reason = "user or password is wrong"
	case errors.Is(err, kerr.IllegalSaslState), errors.Is(err, kerr.UnsupportedSaslMechanism):
		reason = "it takes no login of this kind"
	case errors.As(err, &certificate):
		reason = "its certificate is not trusted"
	case errors.As(err, &record):
		reason = "it doesn't speak TLS"
	case errors.Is(err, io.EOF):
		reason = "it hung up on the first request: TLS on one side only, or a login is missing"
	case errors.Is(err, context.DeadlineExceeded):
		reason = fmt.Sprintf("no answer within %v", openPatience)
	default:
		return err
	}
	return fmt.Errorf("%s: %w", reason, err)
}

func (k *kafka) Setup(ctx context.Context, t driver.Topology) error {
	k.topology, k.delivered = t, map[string][]atomic.Int64{}
	configs, err := k.topicConfigs()
	if err != nil {
		return err
	}
	replicas := max(1, k.config.Guarantee.Replicas)
	if err := k.awaitBrokers(ctx, replicas); err != nil {
		return err
	}
	names := make([]string, len(t.Topics))
	for i, topic := range t.Topics {
		names[i] = topic.Name
		for _, subscription := range t.Subscriptions {
			if k.config.Guarantee.Delivery != driver.AtLeastOnce {
				k.delivered[group(topic.Name, subscription)] = make([]atomic.Int64, topic.Partitions)
			}
		}
		created, err := k.admin.CreateTopic(ctx, int32(topic.Partitions), int16(replicas), configs, topic.Name)
		if errors.Is(err, kerr.InvalidConfig) || errors.Is(err, kerr.PolicyViolation) {
			return driver.Unsupported("topic configuration", "the broker says: %s", cmp.Or(created.ErrMessage, err.Error()))
		} else if err != nil {
			return fmt.Errorf("creating topic %s with %d partition(s): %w: %s", topic.Name, topic.Partitions, err, created.ErrMessage)
		}
	}
	return k.awaitLeaders(ctx, replicas, names)
}

// topicConfigs maps the guarantee to topic configuration, beside what the user asked for.
func (k *kafka) topicConfigs() (map[string]*string, error) {
	g := k.config.Guarantee
	need := map[string]string{"max.message.bytes": strconv.Itoa(requestLimit)} // the payload's size decides, not the topic
	if g.Acks == driver.AcksQuorum {
		need["min.insync.replicas"] = strconv.Itoa(max(1, g.Replicas)/2 + 1)
	}
	if g.Persistence == driver.Fsync {
		need["flush.messages"] = "1"
	}
	configs := map[string]*string{}
	for name, value := range need {
		configs[name] = &value
	}
	for name := range k.config.Topic {
		value := k.config.Topic.String(name)
		if value == "" {
			continue
		}
		if needed, guaranteed := need[name]; guaranteed && name != "max.message.bytes" && value != needed {
			return nil, driver.Unsupported("topic."+name+": "+value, "the guarantee needs %s", needed)
		}
		configs[name] = &value
	}
	return configs, nil
}

// awaitBrokers gives a cluster that has just come up a moment to count its members before it refuses.
func (k *kafka) awaitBrokers(ctx context.Context, replicas int) error {
	for deadline := time.Now().Add(openPatience); ; time.Sleep(pollInterval) {
		brokers, err := k.admin.ListBrokers(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("listing brokers: %w", err)
		case len(brokers) >= replicas:
			return nil
		case time.Now().After(deadline):
			return driver.Unsupported(fmt.Sprintf("replicas: %d", replicas), "the cluster has %d broker(s)", len(brokers))
		}
	}
}

// awaitLeaders waits until every partition has a leader and all replicas are in sync.
func (k *kafka) awaitLeaders(ctx context.Context, replicas int, names []string) error {
	for ; ; time.Sleep(pollInterval) {
		topics, err := k.admin.ListTopics(ctx, names...)
		if err != nil {
			return fmt.Errorf("waiting for leaders: %w", err)
		}
		led := len(topics) == len(names)
		topics.EachPartition(func(p kadm.PartitionDetail) { led = led && p.Err == nil && p.Leader >= 0 && len(p.ISR) >= replicas })
		if led && topics.Error() == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("not every partition has got a leader and %d replica(s) in sync: %w", replicas, ctx.Err())
		}
	}
}

// group names the consumer group of a subscription; one group consumes one topic.
func group(topic, subscription string) string { return topic + "." + subscription }

func (k *kafka) Close() error {
	k.admin.Close()
	return nil
}

// lockedWriter serialises the lines of several clients.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
