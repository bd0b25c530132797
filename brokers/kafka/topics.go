package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func (k *kafka) Setup(ctx context.Context, t driver.Topology) error {
	k.topology, k.delivered = t, map[string][]atomic.Int64{}
	configs, err := topicConfigs(k.config)
	if err != nil {
		return err
	}
	if k.misled {
		if _, err := k.reachesAll(ctx); err != nil {
			return err
		}
	}
	replicas := max(1, k.config.Guarantee.Replicas)
	if err := k.awaitBrokers(ctx, replicas); err != nil {
		return err
	}
	all := everyTopic(t)
	names := make([]string, len(all))
	for i, topic := range all {
		names[i] = topic.Name
	}
	var groups []string
	for _, topic := range t.Topics {
		for _, subscription := range t.Subscriptions {
			name := groupOf(t, topic.Outlet(), subscription)
			groups = append(groups, name)
			if k.config.Guarantee.Delivery != driver.AtLeastOnce {
				k.delivered[name] = make([]atomic.Int64, topic.Partitions)
			}
		}
	}
	if t.Found {
		if err := k.find(ctx, t, configs); err != nil {
			return err
		}
		return k.awaitLeaders(ctx, replicas, all)
	}
	if shares(k.config.Client) && len(groups) > 0 && !t.Existing {
		if err := k.begin(ctx, groups); err != nil {
			return err
		}
	}
	for rest := all; len(rest) > 0 && !t.Existing; {
		n := inOneRequest(rest)
		if err := k.create(ctx, rest[0].Partitions, int16(replicas), configs, names[:n]); err != nil {
			return err
		}
		rest, names = rest[n:], names[n:]
	}
	return k.awaitLeaders(ctx, replicas, all)
}

// everyTopic lists the topics of t, including those to which relays produce.
func everyTopic(t driver.Topology) (all []driver.Topic) {
	for _, topic := range t.Topics {
		all = append(all, topic)
		if topic.Out != "" {
			all = append(all, driver.Topic{Name: topic.Out, Partitions: topic.Partitions})
		}
	}
	return all
}

// mostPartitions bounds the partitions of one create request: the controller refuses more than 10,000 records at once.
const mostPartitions = 1000

// inOneRequest is the number of topics, from the first, that one request can create: those with the same number of partitions.
func inOneRequest(topics []driver.Topic) int {
	n := 1
	for n < len(topics) && topics[n].Partitions == topics[0].Partitions && (n+1)*topics[0].Partitions <= mostPartitions {
		n++
	}
	return n
}

