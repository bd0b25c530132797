// Package rabbitmqstream drives and starts RabbitMQ's streams through their own protocol and client. It knows nothing
// of time stamps, histograms or phases.
package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/driver"
)

const broker = "rabbitmq-stream"

const (
	copiesTimeout = 10 * time.Second // for a new stream's copies to be there
	copiesPause   = 20 * time.Millisecond
)

func driverKind() driver.Kind {
	return driver.Kind{
		Without:  map[driver.Class]string{driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:   "github.com/rabbitmq/rabbitmq-stream-go-client",
		Settings: settings,
		Logins:   []driver.Login{driver.ByCertificate},
		Headers:  driver.Always,
		Failover: true, Supports: supports, Fits: fits, Maps: natives, Keeps: keeps, ServerKeeps: drops.By("rabbitmq-stream"), Attaching: attaching, Open: open,
	}
}

// streams is the driver of one running broker or cluster. It keeps no connection of its own: the client can't say whether
// one is still alive.
type streams struct {
	cfg  driver.Config
	topo driver.Topology

	mu     sync.Mutex
	places map[string]*place // by subscription and stream
}

// supports refuses what no stream can promise.
func supports(g driver.Guarantee) error {
	switch {
	case g.Persistence == driver.Memory:
		return driver.Unsupported("persistence: memory", "a stream is written to its log whatever is asked")
	case g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "RabbitMQ never flushes a stream to the disk before it confirms, it leaves that to the operating system")
	case g.Delivery != driver.AtMostOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "%s needs the publisher confirm", g.Delivery)
	case g.Delivery == driver.AtMostOnce && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once doesn't wait for confirms; use none")
	case g.Replicas > 1 && g.Acks == driver.AcksLeader:
		return driver.Unsupported("acks: leader", "a stream confirms when a majority has the message, never earlier; use quorum")
	}
	return nil
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	if c.Log != nil {
		clientLog.to.Store(&c.Log)
	}
	d := &streams{cfg: c, places: map[string]*place{}}
	l, err := d.dial(ctx, 0)
	if err != nil {
		return nil, driver.Explain(broker, c.Target.Addresses, c.Target, err)
	}
	l.close()
	return d, nil
}

// Setup creates a stream for every topic, or a super stream if it has several partitions. It refuses an existing stream: a
// subscription would begin with old messages in it.
func (d *streams) Setup(ctx context.Context, t driver.Topology) error {
	l, err := d.dial(ctx, 0)
	if err != nil {
		return err
	}
	defer l.close()
	d.topo = t
	_, err = within(ctx, func() (struct{}, error) { return struct{}{}, d.declare(l, t) }, nil)
	return err
}

