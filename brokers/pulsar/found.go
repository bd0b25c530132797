package pulsar

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
)

// finds implements driver.Kind.Found.
func finds(c driver.Config, s driver.Shape) error {
	of := "topicName: " + s.Topic
	domain, name, whole := strings.Cut(s.Topic, "://")
	if !whole {
		domain, name = domainOf(c.Guarantee), s.Topic
	}
	parts := strings.Split(name, "/")
	switch {
	case len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "":
		return driver.Unsupported(of, "it is not tenant/namespace/name, with persistent:// or non-persistent:// before it or without")
	case domain != domainOf(c.Guarantee):
		return driver.Unsupported(of, "with persistence: %s the topic is %s", c.Guarantee.Persistence, domainOf(c.Guarantee))
	case c.Guarantee.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "duplicate detection is a policy of the namespace, which belongs to another application")
	case s.Past && domain == nonPersistent:
		return driver.Unsupported("read.from: start", "a non-persistent topic keeps nothing")
	}
	return nil
}

// domainOf is the domain of topics: persistent or non-persistent.
func domainOf(g driver.Guarantee) string {
	if g.Persistence == driver.Memory {
		return nonPersistent
	}
	return persistent
}

// find makes the subscriptions of t on topics of another application. It needs no more rights than a consumer has.
func (s *session) find(ctx context.Context, t driver.Topology) error {
	for _, topic := range t.Topics {
		path := s.pathOf(topic.Name)
		var is struct{ Partitions int }
		if err := there(topic.Name, s.admin.do(ctx, http.MethodGet, path+"/partitions", nil, &is)); err != nil {
			return err
		}
		if is.Partitions = max(1, is.Partitions); is.Partitions != max(1, topic.Partitions) {
			return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", topic.Partitions), "topic %s has %d; say so", topic.Name, is.Partitions)
		}
		if s.domain() != persistent {
			continue
		}
		if is.Partitions == 1 {
			if err := there(topic.Name, s.admin.do(ctx, http.MethodGet, path+"/stats", nil, nil)); err != nil {
				return err
			}
		}
		if t.Existing {
			continue
		}
		from := "latest"
		if t.Past {
			from = "earliest"
		}
		for _, subscription := range t.Subscriptions {
			if err := s.admin.do(ctx, http.MethodPut, path+"/subscription/"+pathOf(subscription), from, nil); err != nil {
				return fmt.Errorf("making subscription %s of topic %s: %w", subscription, topic.Name, err)
			}
		}
	}
	return nil
}

// there interprets an answer about a topic.
func there(topic string, err error) error {
	switch {
	case err == nil:
		return nil
	case status(err) == http.StatusNotFound:
		return driver.Unsupported("topicName: "+topic, "there is none on the broker; without topicName, one is made")
	}
	return fmt.Errorf("asking for topic %s: %w", topic, err)
}

// unfind removes the subscriptions.
func (s *session) unfind(ctx context.Context) error {
	if s.domain() != persistent {
		return nil
	}
	for _, topic := range s.topology.Topics {
		for _, subscription := range s.topology.Subscriptions {
			path := s.pathOf(topic.Name) + "/subscription/" + pathOf(subscription) + "?force=true"
			if err := s.admin.do(ctx, http.MethodDelete, path, nil, nil); err != nil && status(err) != http.StatusNotFound {
				return fmt.Errorf("deleting subscription %s of topic %s: %w", subscription, topic.Name, err)
			}
		}
	}
	return nil
}

// bare is the name of another application's topic without its domain.
func bare(topic string) string {
	if _, name, whole := strings.Cut(topic, "://"); whole {
		return name
	}
	return topic
}
