package rabbitmq

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/internal/driver"
)

// unset leaves a queue argument out of the declaration, so that the server's own default holds.
const unset = int64(-1)

var settings = []driver.Setting{
	{Scope: driver.ClientScope, Name: "prefetch", Default: int64(1000), Doc: "messages a consumer may hold unacknowledged (basic.qos); 0 is unlimited; without effect for at-most-once"},
	{Scope: driver.ClientScope, Name: "ack.every", Default: int64(100), Doc: "messages acknowledged by one basic.ack (multiple); at most half the prefetch is used"},
	{Scope: driver.ClientScope, Name: "ack.delay", Default: 5 * time.Millisecond, Doc: "longest wait of a delivered message for its basic.ack"},
	{Scope: driver.ClientScope, Name: "mandatory", Default: false, Doc: "have unroutable messages returned, which fails them"},
	{Scope: driver.ClientScope, Name: "write.buffer", Default: int64(64 << 10), Doc: "bytes gathered before a write to the socket, at most one batch; 0 is the client's one write per message"},
	{Scope: driver.ClientScope, Name: "heartbeat", Default: 10 * time.Second, Doc: "AMQP heartbeat in whole seconds"},
	{Scope: driver.ClientScope, Name: "frame_max", Default: int64(131072), Doc: "largest AMQP frame in bytes"},
	{Scope: driver.ClientScope, Name: "vhost", Default: "/", Doc: "virtual host"},

	{Scope: driver.TopicScope, Name: "exchange", Default: "auto", Allowed: []string{"auto", "default", "fanout", "direct", "topic"}, Doc: "auto: the default exchange for one subscription; else fanout, or direct with several partitions"},
	{Scope: driver.TopicScope, Name: "x-queue-type", Default: "auto", Allowed: []string{"auto", "classic", "quorum"}, Doc: "auto: quorum for persistence fsync or several replicas, else classic"},
	{Scope: driver.TopicScope, Name: "x-queue-mode", Default: "", Allowed: []string{"", "default", "lazy"}, Doc: "lazy keeps messages of a classic queue on disk; before 3.12 only"},
	{Scope: driver.TopicScope, Name: "x-queue-version", Default: unset, Doc: "storage version of a classic queue, 1 or 2; before 4.0 only"},
	{Scope: driver.TopicScope, Name: "x-max-length", Default: unset, Doc: "messages a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "x-max-length-bytes", Default: unset, Doc: "bytes a queue may hold; -1: no limit"},
	{Scope: driver.TopicScope, Name: "x-overflow", Default: "", Allowed: []string{"", "drop-head", "reject-publish"}, Doc: "what a full queue does; with reject-publish the message fails"},
	{Scope: driver.TopicScope, Name: "x-message-ttl", Default: unset, Doc: "milliseconds a message may wait; -1: for ever"},
	{Scope: driver.TopicScope, Name: "x-expires", Default: unset, Doc: "milliseconds after which an unused queue goes; -1: never"},
	{Scope: driver.TopicScope, Name: "x-delivery-limit", Default: unset, Doc: "redeliveries before a quorum queue drops a message; -1: the server's default"},
	{Scope: driver.TopicScope, Name: "x-single-active-consumer", Default: false, Doc: "only one consumer of a queue gets messages, the others stand by"},
	{Scope: driver.TopicScope, Name: "x-queue-leader-locator", Default: "", Allowed: []string{"", "client-local", "balanced"}, Doc: "where a new queue's leader is placed"},
}

// arguments are the queue arguments that were asked for or follow from the guarantee, by their native names.
func (d *rabbit) arguments() amqp.Table {
	args := amqp.Table{}
	for _, s := range settings {
		if value := d.cfg.Topic[s.Name]; s.Scope == driver.TopicScope && s.Name != "exchange" && value != s.Default {
			args[s.Name] = value
		}
	}
	if delete(args, "x-queue-type"); d.quorum {
		args["x-queue-type"] = "quorum"
		args["x-quorum-initial-group-size"] = int64(max(1, d.cfg.Guarantee.Replicas))
	}
	if d.cfg.Guarantee.Ordering == driver.Ordered {
		args["x-single-active-consumer"] = true
	}
	return args
}
