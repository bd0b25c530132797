package rabbitmq

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/internal/driver"
)

// unset omits a queue argument, so that the server's own default applies.
const unset = int64(-1)

var settings = []driver.Setting{
	driver.ModeSetting("a batch goes out in one write (write.buffer), reads bring up to 64 KiB, and what has come is handed over together"),
	driver.AckSetting(),
	{Scope: driver.ClientScope, Name: "channels", Default: int64(1), Least: int64(1), Most: int64(channelMax - 1), Doc: "producers, and consumers of one subscription of a topic, that share a connection, each with channels of its own", Tries: []string{"4"}},
	{Scope: driver.ClientScope, Name: "prefetch", Class: driver.Prefetching, Default: int64(1000), Least: int64(0), Most: int64(65535), Idle: driver.WithoutAcks, Doc: "messages a consumer may hold unacknowledged (basic.qos); 0 is unlimited", Tries: []string{"100", "300", "5000"}},
	{Scope: driver.ClientScope, Name: "ack.every", Class: driver.Acknowledging, Default: int64(1), Least: int64(1), Idle: driver.WithoutAcks, Doc: "messages acknowledged by one basic.ack (multiple); at most half the prefetch is used", Tries: []string{"10", "100"}},
	{Scope: driver.ClientScope, Name: "ack.delay", Class: driver.Acknowledging, Default: 5 * time.Millisecond, Idle: ackedAlone, Doc: "longest wait of a delivered message for its basic.ack"},
	{Scope: driver.ClientScope, Name: "mandatory", Default: false, Doc: "have unroutable messages returned, which fails them"},
	{Scope: driver.ClientScope, Name: "write.buffer", Class: driver.Batching, Default: int64(64 << 10), Least: int64(0), Most: int64(1 << 30), Idle: driver.TunedOnly, Doc: "bytes gathered before a write to the socket, at most one batch; 0 is the client's one write per message"},
	{Scope: driver.ClientScope, Name: "heartbeat", Default: 10 * time.Second, Least: time.Second, Most: 65535 * time.Second, Doc: "AMQP heartbeat in whole seconds"},
	{Scope: driver.ClientScope, Name: "frame_max", Default: int64(131072), Least: int64(4096), Most: int64(1 << 30), Doc: "largest AMQP frame in bytes"},
	{Scope: driver.ClientScope, Name: "vhost", Default: "/", Doc: "virtual host"},

	{Scope: driver.TopicScope, Name: "exchange", Default: "auto", Allowed: []string{"auto", "default", "fanout", "direct", "topic"}, Doc: "auto: the default exchange for one subscription; else fanout, or direct with several partitions"},
	{Scope: driver.TopicScope, Name: "x-queue-type", Default: "auto", Allowed: []string{"auto", "classic", "quorum"}, Doc: "auto: quorum for persistence fsync or several replicas, else classic"},
	{Scope: driver.TopicScope, Name: "x-queue-mode", Default: "", Idle: ofClassic, Allowed: []string{"", "default", "lazy"}, Doc: "lazy keeps messages of a classic queue on disk; before 3.12 only"},
	{Scope: driver.TopicScope, Name: "x-queue-version", Default: unset, Least: int64(1), Most: int64(2), Idle: ofClassic, Doc: "storage version of a classic queue, 1 or 2; before 4.0 only"},
	{Scope: driver.TopicScope, Name: "x-max-length", Default: unset, Least: int64(0), Doc: "messages a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "x-max-length-bytes", Default: unset, Least: int64(0), Doc: "bytes a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "x-overflow", Default: "", Idle: unlimited, Allowed: []string{"", "drop-head", "reject-publish"}, Doc: "what a full queue does; with reject-publish the message fails"},
	{Scope: driver.TopicScope, Name: "x-message-ttl", Default: unset, Least: int64(0), Doc: "milliseconds a message may wait; -1: for ever"},
	{Scope: driver.TopicScope, Name: "x-expires", Default: unset, Least: int64(1), Doc: "milliseconds after which an unused queue goes; -1: never"},
	{Scope: driver.TopicScope, Name: "x-delivery-limit", Default: unset, Least: int64(0), Idle: ofQuorum, Doc: "redeliveries before a quorum queue drops a message; -1: the server's default"},
	{Scope: driver.TopicScope, Name: "x-single-active-consumer", Default: false, Doc: "only one consumer of a queue gets messages, the others stand by"},
	{Scope: driver.TopicScope, Name: "x-queue-leader-locator", Default: "", Allowed: []string{"", "client-local", "balanced"}, Doc: "where a new queue's leader is placed"},
}

func ackedAlone(g driver.Guarantee, v driver.Values) string {
	if v.Int("ack.every") == 1 {
		return "ack.every is 1, so that no message waits for others"
	}
	return driver.WithoutAcks(g, v)
}

func ofClassic(g driver.Guarantee, v driver.Values) string {
	return driver.If(quorum(g, v), "quorum queues have no such argument")
}

func ofQuorum(g driver.Guarantee, v driver.Values) string {
	return driver.If(!quorum(g, v), "classic queues have no such argument")
}

// keeps implements driver.Kind.Keeps. Messages that a limit refuses (x-overflow: reject-publish) are not lost: the producer learns of it.
func keeps(_, topic driver.Values, size int64) driver.Limit {
	var limit driver.Limit
	for _, name := range []string{"x-message-ttl", "x-expires"} {
		if n := topic.Int(name); n != unset {
			limit = limit.Least(driver.OldAge(name, n, time.Duration(n)*time.Millisecond))
		}
	}
	if topic.String("x-overflow") == "reject-publish" {
		return limit
	}
	return limit.Least(driver.Fullest(topic, 0, map[string]int64{"x-max-length": 1, "x-max-length-bytes": size}))
}

func unlimited(_ driver.Guarantee, v driver.Values) string {
	return driver.If(v.Int("x-max-length") == unset && v.Int("x-max-length-bytes") == unset, "neither x-max-length nor x-max-length-bytes limits the queue")
}

// arguments are the queue arguments from the spec or the guarantee, by their native names.
func (d *rabbit) arguments() amqp.Table {
	args := amqp.Table(driver.Changed(settings, d.cfg.Topic))
	delete(args, "exchange")
	if delete(args, "x-queue-type"); d.quorum {
		args["x-queue-type"] = "quorum"
		args["x-quorum-initial-group-size"] = int64(max(1, d.cfg.Guarantee.Replicas))
	}
	if d.cfg.Guarantee.Ordering == driver.Ordered {
		args["x-single-active-consumer"] = true
	}
	return args
}
