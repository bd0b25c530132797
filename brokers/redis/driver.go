// Package redis drives Redis and Valkey: streams with consumer groups (broker "redis") and pub/sub (broker
// "redis-pubsub"). It knows nothing of time stamps, histograms or phases.
package redis

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/brokermark/brokermark/brokers/internal/drops"
	"github.com/brokermark/brokermark/internal/driver"
)

const library = "github.com/redis/go-redis/v9"

func driverKind() driver.Kind {
	return driver.Kind{
		Without: map[driver.Class]string{driver.Acknowledging: "one XACK for what a read has brought", driver.Publishing: "the run's window", driver.Threading: "by the load"},
		Client:  library, Settings: slices.Concat(streamSettings, connectionSettings, sentinelSettings), Supports: supports,
		Fits: fits, Maps: natives, Keeps: keeps, ServerKeeps: drops.By("redis"), Share: driver.TakeTurnsAtPartitions, Headers: driver.Always, Shared: true, Attaching: attaching, Open: open, Found: finds, Marks: marks,
	}
}

// keeps implements driver.Kind.Keeps.
func keeps(_, topic driver.Values, _ int64) driver.Limit {
	return driver.Fullest(topic, 1, map[string]int64{"MAXLEN": 1})
}

var streamSettings = []driver.Setting{
	driver.ModeSetting("commands are made once and used again, the driver takes apart what XREADGROUP replies, and XACK travels with the next XREADGROUP"),
	{Scope: driver.ClientScope, Name: "COUNT", Class: driver.Prefetching, Default: int64(1000), Least: int64(1), Doc: "most messages one XREADGROUP brings, per stream", Tries: []string{"100", "5000"}},
	{Scope: driver.ClientScope, Name: "BLOCK", Default: time.Second, Doc: "how long an XREADGROUP waits for messages; must be less than ReadTimeout"},
	{Scope: driver.ClientScope, Name: "WAIT", Default: time.Second, Idle: unreplicated, Doc: "longest wait of a pipeline for its replicas (acks: quorum); must be less than ReadTimeout"},
	{Scope: driver.TopicScope, Name: "MAXLEN", Default: int64(0), Least: int64(0), Doc: "entries a stream keeps at least, read or not; older ones go (MAXLEN ~); 0: all"},
	{Scope: driver.TopicScope, Name: "trim", Default: "acknowledged", Allowed: []string{"acknowledged", "none"}, Doc: "acknowledged: once a second (of many streams, 50 a second), entries that every subscription has acknowledged are removed (XTRIM MINID ~)"},
}

var connectionSettings = []driver.Setting{
	{Scope: driver.ClientScope, Name: "pipeline", Class: driver.Batching, Default: int64(500), Least: int64(1), Doc: "most commands written before their replies are read, per producer", Tries: []string{"50", "100", "2000"}},
	{Scope: driver.ClientScope, Name: "ReadTimeout", Default: 3 * time.Second, Least: time.Millisecond, Doc: "longest wait for a reply; the connection is given up after it"},
	{Scope: driver.ClientScope, Name: "WriteTimeout", Default: 3 * time.Second, Least: time.Millisecond, Doc: "longest wait of a blocked write"},
	{Scope: driver.ClientScope, Name: "ReadBufferSize", Default: int64(64 << 10), Least: int64(1024), Most: int64(1 << 30), Doc: "bytes, per connection", Tries: []string{"16384", "262144"}},
	{Scope: driver.ClientScope, Name: "WriteBufferSize", Default: int64(64 << 10), Least: int64(1024), Most: int64(1 << 30), Doc: "bytes, per connection", Tries: []string{"16384", "262144"}},
}

func unreplicated(g driver.Guarantee, _ driver.Values) string {
	return driver.If(awaited(g) == 0, "no replica is waited for without acks: quorum and several replicas")
}

func supports(g driver.Guarantee) error {
	once := g.Delivery == driver.AtMostOnce
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "a stream takes the same message twice when it is added twice, and knows no duplicates")
	case !once && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once waits for the reply of XADD")
	case once && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once promises nothing of a reply; use none")
	case once && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "at-most-once asks for no acknowledgement that could come after the flush")
	case g.Replicas > 1 && g.Acks == driver.AcksQuorum && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "WAIT reports that replicas have a message, not that they flushed it; use acks: leader, or log")
	case g.Replicas > maxCopies:
		return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "at most %d", maxCopies)
	}
	return nil
}

