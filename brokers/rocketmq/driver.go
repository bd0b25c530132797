// Package rocketmq drives and starts Apache RocketMQ 5: messages over the gRPC protocol of its proxy, topics and consumer
// groups over the broker's own. It knows nothing of time stamps, histograms or phases.
package rocketmq

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/spans"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/resend"
)

const library = "github.com/apache/rocketmq-clients/golang/v5"

func driverKind() driver.Kind {
	return driver.Kind{
		Client: library, Settings: settings, Supports: supports, Fits: fits, Maps: natives, Server: server, ServerKeeps: drops.By("rocketmq"), Attaching: attaching,
		Shared: true, Headers: driver.Always, Open: open,
		Redelivers: func(_ driver.Guarantee, client driver.Values, _ map[string]any) (time.Duration, string) {
			return client.Duration("invisibleDuration"), "client.invisibleDuration"
		},
		Without: map[driver.Class]string{
			driver.Acknowledging: "one AckMessage for what a receive has brought", driver.Publishing: "the run's window", driver.Threading: "by the load",
		},
	}
}

var settings = []driver.Setting{
	driver.OneMode(driver.Tuned, "the makers' client has one log file and one TLS switch for the whole process, checks no certificate, leaves goroutines and connections behind and loses the order of what SendAsync sends; the driver speaks its protocol by itself"),
	{Scope: driver.ClientScope, Name: "batch", Class: driver.Batching, Default: int64(500), Least: int64(1), Doc: "most messages in one SendMessage; those of several partitions that are ordered go one by one", Tries: []string{"50", "2000"}},
	{Scope: driver.ClientScope, Name: "batch.bytes", Default: int64(1 << 20), Least: int64(1), Most: int64(4 << 20), Doc: "most bytes in one SendMessage, unless a message alone has more"},
	{Scope: driver.ClientScope, Name: "sends", Default: int64(2), Least: int64(1), Most: int64(256), Idle: inTurn, Doc: "SendMessage calls that a producer has under way, each by a goroutine of its own"},
	{Scope: driver.ClientScope, Name: "receives", Class: driver.Prefetching, Default: int64(32), Least: int64(1), Most: int64(1024), Idle: inTurn, Doc: "ReceiveMessage calls that a consumer has under way; each brings up to 32 messages, which is the broker's limit", Tries: []string{"8", "128"}},
	{Scope: driver.ClientScope, Name: "invisibleDuration", Default: 15 * time.Second, Least: 10 * time.Second, Most: 12 * time.Hour, Doc: "how long a message that was delivered and not acknowledged is withheld before it comes again"},
	{Scope: driver.ClientScope, Name: "brokerAddr", Default: "", Doc: "host:port of the broker itself, where topics and groups are made; empty: that of a broker started here, else port 10911 beside the proxy"},
}

// inTurn implements driver.Setting.Idle.
func inTurn(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Ordering == driver.Ordered, "what is ordered is sent and received call by call")
}

func supports(g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "the broker silently stores a message twice if it is sent twice; its transactions tie a message to a producer's database, not to a consumer's work")
	case g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "every message is written to the commit log; use log")
	case g.Replicas > 1:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "brokers with replicas are not started here, and no answer of the proxy says how many have a message")
	case !once && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once waits for the answer to SendMessage")
	case g.Persistence == driver.Fsync && g.Acks == driver.AcksNone:
		return driver.Unsupported("persistence: fsync", "with acks: none the producer doesn't wait for the answer, which comes after the flush")
	}
	return nil
}

// The server's settings that a guarantee rests on.
const (
	flushing  = "flushDiskType"
	flushSync = "SYNC_FLUSH"
	flushLate = "ASYNC_FLUSH"
	offHeap   = "transientStorePoolEnable"
	largest   = "proxy.maxMessageSize"
)

// server implements driver.Kind.Server.
func server(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	if g.Persistence != driver.Fsync || asked[flushing] == flushSync {
		return asked, nil
	}
	if v := asked[flushing]; v != nil {
		return nil, driver.Unsupported("server."+flushing, "persistence: fsync needs %s, not %v", flushSync, v)
	}
	return driver.Completed(asked, map[string]any{flushing: flushSync}), nil
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	if c.Target.Server != nil {
		if err := stores(c.Guarantee, func(name string) string {
			if v := c.Target.Server[name]; v != nil {
				return fmt.Sprint(v)
			}
			return ""
		}); err != nil {
			return err
		}
	}
	const usual = 4 << 20
	if most := usual; c.Target.Server[largest] == nil && s.MaxBytes > most {
		return driver.Unsupported("messageBytes", "the proxy takes messages of %d bytes at most, not %d, unless server.%s and server.maxMessageSize are raised", most, s.MaxBytes, largest)
	}
	if s.MaxBytes > 0 && s.Partitions > maxQueues {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "at most %d", maxQueues)
	}
	return nil
}

// stores refuses a server whose settings don't keep g's persistence; setting returns "" for a setting that the server doesn't report.
func stores(g driver.Guarantee, setting func(name string) string) error {
	switch {
	case g.Persistence == driver.Fsync && setting(flushing) != flushSync:
		return driver.Unsupported("persistence: fsync", "it needs a server with %s=%s, and this one has %s", flushing, flushSync, cmp.Or(setting(flushing), flushLate))
	case setting(offHeap) == "true" && setting(flushing) != flushSync:
		return driver.Unsupported("persistence: "+string(g.Persistence), "with %s the broker answers before it has handed a message to the operating system", offHeap)
	}
	return nil
}

func attaching(_ map[string]any, t driver.Target) []string {
	return []string{"client.brokerAddr=" + t.Endpoints[brokerRole]}
}

type session struct {
	config   driver.Config
	admin    *admin
	topology driver.Topology
	made     bool // Setup has made the topics
	once     spans.Deliveries
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	l, err := dial(c, 0)
	if err == nil {
		err = l.answers(ctx)
		l.close()
	}
	if err != nil {
		return nil, driver.Explain("rocketmq", c.Target.Addresses, c.Target, err)
	}
	return &session{config: c, admin: newAdmin(c)}, nil
}

func (s *session) Producer(_ context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	if err := fits(s.config, driver.Shape{MaxBytes: c.MaxBytes}); err != nil {
		return nil, err
	}
	return resend.Producer(s.config.Guarantee, c, r, func(r driver.Receipts) (driver.Producer, error) {
		return newProducer(s, c, r)
	})
}

func (s *session) Close() error {
	s.admin.close()
	return nil
}
