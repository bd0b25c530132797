package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files as users of other tools have them. Each runs, or is answered in a sentence.
func TestFilesOfOtherToolsAreReadOrAnsweredInASentence(t *testing.T) {
	dir := t.TempDir()
	workload := func(lines string) string {
		return "topics: 1\npartitionsPerTopic: 1\nmessageSize: 1024\nproducersPerTopic: 1\nconsumerBacklogSizeGB: 0\ntestDurationMinutes: 5\n" + lines
	}
	for name, c := range map[string]struct {
		file string
		args []string
		code int
		says []string
	}{
		"flat out":        {workload("producerRate: 10000000\nsubscriptionsPerTopic: 1\nconsumerPerSubscription: 1\n"), nil, 0, []string{"peak", "producerRate: 10000000 is read as measure: peak, as much as goes."}},
		"nobody consumes": {workload("producerRate: 50000\nsubscriptionsPerTopic: 0\nconsumerPerSubscription: 0\nsampleRateMillis: 1000\nlogIntervalMillis: 1000\n"), nil, 0, []string{"rate 50k/s", "sampleRateMillis is ignored: it says how often"}},
		"rates by time":   {workload("producerRate: 19200\nproducerRateList:\n- [0, 1, 10240]\n- [0, 3, 20480]\n"), nil, 0, []string{"read as load.steps that repeat every 24h", "about 6m2s"}},
		"no rates":        {workload("producerRateList:\n- [0, 5, 10240]\n- [24, 3, 20480]\n"), nil, 2, []string{"producerRateList: [24 3 20480] is no rate by time as the others are; allowed: [hour, minute, rate] of a day"}},
		"mixed rates":     {workload("producerRateList:\n- [0, 5, 10240]\n- [3, 20480]\n"), nil, 2, []string{"producerRateList: [3 20480] is no rate by time as the others are"}},
		"keys of a fork":  {workload("producerRate: 5\nvirtualThreads: 8\nbillingZone: eu\n"), nil, 2, []string{"x.yaml:8: virtualThreads, billingZone: without counterpart here; a fork of the OpenMessaging Benchmark has such keys"}},
		"lists of a fork": {workload("producerRate: 5\npartitionsPerTopicList: [1, 4]\nproducersPerTopicList: [4, 1]\n"), nil, 2, []string{"partitionsPerTopicList, producersPerTopicList: without counterpart here"}},
		"a mistyped key":  {workload("producerRate: 5\nsubscriptionPerTopic: 8\n"), nil, 2, []string{`did you mean "subscriptionsPerTopic"?`}},
		"PerfTest":        {"[{'name': 'no-ack', 'type': 'simple', 'params': [{'time-limit': 30}]}]", nil, 2, []string{"a spec of PerfTest's scenarios, which is not read; write a study with producer-count as producers", `"no-ack" is: brokermark run --broker rabbitmq --measure peak --duration 30s`}},
		"Trogdor": {
			`{"class": "org.apache.kafka.trogdor.workload.ProduceBenchSpec", "targetMessagesPerSec": 10000, "maxMessages": 50000, "activeTopics": {"foo[1-3]": {"numPartitions": 10, "replicationFactor": 1}}}`,
			nil, 2,
			[]string{"its load is: brokermark run --broker kafka --rate 10000 --set count.messages=50000 --subscriptions 0 --topics 3 --size 512 --partitions 10 --replicas 1"},
		},
		"Kafka's driver": {
			"name: K\ndriverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver\nreplicationFactor: 3\nreset: true\ntopicConfig: |\n  min.insync.replicas=2\ncommonConfig: |\n  bootstrap.servers=localhost:9092\nproducerConfig: |\n  acks=all\n  linger.ms=1\nconsumerConfig: |\n  auto.offset.reset=earliest\n",
			[]string{"--rate", "5000"},
			0,
			[]string{"kafka", "bootstrap.servers: localhost:9092 is not used", "reset, auto.offset.reset of the driver file change nothing here"},
		},
		"Kafka's driver with an unknown property": {"driverClass: io.kafka.X\nproducerConfig: |\n  lingr.ms=1\n", []string{"--rate", "5"}, 2, []string{`x.yaml: client setting "lingr.ms" is unknown; did you mean "linger.ms"?`}},
		"Kafka's driver beside a flag":            {"driverClass: io.kafka.X\nproducerConfig: |\n  linger.ms=1\n", []string{"--rate", "5", "--set", "client.linger.ms=2"}, 2, []string{"given twice"}},
		"Pulsar's driver": {
			"driverClass: io.pulsar.X\nclient:\n  serviceUrl: pulsar://localhost:6650\n  topicType: persistent\n  persistence: {ensembleSize: 3, writeQuorum: 1, deduplicationEnabled: false}\nproducer: {batchingEnabled: true, batchingMaxPublishDelayMs: 1, batchingMaxBytes: 131072, pendingQueueSize: 0}\n",
			[]string{"--rate", "5"},
			0,
			[]string{"pulsar"},
		},
		"RabbitMQ's driver":      {"driverClass: io.rabbitmq.X\namqpUris: [amqp://localhost]\nmessagePersistence: false\nqueueType: QUORUM\n", []string{"--rate", "5"}, 0, []string{"rabbitmq"}},
		"a driver with new keys": {"driverClass: io.rabbitmq.X\nexchangeKind: fanout\nzone: 3\n", nil, 2, []string{"x.yaml: exchangeKind, zone: without counterpart in a spec"}},
		"a driver without end":   {"driverClass: io.kafka.X\n" + strings.Repeat("\n", 300_000), []string{"--rate", "5"}, 2, []string{"x.yaml: 300001 values or lines; allowed: 200000"}},
		"a driver of a fork": {
			"driverClass: io.openmessaging.benchmark.driver.gateway.KafkaBenchmarkDriver\nreplicationFactor: 1\ntopicConfig: |\n  min.insync.replicas=1\n  flush.messages=1\ncommonConfig: |\n  bootstrap.servers=localhost:9092\nproducerConfig: |\n  acks=all\n  batch.size=1048576\n",
			[]string{"--rate", "5"},
			0,
			[]string{"bootstrap.servers: localhost:9092 is not used: kafka is started here unless --attach says where one is"},
		},
		"a driver with TLS": {"driverClass: io.kafka.X\ncommonConfig: |\n  security.protocol=SASL_SSL\n", []string{"--rate", "5"}, 2, []string{`x.yaml: client setting "security.protocol" is unknown; a spec says it itself: tls, with user or login for SASL`}},
		"a driver with a login": {
			"driverClass: io.kafka.X\ncommonConfig: |\n  sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"eve\" password=\"topsecret\";\n",
			[]string{"--rate", "5"},
			2,
			[]string{"x.yaml: client.sasl.jaas.config: it holds a secret, which would stand in every record; user names the user"},
		},
		"a result":       {`{"workload": "w", "driver": "Kafka", "publishRate": [1.5], "aggregatedPublishLatencyQuantiles": {"50": 1}}`, nil, 2, []string{"a result of the OpenMessaging Benchmark and no workload; brokermark import", "x.yaml\" stores it"}},
		"another driver": {"driverClass: io.pravega.X\n", nil, 2, []string{"x.yaml: drivers of the OpenMessaging Benchmark for pravega are not read; allowed: artemis, kafka, lavinmq, nats, natsstreaming, pulsar, rabbitmq, redis, redpanda"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "x.yaml")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			r := brokermark(t, append([]string{"check", path, "--store", filepath.Join(t.TempDir(), "s.db")}, c.args...)...).want(t, c.code)
			for _, says := range c.says {
				if said := strings.Join(strings.Fields(r.out+r.err), " "); !strings.Contains(said, says) {
					t.Errorf("no %q in:\n%s", says, r.out+r.err)
				}
			}
			if strings.Contains(r.out+r.err, "topsecret") {
				t.Errorf("a password is told: %s", r.err)
			}
			if c.code == 2 && strings.Count(r.err, "brokermark: ") != 1 {
				t.Errorf("more than a sentence: %s", r.err)
			}
		})
	}
}
