package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

// limits shows what full queues drop and refuse. A quorum queue learns of its length with a delay, so how much it keeps
// is its own affair; what it refuses isn't delivered all the same.
func limits(t *testing.T, target driver.Target) {
	settings := func(kind, overflow string) map[string]any {
		return map[string]any{"x-queue-type": kind, "x-max-length": 100, "x-overflow": overflow}
	}
	drivertest.Limits(t, drivertest.Suite{Kind: livetest.Kind(t, "rabbitmq")}, target, logged,
		drivertest.Limit{Name: "classic, drop-head", Topic: settings("classic", "drop-head"), Keeps: 100, Full: drivertest.DropsOldest},
		drivertest.Limit{Name: "classic, reject-publish", Topic: settings("classic", "reject-publish"), Keeps: 100, Full: drivertest.Refuses},
		drivertest.Limit{Name: "quorum, drop-head", Topic: settings("quorum", "drop-head"), Keeps: 100, Full: drivertest.DropsOldest},
		drivertest.Limit{Name: "quorum, reject-publish", Topic: settings("quorum", "reject-publish"), Full: drivertest.Refuses},
		drivertest.Limit{Name: "the default is drop-head", Topic: map[string]any{"x-max-length": 100}, Keeps: 100, Full: drivertest.DropsOldest},
	)
}

// features asks for what only one of the versions has: it is refused, or it reaches the server, which then won't have
// the same queue without it.
func features(t *testing.T, version string, target driver.Target) {
	setUp := func(topic string, settings map[string]any) error {
		return livetest.SetupError(t, "rabbitmq", config(t, target, nil, settings), livetest.Topic(topic, 1, "s"))
	}
	for setting, value := range map[string]any{"x-queue-mode": "lazy", "x-queue-version": 1} {
		t.Run(setting, func(t *testing.T) {
			err := setUp("feature-"+setting, map[string]any{setting: value})
			if version == "4.0.5" {
				livetest.Says(t, err, setting+" is not supported: RabbitMQ 4.0.5 ")
				return
			}
			livetest.Must(t, err)
			livetest.Says(t, setUp("feature-"+setting, nil), "inequivalent arg '"+setting+"'")
		})
	}
	t.Run("a quorum queue is never lazy", func(t *testing.T) {
		livetest.Says(t, setUp("lazy-quorum", map[string]any{"x-queue-mode": "lazy", "x-queue-type": "quorum"}), "not supported")
	})
}

func TestEachConsumerOpensItsOwnQueuesOnly(t *testing.T) {
	d := settled(config(t, driver.Target{}, nil, nil))
	d.topo = livetest.Topic("t", 100, "s")
	opened := map[string]int{}
	for id := range 100 {
		for _, queue := range d.queues(driver.ConsumerConfig{ID: id, Of: 100}) {
			opened[queue]++
		}
	}
	for partition := range 100 {
		if queue := d.queue(0, 0, partition); opened[queue] != 1 {
			t.Errorf("%d consumers read queue %s, want 1", opened[queue], queue)
		}
	}
}
