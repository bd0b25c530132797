package lab_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A message goes to the broker and from there to the consumer, and its confirmation comes back: two ways each.
func TestASlowerNetworkAddsItsDelayToEachWay(t *testing.T) {
	testkit.Long(t)
	const delay = 20 * time.Millisecond
	const asked = 2 * 2 * delay * 115 / 100 // a consumer of Kafka asks for messages: one that comes meanwhile waits for the request as well
	most := map[string]time.Duration{
		"redis": 4 * 2 * delay, // whose messages wait for round trips that others have begun
		"kafka": asked, "kafkas": asked, "kafka 2.2": asked,
	}
	for name, spec := range map[string]string{
		"nats":      "broker: nats\ndelivery: at-most-once\n",
		"redis":     "broker: redis\ndelivery: at-least-once\n",
		"jetstream": "broker: jetstream\ndelivery: at-least-once\n",
		"rabbitmq":  "broker: rabbitmq\ndelivery: at-least-once\n",
		"kafka":     "broker: kafka\ndelivery: at-least-once\nbrokerWarmup: 3s\n",
		"kafkas":    "broker: kafka\nnodes: 3\nreplicas: 3\npartitionsPerTopic: 3\ndelivery: at-least-once\nordering: unordered\nbrokerWarmup: 3s\n",
		"kafka 2.2": "broker: kafka@2.2.0\ndelivery: at-least-once\ntls: on\nbrokerWarmup: 3s\n",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if name != "nats" && name != "jetstream" {
				h = sharedHost(t)
			}
			r := runPoint(t, parseSpec(t, spec+"measure: rate\nload.rate: 200\nduration: 2s\nwarmup: 500ms\nnetwork.broker.delay: 20ms\n"), lab.Options{Host: h})
			if r.Result == nil {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			most := cmp.Or(most[name], 2*delay*115/100)
			if got := time.Duration(r.Result.Latency.EndToEnd.Quantile(0.5)); got < 2*delay || got > most {
				t.Errorf("%v end to end at p50, %v is the delay", got, 2*delay)
			}
			if got := time.Duration(r.Result.Latency.Publish.Quantile(0.5)); name != "nats" && (got < 2*delay || got > most) {
				t.Errorf("%v until the confirmation at p50, %v is the delay", got, 2*delay)
			}
			if !hasDoubt(r, "network") {
				t.Error(r.Doubts)
			}
		})
	}
}

// The servers are asked and answer over the slower network; the broker is beside them.
func TestAPipelinesClientIsAsFarAwayAsItsNetworkSays(t *testing.T) {
	testkit.NotShort(t)
	const delay = 52 * time.Millisecond
	r := runPoint(t, parseSpec(t, "broker: jetstream\npipeline: {servers: 1}\nmeasure: rate\nload.rate: 100\nduration: 2s\nwarmup: 500ms\nnetwork.client.delay: 52ms\n"),
		lab.Options{Host: newHost(t)})
	if r.Result == nil {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	if got := time.Duration(r.Result.Latency.Publish.Quantile(0.5)); got < 2*delay || got > 2*delay*115/100 {
		t.Errorf("%v until the answer at p50, %v is the delay", got, 2*delay)
	}
	if got := time.Duration(r.Result.Latency.EndToEnd.Quantile(0.5)); got < delay || got > delay*125/100 {
		t.Errorf("%v end to end at p50, %v is the delay", got, delay)
	}
}

func TestABrokerThatTellsItsAddressHasNoNetwork(t *testing.T) {
	for broker, want := range map[string]string{"pulsar": "pulsar may tell clients its own address", "nats\nnodes: 3": "3 nodes of nats may tell clients each other's addresses", "sim": "sim runs in this process, without a network"} {
		s := parseSpec(t, "broker: "+broker+"\nnetwork.broker.delay: 1ms\nmeasure: rate\nload.rate: 1\n")
		if err := lab.Possible(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", broker, err)
		}
	}
}