type session struct {
	config        driver.Config
	address       string                // of the node that accepts writes
	cluster       *redis.ClusterClient  // nil: one node accepts all writes
	control       redis.UniversalClient // for Setup, trimming and Clean
	streams       [][]string            // by topic, by partition
	subscriptions []string              // groups
	found         bool                  // the streams belong to another application
	before        map[string]string
	stopTrim      context.CancelFunc
	trimmed       chan struct{}
}

// fits implements driver.Kind.Fits.
func fits(c driver.Config, _ driver.Shape) error {
	for _, name := range []string{"BLOCK", "WAIT"} {
		// The server takes 0 for ever.
		if v, most := c.Client.Duration(name), c.Client.Duration("ReadTimeout"); v < time.Millisecond || v >= most {
			return driver.Unsupported("client."+name, "%v is not between 1ms and the ReadTimeout of %v", v, most)
		}
	}
	return fitsSentinel(c)
}

func open(ctx context.Context, c driver.Config) (driver.Driver, error) {
	d, err := connected(ctx, c)
	if err != nil {
		return nil, err
	}
	return streams{d}, nil
}

func newSession(c driver.Config) *session {
	if c.Log != nil {
		clientLog.to.Store(&c.Log)
	}
	return &session{config: c, stopTrim: func() {}}
}

func connected(ctx context.Context, c driver.Config) (*session, error) {
	d := newSession(c)
	var err error
	if d.address, err = d.primary(ctx); err != nil {
		return nil, err
	}
	d.control = d.dial(d.address, nil)
	return d, nil
}

// setupAtOnce is the number of streams whose groups one pipeline creates.
const setupAtOnce = 500

// Setup makes a stream for each partition and on it a group for each subscription.
func (d *session) Setup(ctx context.Context, t driver.Topology) error {
	if err := d.persist(ctx); err != nil {
		return err
	}
	if err := d.copies(ctx); err != nil {
		return err
	}
	d.subscriptions = t.Subscriptions
	for _, topic := range t.Topics {
		var streams []string
		for p := range max(1, topic.Partitions) {
			name := topic.Name
			if topic.Partitions > 1 {
				name += "." + strconv.Itoa(p)
			}
			streams = append(streams, name)
		}
		d.streams = append(d.streams, streams)
	}
	if d.found = t.Found; d.found {
		return d.find(ctx, t)
	}
	if t.Existing { // the process that made them trims them
		return nil
	}
	for some := range slices.Chunk(slices.Concat(d.streams...), setupAtOnce) {
		if err := d.groups(ctx, d.control, some, "$"); err != nil {
			return err
		}
	}
	d.startTrim()
	return nil
}

// groups creates every subscription's group on streams, to be read from an ID on; existing groups are left unchanged.
func (d *session) groups(ctx context.Context, c redis.UniversalClient, streams []string, from string) error {
	if len(d.subscriptions) == 0 {
		return nil
	}
	pipeline := c.Pipeline()
	for _, stream := range streams {
		for _, group := range d.subscriptions {
			pipeline.XGroupCreateMkStream(ctx, stream, group, from)
		}
	}
	commands, _ := pipeline.Exec(ctx) // each command has its own error
	for i, command := range commands {
		if err := command.Err(); err != nil && !strings.HasPrefix(err.Error(), "BUSYGROUP") {
			groups := len(d.subscriptions)
			return fmt.Errorf("create group %s of stream %s: %w", d.subscriptions[i%groups], streams[i/groups], err)
		}
	}
	return nil
}

// choose picks the partition: by the message's key, or in turn.
func choose(names []place, key []byte, turn *int) place {
	if len(names) == 1 {
		return names[0]
	}
	if len(key) > 0 {
		return names[crc32.ChecksumIEEE(key)%uint32(len(names))]
	}
	*turn = (*turn + 1) % len(names)
	return names[*turn]
}

// Clean removes the streams and restores the server's persistence; on streams of another application it only removes the groups.
func (d *session) Clean(ctx context.Context) error {
	d.endTrim()
	if d.found {
		return d.unfind(ctx)
	}
	for some := range slices.Chunk(slices.Concat(d.streams...), setupAtOnce) {
		pipeline := d.control.Pipeline() // a command may name streams of one slot only
		for _, stream := range some {
			pipeline.Unlink(ctx, stream)
		}
		if _, err := pipeline.Exec(ctx); err != nil {
			return fmt.Errorf("remove streams %s: %w", strings.Join(some, ", "), err)
		}
	}
	return d.restore(ctx)
}

func (d *session) Close() error {
	d.endTrim()
	_ = d.control.Close() // an error means that the connection was lost already
	return nil
}
