package rabbitmqstream

import (
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/brokermark/brokermark/internal/driver"
)

// unset leaves an argument out of the declaration, so that the server's own default holds.
const unset = int64(-1)

var settings = []driver.Setting{
	driver.ModeSetting("the driver encodes messages and fills publish frames itself (BatchSend) instead of sending message by message (Send)"),
	{Scope: driver.ClientScope, Name: "batch.size", Class: driver.Batching, Default: int64(1000), Doc: "messages in one publish frame at most; what has been handed over while the last frame was written goes into the next", Tries: []string{"100", "5000"}},
	{Scope: driver.ClientScope, Name: "sub.entry.size", Default: int64(1), Doc: "messages stored and confirmed as one entry; above 1 they share a publishing id", Tries: []string{"10", "100"}},
	{Scope: driver.ClientScope, Name: "compression", Default: "none", Allowed: []string{"none", "gzip", "snappy", "lz4", "zstd"}, Doc: "of sub-entries"},
	{Scope: driver.ClientScope, Name: "initial.credits", Class: driver.Prefetching, Default: int64(10), Doc: "chunks that the server may send ahead to a consumer, 1 to 30000", Tries: []string{"2", "50"}},
	{Scope: driver.ClientScope, Name: "crc.check", Default: true, Doc: "consumers check the sum of every chunk"},
	{Scope: driver.ClientScope, Name: "offset.store.every", Class: driver.Acknowledging, Default: int64(10_000), Least: int64(1), Idle: unstored, Doc: "delivered messages after which a consumer stores its offset"},
	{Scope: driver.ClientScope, Name: "offset.store.delay", Class: driver.Acknowledging, Default: 5 * time.Second, Idle: unstored, Doc: "longest time from a delivery to the store of its offset"},
	{Scope: driver.ClientScope, Name: "heartbeat", Default: 60 * time.Second, Doc: "in whole seconds, 3 at least"},
	{Scope: driver.ClientScope, Name: "frame.max", Default: int64(1 << 20), Least: int64(4096), Most: int64(1 << 30), Doc: "largest frame in bytes; bounds a message"},
	{Scope: driver.ClientScope, Name: "write.buffer", Default: int64(0), Least: int64(0), Most: int64(1 << 30), Doc: "SO_SNDBUF in bytes; 0 leaves it to the system"},
	{Scope: driver.ClientScope, Name: "read.buffer", Default: int64(0), Least: int64(0), Most: int64(1 << 30), Doc: "SO_RCVBUF in bytes; 0 leaves it to the system"},
	{Scope: driver.ClientScope, Name: "vhost", Default: "/", Doc: "virtual host"},

	{Scope: driver.TopicScope, Name: "max-length-bytes", Default: unset, Least: int64(1), Doc: "size at which a stream's oldest segments go; -1: no limit"},
	{Scope: driver.TopicScope, Name: "max-age", Default: time.Duration(0), Doc: "age at which a stream's segments go, in whole seconds; 0s: never"},
	{Scope: driver.TopicScope, Name: "stream-max-segment-size-bytes", Default: unset, Least: int64(1), Doc: "size of a segment file; -1: the server's 500,000,000"},
}

func unstored(g driver.Guarantee, _ driver.Values) string {
	return driver.If(g.Delivery == driver.AtMostOnce, "at most once a consumer stores no offset")
}

var codecs = map[string]func(stream.Compression) stream.Compression{
	"none":   stream.Compression.None,
	"gzip":   stream.Compression.Gzip,
	"snappy": stream.Compression.Snappy,
	"lz4":    stream.Compression.Lz4,
	"zstd":   stream.Compression.Zstd,
}