// create makes topics with the same number of partitions, and blocks until all of them exist.
func (k *kafka) create(ctx context.Context, partitions int, replicas int16, configs map[string]*string, names []string) error {
	missing, isRetry := names, false
	for began := time.Now(); ; time.Sleep(retryPause) {
		created, err := k.admin.CreateTopics(ctx, int32(partitions), replicas, configs, missing...)
		if err != nil {
			return fmt.Errorf("creating topics: %w", err)
		}
		missing = nil
		for _, topic := range created.Sorted() {
			err := topic.Err
			switch {
			case err == nil, isRetry && errors.Is(err, kerr.TopicAlreadyExists): // an earlier attempt may have created it
			case isOutOfSession(topic) && time.Since(began) < sessionPatience:
				missing = append(missing, topic.Topic)
			case errors.Is(err, kerr.InvalidConfig), errors.Is(err, kerr.PolicyViolation):
				return driver.Unsupported("topic configuration", "the broker says: %s", cmp.Or(topic.ErrMessage, err.Error()))
			default:
				return fmt.Errorf("creating topic %s with %d partition(s): %w: %s", topic.Topic, partitions, err, topic.ErrMessage)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		isRetry = true
	}
}

// sessionPatience is the time for a broker on ZooKeeper to open a new session.
const sessionPatience = 10 * time.Second

// isOutOfSession reports whether a topic wasn't created because the broker's session with ZooKeeper has ended: the broker was
// paused for longer than the session lasts, and opens a new one. Other topics of the same request may have been created before.
func isOutOfSession(topic kadm.CreateTopicResponse) bool {
	return errors.Is(topic.Err, kerr.UnknownServerError) && strings.Contains(topic.ErrMessage, "KeeperErrorCode")
}

// largestBatch is the topic's limit on the size of a batch.
const largestBatch = "max.message.bytes"

// serverName is the server setting that a topic setting overrides.
func serverName(topic string) string {
	switch topic {
	case largestBatch:
		return "message.max.bytes"
	case "flush.messages":
		return flushAll
	}
	return topic
}

// topicConfigs maps the guarantee to topic configuration, and adds the user's settings of topics or the server.
func topicConfigs(c driver.Config) (map[string]*string, error) {
	g := c.Guarantee
	need := map[string]string{largestBatch: strconv.Itoa(requestLimit)} // the payload's size decides, not the topic
	if g.Acks == driver.AcksQuorum {
		need["min.insync.replicas"] = strconv.Itoa(max(1, g.Replicas)/2 + 1)
	}
	if g.Persistence == driver.Fsync {
		need["flush.messages"] = "1"
	}
	configs := map[string]*string{}
	for name, value := range need {
		switch given, ok := c.Target.Server[serverName(name)]; {
		case !ok || name != largestBatch && provision.Text(given) == value:
			configs[name] = &value
		case name != largestBatch:
			return nil, driver.Unsupported("server."+serverName(name)+": "+provision.Text(given), "the guarantee needs %s", value)
		}
	}
	for name := range c.Topic {
		value := c.Topic.String(name)
		if value == "" {
			continue
		}
		if needed, guaranteed := need[name]; guaranteed && name != largestBatch && value != needed {
			return nil, driver.Unsupported("topicConfig."+name+": "+value, "the guarantee needs %s", needed)
		}
		configs[name] = &value
	}
	return configs, nil
}

// awaitBrokers gives a newly started cluster a moment to count its members before it refuses.
func (k *kafka) awaitBrokers(ctx context.Context, replicas int) error {
	for deadline := time.Now().Add(openPatience); ; time.Sleep(pollInterval) {
		brokers, err := k.admin.ListBrokers(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("listing brokers: %w", err)
		case len(brokers) >= replicas:
			return nil
		case time.Now().After(deadline):
			return driver.Unsupported(fmt.Sprintf("replicas: %d", replicas), "the cluster has %d broker(s)", len(brokers))
		}
	}
}

// awaitLeaders waits until every broker knows the leader of every partition, and all replicas are in sync. Asking one broker is
// not enough: a leader that doesn't know its role yet refuses messages, with at-most-once silently.
func (k *kafka) awaitLeaders(ctx context.Context, replicas int, created []driver.Topic) error {
	names := make([]string, len(created))
	for i, topic := range created {
		names[i] = topic.Name
	}
	for ; ; time.Sleep(pollInterval) {
		answers, err := k.everyBroker(ctx, names)
		if err != nil {
			return fmt.Errorf("waiting for leaders: %w", err)
		}
		if err := refusedIn(answers); err != nil {
			return err
		}
		if led(answers, len(names), replicas) {
			return k.awaitServing(ctx, names)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("not every partition has got a leader and %d replica(s) in sync: %w", replicas, ctx.Err())
		}
	}
}

// awaitServing waits until every leader serves its partitions, which it does only some time after it knows that it leads them.
func (k *kafka) awaitServing(ctx context.Context, topics []string) error {
	for ; ; time.Sleep(pollInterval) {
		ends, err := k.admin.ListEndOffsets(ctx, topics...)
		if err == nil {
			err = ends.Error()
		}
		var refused *kerr.Error
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, errors.As(err, &refused) && !refused.Retriable:
			return fmt.Errorf("waiting for leaders to serve: %w", err)
		}
	}
}

// everyBroker asks every broker for the metadata of topics.
func (k *kafka) everyBroker(ctx context.Context, topics []string) ([]*kmsg.MetadataResponse, error) {
	brokers, err := k.admin.ListBrokers(ctx)
	if err != nil {
		return nil, err
	}
	request := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		request.Topics = append(request.Topics, t)
	}
	var answers []*kmsg.MetadataResponse
	for _, id := range brokers.NodeIDs() {
		answer, err := k.client.Broker(int(id)).RetriableRequest(ctx, request)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer.(*kmsg.MetadataResponse))
	}
	return answers, nil
}

