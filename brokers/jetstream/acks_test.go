package jetstream_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestConsumersChooseWhenTheyAcknowledge(t *testing.T) {
	once := livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Unordered)
	least := livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Unordered)
	livetest.ConsumersChooseWhenTheyAcknowledge(t, provision.Options{Broker: "jetstream"}, once, least, map[string]any{"AckWait": "1s"})
}

func TestDriverKeepsThePromisesWithManualAcknowledgementsAtMostOnce(t *testing.T) {
	testkit.Long(t)
	unordered := livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Unordered)
	s := livetest.Suite(t, provision.Options{Broker: "jetstream"}, memoryOnce, unordered, memoryLeast) // exact counts are of the last
	s.Client = map[string]any{"consumer.ack": driver.AckAfter, "AckWait": "2s"}
	s.Bulk = 300
	drivertest.Run(t, s)
}

func TestWaysOfConsumingAreRefusedWhereTheyKeepLess(t *testing.T) {
	kind := livetest.Kind(t, "jetstream")
	unordered, leastUnordered := memoryOnce, fileLeast
	unordered.Ordering, leastUnordered.Ordering = driver.Unordered, driver.Unordered
	for name, c := range map[string]struct {
		g             driver.Guarantee
		client, topic map[string]any
		subscriptions int
		consumers     int
		refused       string // "": it fits
	}{
		"ordered, at least once":            {memoryLeast, map[string]any{"consumer": "ordered"}, nil, 1, 1, "client.consumer: ordered"},
		"ordered, exactly once":             {exactlyOnce, map[string]any{"consumer": "ordered"}, nil, 1, 1, "client.consumer: ordered"},
		"ordered, and acknowledging":        {memoryOnce, map[string]any{"consumer": "ordered", "consumer.ack": driver.AckAfter}, nil, 1, 1, "client.consumer: ordered"},
		"ordered, two consumers":            {unordered, map[string]any{"consumer": "ordered"}, nil, 1, 2, "client.consumer: ordered"},
		"ordered, in batches":               {memoryOnce, map[string]any{"consumer": "ordered", "consume": "fetch"}, nil, 1, 1, "client.consumer: ordered"},
		"ordered, of a stream that forgets": {memoryOnce, map[string]any{"consumer": "ordered"}, map[string]any{"retention": "interest"}, 1, 1, "client.consumer: ordered"},
		"ordered":                           {memoryOnce, map[string]any{"consumer": "ordered"}, nil, 3, 1, ""},
		"all, two consumers":                {leastUnordered, map[string]any{"AckPolicy": "all"}, nil, 1, 2, "client.AckPolicy: all"},
		"a work queue, all":                 {fileLeast, map[string]any{"AckPolicy": "all"}, map[string]any{"retention": "workqueue"}, 1, 1, "topicConfig.retention: workqueue"},
		"a work queue, none":                {memoryOnce, nil, map[string]any{"retention": "workqueue"}, 1, 1, "topicConfig.retention: workqueue"},
		"a work queue of two":               {fileLeast, nil, map[string]any{"retention": "workqueue"}, 2, 1, "topicConfig.retention: workqueue"},
		"a work queue":                      {fileLeast, nil, map[string]any{"retention": "workqueue"}, 1, 1, ""},
		"heartbeats too rare":               {fileLeast, map[string]any{"PullHeartbeat": "20s"}, nil, 1, 1, "client.PullHeartbeat: 20s"},
		"batches bounded by both":           {fileLeast, map[string]any{"consume": "fetch", "PullMaxMessages": 10, "PullMaxBytes": 1000}, nil, 1, 1, ""},
		"callbacks with both":               {fileLeast, map[string]any{"PullMaxMessages": 10, "PullMaxBytes": 1000}, nil, 1, 1, "client setting \"PullMaxMessages\""},
	} {
		t.Run(name, func(t *testing.T) {
			config := driver.Config{Guarantee: c.g, Client: livetest.Values(t, "jetstream", driver.ClientScope, c.client), Topic: livetest.Values(t, "jetstream", driver.TopicScope, c.topic)}
			err := kind.Refusal(config, driver.Shape{Topics: 1, Partitions: 1, Subscriptions: c.subscriptions, Producers: 1, Consumers: c.consumers, MaxBytes: 100, InFlight: 1})
			if c.refused == "" {
				livetest.Must(t, err)
				return
			}
			livetest.Refused(t, err, c.refused)
		})
	}
}

func TestMessageIdsAreRememberedNoLongerThanMessages(t *testing.T) {
	kind := livetest.Kind(t, "jetstream")
	shape := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 100, InFlight: 1}
	for name, c := range map[string]struct {
		topic   map[string]any
		refused bool
	}{
		"the default follows":      {map[string]any{"max_age": "1s"}, false},
		"as long":                  {map[string]any{"max_age": "1s", "duplicate_window": "1s"}, false},
		"longer than the messages": {map[string]any{"max_age": "1s", "duplicate_window": "3s"}, true},
		"without an age":           {map[string]any{"duplicate_window": "3m"}, false},
	} {
		config := driver.Config{
			Guarantee: memoryLeast, Client: livetest.Values(t, "jetstream", driver.ClientScope, nil), Topic: livetest.Values(t, "jetstream", driver.TopicScope, c.topic),
		}
		if err := kind.Refusal(config, shape); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
