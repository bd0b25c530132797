package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/internal/driver"
)

// shares reports whether subscriptions are share groups (KIP-932): every consumer reads from every partition, and acknowledges
// each record by itself.
func shares(v driver.Values) bool { return v.String("group.protocol") == shareGroups }

// fitsShare refuses share groups that would keep less than the guarantee.
func fitsShare(g driver.Guarantee, v driver.Values) error {
	refuse := func(reason string, args ...any) error {
		return driver.Unsupported("client.group.protocol: "+shareGroups, reason, args...)
	}
	switch {
	case !shares(v):
		return nil
	case g.Ordering == driver.Ordered:
		return refuse("a partition's records go to several consumers, and what isn't acknowledged comes again behind later ones; ask for unordered")
	case g.Delivery == driver.ExactlyOnce:
		return refuse("an acknowledgement is part of no transaction, and after a lost connection a record comes again; ask for at-least-once")
	case g.Delivery == driver.AtMostOnce:
		return refuse("a record comes again unless its acknowledgement has arrived; ask for at-least-once")
	}
	return nil
}

// shareOptions maps settings to the client's options for a member of a share group.
func shareOptions(v driver.Values, group string, topics ...string) []kgo.Opt {
	opts := append(fetchOptions(v), kgo.ShareGroup(group), kgo.ConsumeTopics(topics...))
	if n := v.Int("max.poll.records"); n > 0 {
		opts = append(opts, kgo.ShareMaxRecords(int32(n)))
	}
	return opts
}

// answered calls registered when the group's coordinator has answered for the first time.
type answered func()

// OnBrokerRead implements kgo.HookBrokerRead.
func (registered answered) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if err == nil && key == int16(kmsg.ShareGroupHeartbeat) {
		registered()
	}
}

// begin makes share groups begin with the first record of their topics, instead of the first one after their first consumer.
func (k *kafka) begin(ctx context.Context, groups []string) error {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, name := range groups {
		earliest := "earliest"
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Value = "share.auto.offset.reset", &earliest
		resource := kmsg.NewIncrementalAlterConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeGroupConfig, name
		resource.Configs = append(resource.Configs, config)
		request.Resources = append(request.Resources, resource)
	}
	answer, err := request.RequestWith(ctx, k.client)
	if err != nil {
		return fmt.Errorf("configuring share groups: %w", err)
	}
	for _, r := range answer.Resources {
		switch err := kerr.ErrorForCode(r.ErrorCode); {
		case errors.Is(err, kerr.InvalidConfig), errors.Is(err, kerr.InvalidRequest):
			return driver.Unsupported("client.group.protocol: "+shareGroups, "the broker has no such groups: %v", err)
		case err != nil:
			return fmt.Errorf("configuring share group %s: %w", r.ResourceName, err)
		}
	}
	return nil
}

// shared is the queue of a share group: its unacknowledged records. A broker that doesn't report its length (KIP-1226) reports
// the first of these, and some records behind it may be acknowledged.
func (k *kafka) shared(ctx context.Context, topic, group string, ends kadm.ListedOffsets) (driver.Queue, error) {
	groups, err := k.admin.DescribeShareGroupOffsets(ctx, group)
	if err != nil {
		return driver.Queue{}, err
	}
	if err := groups[group].Err; err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return driver.Queue{}, err
	}
	q := driver.Queue{Unacked: driver.Unknown}
	for partition, end := range ends[topic] {
		if end.Err != nil {
			return driver.Queue{}, end.Err
		}
		q.Published += end.Offset
		at, ok := groups[group].Offsets.Lookup(topic, partition)
		switch {
		case !ok || at.Err != nil:
		case at.Lag >= 0: // read after the end
			q.Delivered += max(0, end.Offset-at.Lag)
		case at.StartOffset > 0:
			q.Delivered += at.StartOffset
		}
	}
	q.Waiting = max(0, q.Published-q.Delivered)
	return q, nil
}