// refusedIn is the first denial in answers; nil if there is none.
func refusedIn(answers []*kmsg.MetadataResponse) error {
	for _, a := range answers {
		for _, t := range a.Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); denied(err) && t.Topic != nil {
				return fmt.Errorf("describe topic %s: %w", *t.Topic, err)
			}
		}
	}
	return nil
}

// led reports whether all answers name the same leader of every partition of all topics, with its replicas in sync.
func led(answers []*kmsg.MetadataResponse, topics, replicas int) bool {
	type partition struct {
		topic string
		index int32
	}
	leaders := map[partition]int32{}
	for _, a := range answers {
		if len(a.Topics) != topics {
			return false
		}
		for _, t := range a.Topics {
			if t.ErrorCode != 0 || len(t.Partitions) == 0 || t.Topic == nil {
				return false
			}
			for _, p := range t.Partitions {
				at := partition{*t.Topic, p.Partition}
				known, ok := leaders[at]
				if p.ErrorCode != 0 || p.Leader < 0 || len(p.ISR) < replicas || ok && known != p.Leader {
					return false
				}
				leaders[at] = p.Leader
			}
		}
	}
	return len(answers) > 0
}

// groupOf names the consumer group of a subscription of a topic, or of the first topic that a consumer reads. A user may have
// rights on groups by a prefix of their names, which is the subscription's name on a topic of another application.
func groupOf(t driver.Topology, topic, subscription string) string {
	if t.Found {
		return subscription
	}
	return topic + "." + subscription
}

// Clean deletes the topics and consumer groups of Setup, and returns when the broker has forgotten the topics; it
// removes their files some time later (file.delete.delay.ms).
func (k *kafka) Clean(ctx context.Context) error {
	var names, groups []string
	for _, topic := range everyTopic(k.topology) {
		names = append(names, topic.Name)
	}
	for _, topic := range k.topology.Topics {
		for _, subscription := range k.topology.Subscriptions {
			groups = append(groups, groupOf(k.topology, topic.Outlet(), subscription))
		}
	}
	if k.topology.Shape().Relays > 0 {
		groups = append(groups, relays(k.topology))
	}
	if k.topology.Found {
		return k.forget(ctx, groups)
	}
	deleted, err := k.admin.DeleteTopics(ctx, names...)
	if err != nil {
		return fmt.Errorf("deleting topics: %w", err)
	}
	for name, topic := range deleted {
		if topic.Err != nil && !errors.Is(topic.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("deleting topic %s: %w", name, topic.Err)
		}
	}
	if err := k.forget(ctx, groups); err != nil {
		return err
	}
	for ; ; time.Sleep(pollInterval) {
		gone, err := k.gone(ctx, names)
		if gone || err != nil {
			return err
		}
	}
}

// forget deletes consumer groups.
func (k *kafka) forget(ctx context.Context, groups []string) error {
	forgotten, err := k.admin.DeleteGroups(ctx, groups...)
	if err != nil {
		return fmt.Errorf("deleting consumer groups: %w", err)
	}
	for name, g := range forgotten {
		if g.Err != nil && !errors.Is(g.Err, kerr.GroupIDNotFound) && !stays(name, k.topology, g.Err) {
			return fmt.Errorf("deleting consumer group %s: %w", name, g.Err)
		}
	}
	return nil
}

// gone reports whether the names can be used again. A broker on ZooKeeper stops listing a topic before ZooKeeper has forgotten it.
func (k *kafka) gone(ctx context.Context, names []string) (bool, error) {
	topics, err := k.admin.ListTopics(ctx, names...)
	if err != nil {
		return false, fmt.Errorf("waiting for topics to go: %w", err)
	}
	for _, topic := range topics {
		if !errors.Is(topic.Err, kerr.UnknownTopicOrPartition) {
			return false, nil
		}
	}
	creatable, err := k.admin.ValidateCreateTopics(ctx, 1, 1, nil, names...)
	if err != nil {
		return false, fmt.Errorf("waiting for topics to go: %w", err)
	}
	for _, topic := range creatable {
		if errors.Is(topic.Err, kerr.TopicAlreadyExists) {
			return false, nil
		}
	}
	return true, nil
}
