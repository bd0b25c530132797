package redis

import (
	"context"
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

const marks = ":/" // allowed in names of keys and channels

// hears implements driver.Kind.Found for channels.
func hears(_ driver.Config, s driver.Shape) error {
	if s.Past {
		return driver.Unsupported("read.from: start", "a channel keeps nothing; streams do (broker redis)")
	}
	return nil
}

// finds implements driver.Kind.Found.
func finds(_ driver.Config, s driver.Shape) error {
	if s.Partitions > 1 {
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "a stream has none: several are made for a topic, and topicName: %s is one", s.Topic)
	}
	return nil
}

// find creates the groups of t on streams of another application.
func (d *session) find(ctx context.Context, t driver.Topology) error {
	from := "$"
	if t.Past {
		from = "0"
	}
	for _, topic := range t.Topics {
		if topic.Partitions > 1 {
			return finds(d.config, driver.Shape{Topic: topic.Name, Partitions: topic.Partitions})
		}
		kind, err := d.control.Type(ctx, topic.Name).Result()
		switch {
		case err != nil:
			return fmt.Errorf("ask for the type of %s: %w", topic.Name, err)
		case kind == "none":
			return driver.Unsupported("topicName: "+topic.Name, "there is no such stream; without topicName, one is made")
		case kind != "stream":
			return driver.Unsupported("topicName: "+topic.Name, "it is a %s and no stream", kind)
		case t.Existing:
			continue
		}
		for _, group := range t.Subscriptions {
			if err := d.control.XGroupCreate(ctx, topic.Name, group, from).Err(); err != nil {
				return fmt.Errorf("create group %s of stream %s: %w", group, topic.Name, err)
			}
		}
	}
	return nil
}

// unfind removes the groups.
func (d *session) unfind(ctx context.Context) error {
	for _, streams := range d.streams {
		for _, group := range d.subscriptions {
			if err := d.control.XGroupDestroy(ctx, streams[0], group).Err(); err != nil {
				return fmt.Errorf("remove group %s of stream %s: %w", group, streams[0], err)
			}
		}
	}
	return nil
}

// Holds implements driver.Holder.
func (d streams) Holds(ctx context.Context, topic int) (held int64, err error) {
	for _, stream := range d.streams[topic] {
		n, err := d.control.XLen(ctx, stream).Result()
		if err != nil {
			return 0, err
		}
		held += n
	}
	return held, nil
}
