package rocketmq

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	maxQueues = 256
	// attempts is how often a message may come again before it is put into a dead-letter topic: never here.
	attempts = 1_000_000
	longest  = 100 // characters of a name; the broker allows 127, and puts a prefix before a group's
	readable = 6   // permission to read and write
)

// foreign are characters that no name of RocketMQ may have.
var foreign = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// name returns text as RocketMQ allows it; a changed name gets a digest that keeps it apart from others.
func name(text string) string {
	plain := foreign.ReplaceAllString(text, "_")
	if plain == text && len(plain) <= longest {
		return plain
	}
	digest := sha256.Sum256([]byte(text))
	return plain[:min(len(plain), longest-13)] + "_" + hex.EncodeToString(digest[:6])
}

func (s *session) topicName(topic int) string { return name(s.topology.Topics[topic].Name) }

// groupName returns the consumer group of a subscription; each topic has its own, since the broker wants all members of a
// group to read the same topics.
func (s *session) groupName(topic, subscription int) string {
	return name(s.topology.Topics[topic].Name + "-" + s.topology.Subscriptions[subscription])
}

func (s *session) ordered() bool { return s.config.Guarantee.Ordering == driver.Ordered }

// Setup creates topics and groups, and places each group at the beginning of each queue: otherwise a group that first
// connects later would skip the messages that are there.
func (s *session) Setup(ctx context.Context, t driver.Topology) error {
	if err := fits(s.config, t.Shape()); err != nil {
		return err
	}
	said, err := s.admin.settings(ctx)
	if err != nil {
		return fmt.Errorf("asking the broker at %s, where topics are made, for its settings: %w", s.admin.address, err)
	}
	if err := stores(s.config.Guarantee, func(name string) string { return said[name] }); err != nil {
		return err
	}
	s.topology = t
	if t.Existing {
		return nil
	}
	s.made = true
	for topic := range t.Topics {
		if err := s.makeTopic(ctx, topic); err != nil {
			return fmt.Errorf("making topic %s: %w", s.topicName(topic), err)
		}
	}
	return nil
}

// attributes of a topic, as the broker has them.
func attributes(g driver.Guarantee) string {
	if g.Ordering == driver.Ordered {
		return "+message.type=FIFO"
	}
	return "+message.type=NORMAL"
}

// group returns a consumer group as the broker has it.
func group(g driver.Guarantee, name string) map[string]any {
	return map[string]any{
		"groupName": name, "consumeEnable": true, "consumeFromMinEnable": true, "consumeMessageOrderly": g.Ordering == driver.Ordered,
		"retryQueueNums": 1, "retryMaxTimes": attempts, "brokerId": 0, "whichBrokerWhenConsumeSlowly": 1, "notifyConsumerIdsChangedEnable": true,
	}
}

func (s *session) makeTopic(ctx context.Context, topic int) error {
	g, queues := s.config.Guarantee, max(1, s.topology.Topics[topic].Partitions)
	number := strconv.Itoa(queues)
	if _, err := s.admin.ask(ctx, makeTopic, map[string]string{
		"topic": s.topicName(topic), "defaultTopic": "TBW102", "readQueueNums": number, "writeQueueNums": number, "perm": strconv.Itoa(readable),
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false", "attributes": attributes(g),
	}, nil); err != nil {
		return err
	}
	for subscription := range s.topology.Subscriptions {
		name := s.groupName(topic, subscription)
		if _, err := s.admin.ask(ctx, makeGroup, nil, group(g, name)); err != nil {
			return fmt.Errorf("making its group %s: %w", name, err)
		}
		for queue := range queues {
			if _, err := s.admin.ask(ctx, setOffset, map[string]string{
				"consumerGroup": name, "topic": s.topicName(topic), "queueId": strconv.Itoa(queue), "commitOffset": "0",
			}, nil); err != nil {
				return fmt.Errorf("placing its group %s: %w", name, err)
			}
		}
	}
	return nil
}

// Clean removes topics and groups; the commit log keeps the messages until its files are old.
func (s *session) Clean(ctx context.Context) error {
	if !s.made {
		return nil
	}
	var errs []error
	for topic := range s.topology.Topics {
		for subscription := range s.topology.Subscriptions {
			_, err := s.admin.ask(ctx, removeGroup, map[string]string{"groupName": s.groupName(topic, subscription), "cleanOffset": "true"}, nil)
			errs = append(errs, err)
		}
		_, err := s.admin.ask(ctx, removeTopic, map[string]string{"topic": s.topicName(topic)}, nil)
		errs = append(errs, err)
	}
	return cmp.Or(errors.Join(errs...))
}
