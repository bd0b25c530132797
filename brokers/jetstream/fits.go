package jetstream

import (
	"cmp"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

// fits implements driver.Kind.Fits.
func fits(c driver.Config, s driver.Shape) error {
	policy, err := ackPolicy(c.Guarantee, c.Client)
	_, errWindow := window(c.Topic)
	if err := cmp.Or(driver.FitsAck(c.Guarantee, c.Client), err, errWindow, fitsOrdered(c, s), fitsRetention(c.Topic, policy, s), fitsPull(c.Client)); err != nil {
		return err
	}
	if n := c.Client.Int("ReconnectBufSize"); n > 0 && c.Guarantee.Delivery != driver.AtMostOnce {
		return driver.Unsupported(fmt.Sprintf("client.ReconnectBufSize: %d", n), "what was not acknowledged when the connection was lost is sent again, and what the client had kept would overtake it; -1")
	}
	if policy == jetstream.AckAllPolicy && s.Consumers > 1 {
		return driver.Unsupported("client.AckPolicy: all", "it would acknowledge what the subscription's other consumers have not seen yet; one consumer per subscription, or explicit")
	}
	if s.Partitions > 1 {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "a stream has no partitions; more topics are more streams")
	}
	if s.Topics > 0 && c.Guarantee.Persistence == driver.Fsync && c.Target.Server == nil && len(natsio.Monitors(c)) == 0 {
		return unmonitored
	}
	if c.Target.Version != "" {
		err = checkTracking(policy, c.Guarantee, c.Target.Version)
	}
	return cmp.Or(natsio.FitsSize(c.Target, sized(c.Guarantee, s.MaxBytes)), err)
}

// sized is the size of a message with this payload as the server counts it, in bytes.
func sized(g driver.Guarantee, payload int) int {
	if g.Delivery == driver.ExactlyOnce && payload > 0 {
		return natsio.WithID(payload)
	}
	return payload
}

// fitsOrdered refuses an ordered consumer that would keep less than the guarantee.
func fitsOrdered(c driver.Config, s driver.Shape) error {
	refuse := func(reason string, args ...any) error {
		return driver.Unsupported("client.consumer: "+ordered, reason, args...)
	}
	switch retention := c.Topic.String("retention"); {
	case !isOrdered(c.Client):
		return nil
	case c.Guarantee.Delivery != driver.AtMostOnce:
		return refuse("it acknowledges nothing, so that the server can't know what is to come again; %s needs %s", c.Guarantee.Delivery, durable)
	case driver.AcksAfter(c.Guarantee, c.Client):
		return refuse("it acknowledges nothing, and consumer.ack: after needs acknowledgements")
	case s.Consumers > 1:
		return refuse("each one gets every message of its stream; one consumer per subscription, or %s", durable)
	case c.Client.String("consume") == fetch:
		return refuse("the client would make it anew for every batch; ask for consume: %s", callback)
	case retention == "interest" || retention == "workqueue":
		return refuse("with topicConfig.retention: %s a stream keeps only what consumers wait for that are there, and this one comes later", retention)
	}
	return nil
}

// fitsRetention refuses consumers that the server doesn't allow on a work queue.
func fitsRetention(topic driver.Values, policy jetstream.AckPolicy, s driver.Shape) error {
	switch {
	case topic.String("retention") != "workqueue":
		return nil
	case s.Subscriptions > 1:
		return driver.Unsupported("topicConfig.retention: workqueue", "a message goes when one subscription has acknowledged it; there are %d", s.Subscriptions)
	case policy != jetstream.AckExplicitPolicy:
		return driver.Unsupported("topicConfig.retention: workqueue", "each message is to be acknowledged by itself, which is client.AckPolicy: explicit")
	}
	return nil
}

func fitsPull(client driver.Values) error {
	if beat, expiry := client.Duration("PullHeartbeat"), client.Duration("PullExpiry"); 2*beat > expiry {
		return driver.Unsupported(fmt.Sprintf("client.PullHeartbeat: %s", beat), "a pull request that is kept for %s (PullExpiry) has at least two heartbeats", expiry)
	}
	return nil
}

// tracks reports whether places in a stream are tracked, and the consumer is set back to a missing message: a message lost on
// its way would come behind later ones or, with AckPolicy all, be acknowledged with them and never come.
func (s *session) tracks() bool {
	return s.config.Guarantee.Ordering == driver.Ordered || s.policy == jetstream.AckAllPolicy
}

// checkTracking refuses order, and AckPolicy all, on a server version that can't set a consumer back.
func checkTracking(policy jetstream.AckPolicy, g driver.Guarantee, version string) error {
	all := policy == jetstream.AckAllPolicy
	if g.Delivery == driver.AtMostOnce || g.Ordering != driver.Ordered && !all || reach.AtLeast(version, 2, 14) {
		return nil
	}
	const needs = "unless the consumer is set back, which needs nats-server 2.14; this is %q"
	if all {
		return driver.Unsupported("client.AckPolicy: all", "a message that is lost on its way to a consumer is acknowledged with later ones, "+needs, version)
	}
	return driver.Unsupported("ordering: ordered", "a message that is lost on its way to a consumer comes again behind later ones, "+needs, version)
}
