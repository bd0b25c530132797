package rabbitmq

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	g, d := c.Guarantee, settled(c)
	kind := exchangeKind(c.Topic.String("exchange"), s.Subscriptions, s.Partitions)
	switch heartbeat := c.Client.Duration("heartbeat"); {
	case c.Client.Bool("mandatory") && !d.confirm:
		return driver.Unsupported("client.mandatory", "without confirms a message is settled before it could be returned")
	case heartbeat%time.Second != 0:
		return driver.Unsupported("client.heartbeat", "%s is not a whole number of seconds", heartbeat)
	case !d.quorum && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "a classic queue of RabbitMQ 4 confirms what it has handed to the operating system; use a quorum queue")
	case kind == "fanout" && s.Partitions > 1:
		return driver.Unsupported("topicConfig.exchange: fanout", "it gives every partition a copy; a topic has %d partitions", s.Partitions)
	case kind == "default" && s.Topics > 0 && s.Subscriptions == 0:
		return driver.Unsupported("topicConfig.exchange: default", "it reaches a queue, and without a subscription there is none")
	case kind == "default" && s.Subscriptions > 1:
		return driver.Unsupported("topicConfig.exchange: default", "it reaches one queue per message; there are %d subscriptions", s.Subscriptions)
	}
	return cmp.Or(driver.FitsAck(g, c.Client), mirrored(c, d.quorum), channelsFor(c, s), lowered(c), versionAllows(c.Target.Version, c.Topic))
}

// mirrored refuses a policy that the server doesn't support, and copies of a classic queue other than those of the policy.
func mirrored(c driver.Config, quorum bool) error {
	policy, err := rabbitserver.Policy(c.Target.Version, c.Target.Server)
	if refused := (*provision.ErrSetting)(nil); errors.As(err, &refused) {
		return &driver.ErrUnsupported{Setting: refused.SettingPath(), Reason: refused.Reason, Path: refused.SettingPath()}
	}
	if quorum {
		if policy != nil {
			return driver.Unsupported("topicConfig.x-queue-type: quorum", "the server's policy of mirrored or lazy queues is for classic ones")
		}
		return nil
	}
	replicas, copies := c.Guarantee.Replicas, rabbitserver.Copies(policy, len(c.Target.Addresses))
	if replicas > 1 && replicas != copies {
		return driver.Unsupported(fmt.Sprintf("replicas: %d", replicas), "a classic queue has %d %s here; use a quorum queue, or, before 4.0 and on a server that is started here, server.policy.ha-mode", copies, map[bool]string{true: "copy", false: "copies"}[copies == 1])
	}
	if copies > 1 && replicas <= 1 {
		return driver.Unsupported("server.policy.ha-mode", "the queues would have %d copies; ask for replicas: %d", copies, copies)
	}
	return nil
}

// lowered refuses client settings that the server to be started would lower in the handshake.
func lowered(c driver.Config) error {
	if c.Target.Server == nil {
		return nil
	}
	got := amqp.Config{
		FrameSize: int(min(c.Client.Int("frame_max"), limitOf(c, "frame_max", 131072))),
		Heartbeat: min(c.Client.Duration("heartbeat"), time.Duration(limitOf(c, "heartbeat", 60))*time.Second),
	}
	return agrees(amqp.Config{FrameSize: int(c.Client.Int("frame_max")), Heartbeat: c.Client.Duration("heartbeat")}, got)
}

// agrees refuses settings that the server has lowered in the handshake: each side may lower these.
func agrees(asked, got amqp.Config) error {
	switch {
	case got.Heartbeat != asked.Heartbeat:
		return driver.Unsupported("client.heartbeat", "the server lowers %s to %s", asked.Heartbeat, got.Heartbeat)
	case got.FrameSize != asked.FrameSize:
		return driver.Unsupported("client.frame_max", "the server lowers %d to %d", asked.FrameSize, got.FrameSize)
	}
	return nil
}

// limitOf is a setting of the server to be started, or its default; 0 is no limit.
func limitOf(c driver.Config, name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(provision.Text(c.Target.Server[name]), 10, 64); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// channelsFor refuses more members and queues than a shared connection has channels. Each member has one channel besides those of
// its queues, and so has the connection itself if several share it.
func channelsFor(c driver.Config, s driver.Shape) error {
	sharing, most := int(c.Client.Int("channels")), int(min(channelMax, limitOf(c, "channel_max", channelMax)))
	need := func(members, each int) int {
		if sharing == 1 {
			return each
		}
		return 1 + min(sharing, members)*each
	}
	all := need(s.Producers, 1)
	if s.Subscriptions > 0 {
		all = max(all, need(s.Consumers, 1+s.Queues()))
	}
	if all > most {
		return channelless(most, all)
	}
	return nil
}

// channelless refuses a connection that needs more channels than it has.
func channelless(most, need int) error {
	return driver.Unsupported("connections", "one has %d channel(s) (the server's channel_max), and those who share it need %d; use more connections, or raise it", most, need)
}

// versionAllows refuses settings that a server of this version would accept and ignore; "" is not known.
func versionAllows(version string, topic driver.Values) error {
	if topic.String("x-queue-mode") != "" && reach.AtLeast(version, 3, 12) {
		return driver.Unsupported("topicConfig.x-queue-mode", "RabbitMQ %s ignores it: since 3.12 every classic queue keeps its messages on disk", version)
	}
	if topic.Int("x-queue-version") != unset && reach.AtLeast(version, 4, 0) {
		return driver.Unsupported("topicConfig.x-queue-version", "RabbitMQ %s has version 2 only", version)
	}
	return nil
}

// exchangeKind is the exchange type for asked on topics of this many subscriptions and partitions.
func exchangeKind(asked string, subscriptions, partitions int) string {
	switch {
	case asked != "auto":
		return asked
	case subscriptions == 1:
		return "default"
	case partitions > 1:
		return "direct"
	}
	return "fanout"
}
