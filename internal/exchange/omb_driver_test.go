package exchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func readDriver(t *testing.T, text string) (OMBDriver, error) {
	t.Helper()
	root, err := study.Tree("driver.yaml", []byte(text))
	if err != nil || !IsOMBDriver(root) {
		t.Fatalf("%s is no driver file: %v", text, err)
	}
	file, err := study.Plain("driver.yaml", root)
	if err != nil {
		t.Fatal(err)
	}
	return ReadOMBDriver(file.(map[string]any))
}

func TestWhatIsSaidOfADriverFileHoldsNoPassword(t *testing.T) {
	d, err := readDriver(t, "driverClass: io.rabbitmq.X\namqpUris: ['amqp://eve:topsecret@localhost']\n")
	if said := strings.Join(d.Notes, "\n"); err != nil || !strings.Contains(said, "@localhost") || strings.Contains(said, "topsecret") {
		t.Errorf("%s, %v", said, err)
	}
}

// Forks have drivers for the same brokers in packages of their own.
func TestADriverIsKnownByItsClassOrItsPackage(t *testing.T) {
	const prefix = "io.openmessaging.benchmark.driver."
	for class, want := range map[string]string{
		"redpanda.swarm.RedpandaBenchmarkDriver": "kafka", "redpanda.tx.RedpandaBenchmarkDriver": "kafka", "gateway.KafkaBenchmarkDriver": "kafka",
		"lavinmq.LavinMqBenchmarkDriver": "rabbitmq", "rabbitmq.RabbitMqBenchmarkDriver": "rabbitmq", "pulsar.Other": "pulsar",
		"nats.NatsBenchmarkDriver": "jetstream", "natsStreaming.NatsStreamingBenchmarkDriver": "nats-streaming", "artemis.ArtemisBenchmarkDriver": "artemis",
		"redis.RedisBenchmarkDriver": "redis",
	} {
		d, err := readDriver(t, "driverClass: "+prefix+class+"\n")
		if err != nil || !slices.Contains(d.Settings, Assignment{"broker", want}) {
			t.Errorf("%s: %v, %v; want %s", class, d.Settings, err, want)
		}
	}
	for class, want := range map[string]string{"jms.JMSBenchmarkDriver": "for jms are not read", "nsq.NsqBenchmarkDriver": "for nsq are not read", "x.y.Z": "for y are not read"} {
		if _, err := readDriver(t, "driverClass: "+prefix+class+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", class, err)
		}
	}
}

func TestAFlushOfEachMessageIsAGuarantee(t *testing.T) {
	for flush, want := range map[string]Assignment{"1": {"persistence", "fsync"}, "100": {"topicConfig.flush.messages", "100"}} {
		d, err := readDriver(t, "driverClass: io.kafka.X\ntopicConfig: |\n  flush.messages="+flush+"\n  flush.ms=0\n")
		if err != nil || !slices.Contains(d.Settings, want) || !slices.Contains(d.Settings, Assignment{"topicConfig.flush.ms", "0"}) {
			t.Errorf("%s: %v, %v", flush, d.Settings, err)
		}
	}
}

func TestADriverThatSaysLittleSaysItAll(t *testing.T) {
	d, err := readDriver(t, "name: NATS\ndriverClass: io.openmessaging.benchmark.driver.nats.NatsBenchmarkDriver\nnatsHostUrl: localhost:4222\nreplicationFactor: 3\n")
	if want := []Assignment{{"broker", "jetstream"}, {"replicas", "3"}, {"nodes", "3"}}; err != nil || !slices.Equal(d.Settings, want) || !strings.Contains(strings.Join(d.Notes, ""), "natsHostUrl: localhost:4222 is not used: jetstream is started here") {
		t.Errorf("%v, %v, %v", d.Settings, d.Notes, err)
	}
	if _, err := readDriver(t, "driverClass: io.redis.RedisBenchmarkDriver\nredisPass: x\nsentinel: y\n"); err == nil || !strings.Contains(err.Error(), "redisPass, sentinel: without counterpart") {
		t.Error(err)
	}
}
