package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/brokermark/brokermark/internal/driver"
)

var topicNames = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// finds implements driver.Kind.Found.
func finds(_ driver.Config, s driver.Shape) error {
	if !topicNames.MatchString(s.Topic) {
		return driver.Unsupported("topicName: "+s.Topic, "a topic's name has letters, digits and . _ - only")
	}
	return nil
}

// find sets the start of t's groups on topics of another application. It only needs the right to read the topics and the groups.
// configs are the settings that our own topics would have.
func (k *kafka) find(ctx context.Context, t driver.Topology, configs map[string]*string) error {
	for _, topic := range t.Topics {
		if err := k.same(ctx, topic, configs); err != nil {
			return err
		}
		if t.Existing {
			continue
		}
		if err := k.position(ctx, topic.Name, t); err != nil {
			return err
		}
	}
	return nil
}

// same refuses a topic that differs from the spec.
func (k *kafka) same(ctx context.Context, topic driver.Topic, configs map[string]*string) error {
	named := "topicName: " + topic.Name
	listed, err := k.admin.ListTopics(ctx, topic.Name)
	if err != nil {
		return fmt.Errorf("describing topic %s: %w", topic.Name, err)
	}
	is := listed[topic.Name]
	switch {
	case errors.Is(is.Err, kerr.UnknownTopicOrPartition):
		return driver.Unsupported(named, "there is none on the broker; without topicName, one is made")
	case is.Err != nil:
		return fmt.Errorf("describing topic %s: %w", topic.Name, is.Err)
	case len(is.Partitions) != topic.Partitions:
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", topic.Partitions), "topic %s has %d; say so", topic.Name, len(is.Partitions))
	case is.Partitions.NumReplicas() != max(1, k.config.Guarantee.Replicas):
		return driver.Unsupported(fmt.Sprintf("replicas: %d", max(1, k.config.Guarantee.Replicas)), "topic %s has %d; say so", topic.Name, is.Partitions.NumReplicas())
	}
	delete(configs, largestBatch) // a message that is too large is refused with its size
	alone := k.config.Guarantee.Replicas < 2
	if alone {
		delete(configs, "min.insync.replicas") // no topic has fewer than 1
	}
	var of kadm.ResourceConfig
	described, err := k.admin.DescribeTopicConfigs(ctx, topic.Name)
	if err == nil {
		of, err = described.On(topic.Name, nil)
		err = cmp.Or(err, of.Err)
	}
	if least, _ := strconv.Atoi(setting(of, "min.insync.replicas")); alone && least > 1 && k.config.Guarantee.Acks == driver.AcksQuorum {
		return driver.Unsupported(named, "its min.insync.replicas is %d, and it has one replica: with acks: quorum it takes no message (NOT_ENOUGH_REPLICAS)", least)
	}
	if len(configs) == 0 { // a user without the right to read them doesn't need it
		return nil
	}
	for _, c := range of.Configs {
		if want, needed := configs[c.Key]; needed && c.MaybeValue() != *want {
			return driver.Unsupported(named, "the guarantee needs %s=%s, and it has %s", c.Key, *want, c.MaybeValue())
		}
	}
	if err != nil {
		return driver.Unsupported(named, "whether it has the settings that the guarantee needs can't be read: %v", err)
	}
	return nil
}

// position commits the offsets at which the groups begin. Otherwise each consumer chooses the start of a group without offsets.
func (k *kafka) position(ctx context.Context, topic string, t driver.Topology) error {
	if shares(k.config.Client) { // they begin with the next message by default
		if !t.Past {
			return nil
		}
		return k.begin(ctx, t.Subscriptions)
	}
	list := k.admin.ListEndOffsets
	if t.Past {
		list = k.admin.ListStartOffsets
	}
	offsets, err := list(ctx, topic)
	if err == nil {
		err = offsets.Error()
	}
	if err != nil {
		return fmt.Errorf("asking where topic %s begins and ends: %w", topic, err)
	}
	for _, subscription := range t.Subscriptions {
		if err := k.admin.CommitAllOffsets(ctx, groupOf(t, topic, subscription), offsets.Offsets()); err != nil {
			return fmt.Errorf("committing the offsets at which group %s begins: %w", groupOf(t, topic, subscription), err)
		}
	}
	return nil
}

// Holds implements driver.Holder. Records removed by compaction and markers of transactions count as messages.
func (k *kafka) Holds(ctx context.Context, topic int) (int64, error) {
	name := k.topology.Topics[topic].Name
	begins, err := k.admin.ListStartOffsets(ctx, name)
	if err != nil {
		return 0, err
	}
	ends, err := k.admin.ListEndOffsets(ctx, name)
	if err = cmp.Or(err, begins.Error(), ends.Error()); err != nil {
		return 0, err
	}
	var held int64
	ends.Each(func(end kadm.ListedOffset) {
		if begin, ok := begins.Lookup(name, end.Partition); ok {
			held += end.Offset - begin.Offset
		}
	})
	return held, nil
}
