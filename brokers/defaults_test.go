package all_test

import (
	"fmt"
	"testing"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
)

// What a spec that names only the broker asks for, at most once, and with a thousand topics of two partitions. A change
// gives points another identity: stored results would no longer be found.
func TestASpecAsksOfEachBrokerWhatIsUsualWithIt(t *testing.T) {
	const memory, log = "at-least-once log, at most once memory", "at-least-once log, at most once log"
	none := "at-most-once memory, at most once memory"
	want := map[string]string{
		"kafka": log + ", 1", "nats": none + ", 1", "redis-pubsub": none + ", 0", "redis": memory + ", 32", "sim": "at-least-once memory, at most once memory, 0",
		"mosquitto": "at-least-once memory, at most once memory, 0", "pulsar": log + ", 0", "rabbitmq-stream": log + ", 0",
		"rabbitmq": memory + ", 0", "jetstream": memory + ", 0", "nats-streaming": memory + ", 0", "activemq": memory + ", 0", "artemis": memory + ", 0", "qpid": memory + ", 0",
	}
	spec := func(text string) study.Spec {
		s, err := study.Parse("test.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil || len(points) != 1 {
			t.Fatalf("%d points, %v", len(points), err)
		}
		return points[0].Spec
	}
	for _, name := range driver.Names() {
		plain, loose, wide := spec("broker: "+name), spec("broker: "+name+"\ndelivery: at-most-once"), spec("broker: "+name+"\ntopics: 1000\npartitionsPerTopic: 2")
		if got := fmt.Sprintf("%s %s, at most once %s, %d", plain.Delivery, plain.Persistence, loose.Persistence, wide.Connections); got != want[name] {
			t.Errorf("%s: %s; want %s", name, got, want[name])
		}
	}
	if s := study.Defaults(); s.Broker != "nats" {
		t.Errorf("a spec that names no broker is for %q", s.Broker)
	}
}
