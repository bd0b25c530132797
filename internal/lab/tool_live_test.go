package lab_test

import (
	"testing"

	_ "github.com/brokermark/brokermark/brokers/artemis"
	_ "github.com/brokermark/brokermark/brokers/kafka"
	_ "github.com/brokermark/brokermark/brokers/nats"
	_ "github.com/brokermark/brokermark/brokers/pulsar"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq"
	_ "github.com/brokermark/brokermark/brokers/redis"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Each tool of a maker does what a point asks for, by its own figures and, where the broker counts, by the broker's.
func TestMakersToolsDoWhatAPointAsksFor(t *testing.T) {
	testkit.Live(t)
	testkit.Long(t)
	for name, c := range map[string]struct {
		spec    string
		rate    float64 // that was asked for; 0: none
		counted bool    // by the broker
		latency string  // a metric that the tool prints; "" if it prints none
		long    bool    // a tool that takes long to start
	}{
		"kafka-producer-perf-test": {
			spec: "broker: kafka\nmeasure: rate\nload.rate: 500\nduration: 6s\nsubscriptionsPerTopic: 0\nclient: {linger.ms: 2}\n", rate: 500, counted: true, latency: "service_p99_ns",
		},
		"perf-test": {
			spec: "broker: rabbitmq\nmeasure: rate\nload.rate: 500\nduration: 6s\nclient: {prefetch: 100}\n", rate: 500, latency: "e2e_service_p99_ns",
			long: true,
		},
		"nats-bench": {spec: "broker: nats\nmeasure: count\ncount.messages: 2000000\n"},
		"redis-benchmark": {
			spec:    "broker: redis\nmeasure: count\ncount.messages: 2000000\nsubscriptionsPerTopic: 0\ndelivery: at-least-once\nclient: {pipeline: 100}\n",
			counted: true, latency: "service_p99_ns",
		},
		"pulsar-perf": {
			spec:    "broker: pulsar\nmeasure: count\ncount.messages: 50000\nsubscriptionsPerTopic: 2\nclient: {batchingMaxPublishDelay: 5ms, receiverQueueSize: 500}\n",
			counted: true, latency: "e2e_service_p99_ns", long: true,
		},
		"artemis-perf": {
			spec: "broker: artemis\nmeasure: rate\nload.rate: 500\nduration: 6s\ndelivery: at-least-once\nclient: {Credit: 100}\n", rate: 500,
			counted: true, latency: "e2e_service_p99_ns", long: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.long {
				testkit.Long(t)
			}
			r := runPoint(t, parseSpec(t, c.spec+"generator: "+name+"\n"), lab.Options{Host: sharedHost(t)})
			if r.Status == store.Void && hasDoubt(r, "busy-machine") { // a JVM needs a tenth of the time to connect then
				testkit.Undecided(t, "%s", r.Reason)
			}
			if r.Status != store.OK {
				t.Fatalf("%s: %s", r.Status, r.Reason)
			}
			of := func(key string) float64 { return results.MustMetric(key).Of(r) }
			if sent := of("publish_rate"); c.rate > 0 && (sent < 0.98*c.rate || sent > 1.3*c.rate) || sent <= 0 { // PerfTest leaves out of its time what it took to start
				t.Errorf("%v messages per second were sent; want about %v", sent, c.rate)
			}
			if got := r.Result.Tool.BrokerPublished; c.counted && (got == nil || *got != r.Result.Cost.Messages) {
				t.Errorf("the broker took %v messages; want %d", got, r.Result.Cost.Messages)
			}
			if c.latency != "" && !(r.Result.Given[c.latency] > 0) { // which no report shows of a count
				t.Errorf("%s is %v", c.latency, r.Result.Given[c.latency])
			}
			if lost := of("lost"); lost == lost {
				t.Errorf("%v messages were lost, which were not counted", lost)
			}
			if cost := r.Result.Cost; cost.GeneratorUserSeconds <= 0 || cost.GeneratorRSSBytes == 0 || cost.BrokerUserSeconds+cost.BrokerSystemSeconds <= 0 {
				t.Errorf("the cost is %+v", cost)
			}
		})
	}
}
