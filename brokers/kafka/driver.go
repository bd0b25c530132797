// Package kafka drives and starts Apache Kafka: franz-go behind the driver contract, and the recipe for KRaft servers from
// Kafka's own jars. It knows nothing of how messages are made or measured.
package kafka

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	openPatience  = 5 * time.Second
	leavePatience = 2 * time.Second
	retryPause    = 200 * time.Millisecond // between attempts to reach a broker
	pollInterval  = 20 * time.Millisecond
	// requestLimit is the broker's socket.request.max.bytes and franz-go's own bound, less room for the headers.
	requestLimit = 100<<20 - 4096
	// headroom is the size that a record and its batch add to a payload, including a key of a few hundred bytes.
	headroom = 1024
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Threading: "by the load"},
		Client:  "github.com/twmb/franz-go", Settings: settings, Supports: supports, Fits: fits, Maps: natives, Keeps: keeps, ServerKeeps: drops.By("kafka"), Server: completed, Open: open, Found: finds,
		Failover: true, Shared: true, Relays: true, Redelivers: redelivers, Pasted: pasted, Headers: driver.Always,
		Logins: []driver.Login{driver.ByToken, driver.ByOAuth, driver.ByAWS},
	}
}

// supports implements the guarantee table of the README.
func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "Kafka always writes to its log; ask for log")
	case g.Persistence == driver.Fsync && g.Acks == driver.AcksNone:
		return driver.Unsupported("persistence: fsync with acks: none", "the producer doesn't wait for the broker, so nothing is flushed before the acknowledgement")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("delivery: at-least-once with acks: none", "without an answer the producer can't know what to send again")
	case g.Delivery == driver.ExactlyOnce && g.Acks != driver.AcksQuorum:
		return driver.Unsupported(fmt.Sprintf("delivery: exactly-once with acks: %s", g.Acks), "transactions need acks: quorum (acks=all)")
	}
	return nil
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	_, err := topicConfigs(c)
	return cmp.Or(fitsLogin(c), driver.FitsAck(c.Guarantee, c.Client), fitsShare(c.Guarantee, c.Client), fitsRelay(c, s), checkClient(c.Guarantee, c.Client), err, fitting(c, s.MaxBytes), fitsKeys(c, s), fitsVersion(c),
		keepsOrder(c.Guarantee, c.Client, s.Partitions), holds(c.Client, s.MaxBytes))
}

// fitting refuses messages of this size, and batches, that are too large for the limit of topic or server, or for a request.
func fitting(c driver.Config, size int) error {
	need, setting, given := size+headroom, "topicConfig."+largestBatch, c.Topic[largestBatch]
	if asked, ok := c.Target.Server[serverName(largestBatch)]; ok && given == "" {
		setting, given = "server."+serverName(largestBatch), asked
	}
	switch limit, _ := strconv.Atoi(provision.Text(given)); {
	case limit > 0 && need > limit:
		return driver.Unsupported(fmt.Sprintf("%s: %d", setting, limit), "messages of %d bytes need %d", size, need)
	case limit > 0 && batchSize(c.Client, size) > limit:
		return driver.Unsupported(fmt.Sprintf("%s: %d", setting, limit), "it bounds batches, which by client.batch.size have up to %d bytes", batchSize(c.Client, size))
	case need > requestLimit:
		return driver.Unsupported(fmt.Sprintf("messageSize: %d", size), "the broker takes requests of up to 100 MiB")
	}
	return nil
}

// keysNeeded is the requirement of a compacted topic, as a clause.
const keysNeeded = "a compacted topic takes messages with keys only; set keyDistributor, such as KEY_ROUND_ROBIN"

// fitsKeys refuses compacted topics if messages have no keys.
func fitsKeys(c driver.Config, s driver.Shape) error {
	for setting, given := range map[string]any{"topicConfig.cleanup.policy": c.Topic["cleanup.policy"], "server.log.cleanup.policy": c.Target.Server["log.cleanup.policy"]} {
		compacts := strings.Contains(fmt.Sprint(given), "compact")
		replaced := setting[0] == 's' && c.Topic["cleanup.policy"] != ""
		if s.Keyless && compacts && !replaced {
			return driver.Unsupported(fmt.Sprintf("%s: %v", setting, given), keysNeeded)
		}
	}
	return nil
}

type kafka struct {
	config   driver.Config
	common   []kgo.Opt
	admin    *kadm.Client
	client   *kgo.Client // admin's own
	misled   bool        // a broker could not be reached at the address that it advertises
	topology driver.Topology
	// delivered holds, per consumer group, the next offset of each partition to be delivered. It is kept only if nothing may be
	// delivered twice: a group that loses its members starts again at the last committed offset.
	delivered map[string][]atomic.Int64
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	k := &kafka{config: c, common: connection(c)}
	// The first request of a connection ignores contexts, and waits for 10 s.
	client, err := kgo.NewClient(append(slices.Clip(k.common), kgo.RequestTimeoutOverhead(openPatience))...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	// From here on a broken connection means that the broker restarts; before, it means wrong credentials. The client retries at
	// a steady pace: its own pauses grow up to 5 s, longer than a short outage.
	k.common = append(k.common, kgo.AlwaysRetryEOF(),
		kgo.RetryBackoffFn(func(int) time.Duration { return retryPause }), kgo.RequestRetries(math.MaxInt32))
	k.admin, k.client = kadm.NewClient(client), client
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, explain(c.Target, err)
	}
	if alone, err := k.reachesAll(ctx); err != nil && alone {
		client.Close()
		return nil, err
	} else if err != nil { // a node that has just died is advertised for some seconds: Setup asks again
		k.misled = true
	}
	if err := k.flushesCommits(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return k, nil
}

// reachesAll checks the addresses that the brokers advertise, and returns an error for those that can't be reached. alone: there
// is one broker. If a cluster doesn't answer, Setup asks it again later.
func (k *kafka) reachesAll(ctx context.Context) (alone bool, err error) {
	brokers, err := k.admin.ListBrokers(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // it has answered before
	}
	var told []string
	for _, b := range brokers {
		told = append(told, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	given := k.config.Target.Addresses
	return len(brokers) == 1, driver.Advertised(ctx, "kafka", strings.Join(given, ", "), "advertised.listeners", given, told)
}

func connection(c driver.Config) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Target.Addresses...), kgo.ClientID("brokermark"), kgo.DisableClientMetrics(),
		kgo.DialTimeout(openPatience), kgo.MetadataMaxAge(millis(c.Client, "metadata.max.age.ms")),
		kgo.MetadataMinAge(min(250*time.Millisecond, millis(c.Client, "metadata.max.age.ms"))),
	}
	if c.Log != nil {
		opts = append(opts, kgo.WithLogger(kgo.BasicLogger(c.Log, kgo.LogLevelWarn, nil)))
	}
	if c.Target.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(c.Target.TLS.Clone()))
	}
	if m := login(c.Target, c.Client.String(mechanism)); m != nil {
		opts = append(opts, kgo.SASL(m))
	}
	return opts
}

func (k *kafka) Close() error {
	k.admin.Close()
	return nil
}

// Silence implements driver.Silent.
func (k *kafka) Silence() string {
	return driver.If(k.config.Guarantee.Acks == driver.AcksNone, "with acks: none Kafka closes the connection of a producer whose messages it refuses, and does not say why; with acks: leader it does")
}
