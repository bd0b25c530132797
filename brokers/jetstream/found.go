package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// finds implements driver.Kind.Found.
func finds(c driver.Config, s driver.Shape) error {
	if err := natsio.CheckSubject(s.Topic); err != nil {
		return driver.Unsupported("topicName: "+s.Topic, "%v", err)
	}
	if isOrdered(c.Client) {
		return driver.Unsupported("client.consumer: "+ordered, "on another application's stream a subscription is a durable consumer, which knows where it began; use %s", durable)
	}
	return nil
}

// find makes the consumers of t on existing streams of another application that have its subjects.
func (s *session) find(ctx context.Context, js jetstream.JetStream, t driver.Topology) error {
	for _, topic := range t.Topics {
		stream, err := s.same(ctx, js, topic)
		if err != nil {
			return err
		}
		s.streams[topic.Name] = stream.CachedInfo().Config.Name
		if t.Existing {
			continue
		}
		for _, durable := range s.subscriptions {
			if err := s.consumerOf(ctx, stream, s.foundConfig(durable, topic.Name, t.Past)); err != nil {
				return fmt.Errorf("create the consumer %s of topic %s: %w", durable, topic.Name, err)
			}
		}
	}
	return nil
}

// same returns the stream that has a topic's subject; it refuses a stream that differs from the spec.
func (s *session) same(ctx context.Context, js jetstream.JetStream, topic driver.Topic) (stream jetstream.Stream, err error) {
	named := "topicName: " + topic.Name
	refuse := func(reason string, args ...any) error { return driver.Unsupported(named, reason, args...) }
	err = s.untilFormed(ctx, s.conn, func(ctx context.Context) error {
		name, err := js.StreamNameBySubject(ctx, topic.Name)
		if err == nil {
			stream, err = js.Stream(ctx, name)
		}
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, refuse("no stream has this subject; without topicName, one is made")
	case err != nil:
		return nil, fmt.Errorf("ask for the stream of %s: %w", topic.Name, err)
	}
	is, want := stream.CachedInfo().Config, s.streamConfig(topic.Name, topic.Name)
	switch {
	case topic.Partitions > 1:
		return nil, driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", topic.Partitions), "a stream has none")
	case is.Replicas != want.Replicas:
		return nil, driver.Unsupported(fmt.Sprintf("replicas: %d", want.Replicas), "stream %s has %d; say so", is.Name, is.Replicas)
	case is.Storage != want.Storage:
		return nil, driver.Unsupported("persistence: "+string(s.config.Guarantee.Persistence), "stream %s has storage %s", is.Name, is.Storage)
	case is.Retention == jetstream.WorkQueuePolicy:
		return nil, refuse("stream %s has retention workqueue: to read a message is to remove it", is.Name)
	case s.tracks() && !slices.Equal(is.Subjects, []string{topic.Name}):
		return nil, refuse("stream %s has other subjects, too, so that a gap in it is no lost message: neither order nor AckPolicy all can be kept", is.Name)
	case is.NoAck && s.config.Guarantee.Acks != driver.AcksNone:
		return nil, refuse("stream %s acknowledges nothing (no_ack)", is.Name)
	case is.Duplicates == 0 && s.config.Guarantee.Delivery == driver.ExactlyOnce:
		return nil, refuse("stream %s knows no duplicates (duplicate_window)", is.Name)
	}
	return stream, nil
}

// foundConfig is the configuration of a consumer on another application's stream: it only gets the topic's messages, and expires
// some time after a run that could not remove it.
func (s *session) foundConfig(durable, subject string, past bool) jetstream.ConsumerConfig {
	c := s.consumerConfig(durable)
	c.FilterSubject, c.InactiveThreshold = subject, forgottenAfter
	if !past {
		c.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	return c
}

// unfind removes the consumers.
func (s *session) unfind(ctx context.Context, js jetstream.JetStream) error {
	for subject, stream := range s.streams {
		for _, durable := range s.subscriptions {
			if err := js.DeleteConsumer(ctx, stream, durable); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				return fmt.Errorf("remove the consumer %s of topic %s: %w", durable, subject, err)
			}
		}
	}
	return nil
}

// Holds implements driver.Holder.
func (s *session) Holds(ctx context.Context, topic int) (int64, error) {
	js, err := jetstream.New(s.conn.Conn)
	if err != nil {
		return 0, err
	}
	subject := s.subjects[topic]
	stream, err := js.Stream(ctx, s.stream(subject))
	if err != nil {
		return 0, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return 0, err
	}
	return int64(info.State.Subjects[subject]), nil
}

// stream names the stream of a subject.
func (s *session) stream(subject string) string {
	if name := s.streams[subject]; name != "" {
		return name
	}
	return entityName(subject)
}
