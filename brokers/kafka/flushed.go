package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	// flushAll makes a broker flush every topic after this many messages, its internal topics included.
	flushAll = "log.flush.interval.messages"
	// transactionLog stores answered commits, and consumerLog the offsets that they contain. No client can set how often they are flushed.
	transactionLog = "__transaction_state"
	consumerLog    = "__consumer_offsets"
)

// transactsFlushed reports whether a commit must be on the disk when it is answered: with flush.messages on the run's topics
// alone, a power failure could abort an acknowledged transaction.
func transactsFlushed(g driver.Guarantee) bool {
	return g.Delivery == driver.ExactlyOnce && g.Persistence == driver.Fsync
}

// completed implements driver.Kind.Server.
func completed(g driver.Guarantee, settings map[string]any) (map[string]any, error) {
	if !transactsFlushed(g) {
		return settings, nil
	}
	switch given := settings[flushAll]; {
	case given == nil:
		return driver.Completed(settings, map[string]any{flushAll: 1}), nil
	case fmt.Sprint(given) != "1":
		return nil, driver.Unsupported("persistence: fsync", "with exactly-once it needs the server setting %s: 1, and the spec says %v", flushAll, given)
	}
	return settings, nil
}

// flushesCommits refuses a broker that answers a commit before it has flushed it.
func (k *kafka) flushesCommits(ctx context.Context) error {
	if !transactsFlushed(k.config.Guarantee) {
		return nil
	}
	brokers, err := k.admin.ListBrokers(ctx)
	if err != nil {
		return fmt.Errorf("listing brokers: %w", err)
	}
	described, err := k.admin.DescribeBrokerConfigs(ctx, brokers.NodeIDs()...)
	if err != nil {
		return fmt.Errorf("asking for the brokers' settings: %w", err)
	}
	for _, broker := range described {
		if broker.Err != nil {
			return fmt.Errorf("asking broker %s for its settings: %w", broker.Name, broker.Err)
		}
		if setting(broker, flushAll) == "1" {
			continue
		}
		topics, err := k.admin.DescribeTopicConfigs(ctx, transactionLog, consumerLog)
		if err != nil {
			return fmt.Errorf("asking for the settings of %s: %w", transactionLog, err)
		}
		for _, topic := range topics {
			if topic.Err != nil || setting(topic, "flush.messages") != "1" {
				return driver.Unsupported("persistence: fsync", "with exactly-once a commit must be flushed, too, before it is answered: the server setting %s: 1 does that, or flush.messages=1 on %s and %s", flushAll, transactionLog, consumerLog)
			}
		}
	}
	return nil
}

func setting(of kadm.ResourceConfig, name string) string {
	for _, c := range of.Configs {
		if c.Key == name && c.Value != nil {
			return *c.Value
		}
	}
	return ""
}