func (d *streams) declare(l *link, topology driver.Topology) error {
	asked := d.cfg
	asked.Target.Version = l.version
	if err := fits(asked, topology.Shape()); err != nil {
		return err
	}
	if topology.Existing {
		return nil
	}
	for _, t := range topology.Topics {
		for _, name := range streamsOf(t) {
			if there, err := l.StreamExists(name); err != nil {
				return err
			} else if there {
				return fmt.Errorf("stream %s exists already", name)
			}
		}
		if err := d.create(l, t); err != nil {
			return fmt.Errorf("declare stream %s: %w", t.Name, err)
		}
	}
	for _, t := range topology.Topics {
		for _, name := range streamsOf(t) {
			if err := d.replicated(l, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *streams) create(l *link, t driver.Topic) error {
	length, segment := bytesOf(d.cfg.Topic.Int("max-length-bytes")), bytesOf(d.cfg.Topic.Int("stream-max-segment-size-bytes"))
	age := d.cfg.Topic.Duration("max-age")
	if t.Partitions > 1 {
		o := stream.NewPartitionsOptions(t.Partitions).SetMaxAge(age).SetMaxLengthBytes(length).SetMaxSegmentSizeBytes(segment)
		return l.DeclareSuperStream(t.Name, o.SetBalancedLeaderLocator())
	}
	return l.DeclareStream(t.Name, stream.NewStreamOptions().SetMaxAge(age).SetMaxLengthBytes(length).SetMaxSegmentSizeBytes(segment))
}

// bytesOf returns nil for unset, which leaves the server's default.
func bytesOf(n int64) *stream.ByteCapacity {
	if n == unset {
		return nil
	}
	return stream.ByteCapacity{}.B(n)
}

// replicated waits until the stream has the copies asked for. The client has no way to ask for a number, and the server
// puts one on every node, but starts them one after the other.
func (d *streams) replicated(l *link, name string) error {
	asked, patience, nodes := max(1, d.cfg.Guarantee.Replicas), copiesTimeout, len(d.cfg.Target.Addresses)
	if asked < nodes { // the others would come while it is measured
		return everyNode(asked, nodes)
	}
	if asked > nodes {
		patience = copiesTimeout / 5 // not likely that there are more nodes than we know
	}
	if err := d.reachesLeader(l, name); err != nil {
		return err
	}
	copies := 0
	for end := time.Now().Add(patience); copies < asked && time.Now().Before(end); {
		m, err := l.StreamMetaData(name)
		if errors.Is(err, stream.StreamNotAvailable) || errors.Is(err, stream.LeaderNotReady) {
			time.Sleep(copiesPause)
			continue
		}
		if err != nil {
			return fmt.Errorf("look for the leader of stream %s: %w", name, err)
		}
		running := slices.DeleteFunc(m.Replicas, func(b *stream.Broker) bool { return b == nil })
		if copies = 1 + len(running); copies < asked {
			time.Sleep(copiesPause)
		}
	}
	if copies != asked {
		return everyNode(asked, copies)
	}
	return nil
}

// reachesLeader returns an error if the stream's leader advertises an address that can't be reached. It does nothing if the
// leader isn't known yet.
func (d *streams) reachesLeader(l *link, name string) error {
	m, err := l.StreamMetaData(name)
	if err != nil || m.Leader == nil {
		return nil //nolint:nilerr // replicated reports it
	}
	told := net.JoinHostPort(m.Leader.Host, m.Leader.Port)
	return driver.Advertised(context.Background(), broker, strings.Join(d.cfg.Target.Addresses, ", "), "stream.advertised_host, stream.advertised_port",
		d.cfg.Target.Addresses, []string{told})
}

func everyNode(asked, there int) error {
	return driver.Unsupported(fmt.Sprintf("replicas: %d", asked),
		"the client declares streams with a copy on every node of the cluster; there are %d", there)
}

// attaching implements driver.Kind.Attaching.
func attaching(_ map[string]any, t driver.Target) []string {
	if n := len(t.Addresses); n > 1 {
		return []string{fmt.Sprintf("replicas=%d", n)}
	}
	return nil
}

// streamsOf returns the names of the topic's streams, which are RabbitMQ's own for a super stream.
func streamsOf(t driver.Topic) []string {
	if t.Partitions < 2 {
		return []string{t.Name}
	}
	names := make([]string, t.Partitions)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", t.Name, i)
	}
	return names
}

// Clean deletes the streams of Setup, and with them the offsets that consumers have stored in them.
func (d *streams) Clean(ctx context.Context) error {
	l, err := d.dial(ctx, 0)
	if err != nil {
		return err
	}
	defer l.close()
	_, err = within(ctx, func() (struct{}, error) { return struct{}{}, d.remove(l) }, nil)
	return err
}

func (d *streams) remove(l *link) error {
	var errs []error
	for _, t := range d.topo.Topics {
		remove := l.DeleteStream
		if t.Partitions > 1 {
			remove = l.DeleteSuperStream
		}
		if err := remove(t.Name); err != nil && !errors.Is(err, stream.StreamDoesNotExist) {
			errs = append(errs, fmt.Errorf("delete stream %s: %w", t.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Silence implements driver.Silent.
func (*streams) Silence() string { return rabbitserver.Silence }

// Close has nothing to close: producers and consumers own their connections.
func (d *streams) Close() error { return nil }
