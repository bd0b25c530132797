package exchange

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func TestSpecsOfOtherToolsAreAnsweredWithACommand(t *testing.T) {
	const class = `"class": "org.apache.kafka.trogdor.workload.ProduceBenchSpec", "targetMessagesPerSec": 10, "maxMessages": 50, `
	for name, c := range map[string]struct {
		spec string
		want []string
		not  string
	}{
		"PerfTest": {
			`[{'name': 'a', 'type': 'varying', 'params': [{'time-limit': 30, 'consumer-count': 0}],
				'variables': [{'name': 'min-msg-size', 'values': [0, 1000]}, {'name': 'producer-count', 'values': [1, 2, 3]}]},
			{'name': 'b', 'type': 'rate-vs-latency', 'params': [{'time-limit': 5}]},
			{'name': 'c', 'type': 'simple', 'params': [{'producer-rate-limit': 100, 'consumer-count': 2}]},
			{'name': 'd', 'type': 'simple', 'params': [{'time-limit': 5, 'auto-ack': true}]},
			{'name': 'e', 'type': 'simple', 'params': [{'time-limit': 5}, {'time-limit': 6}]}]`,
			[]string{
				`"a" is: brokermark run --broker rabbitmq --measure peak --producers 1,2,3 --subscriptions 0 --size 12,1000 --duration 30s;`,
				`"b" is: brokermark run --broker rabbitmq --measure curve --duration 5s;`,
				`"c" is: brokermark run --broker rabbitmq --measure rate --consumers 2 --rate 100`,
			},
			`"d"`,
		},
		"commands of a shell": {
			`[{'name': 'a', 'type': 'simple', 'params': [{'producer-count': '1;id'}]}, {'name': 'b', 'type': 'simple', 'params': [{'time-limit': '$(id)'}]},
			{'name': 'c', 'type': 'simple', 'params': [{'time-limit': '1|id'}]}, {'name': 'd', 'type': 'simple', 'params': [{'time-limit': '1&id'}]},
			{'name': 'e', 'type': 'simple', 'params': [{'producer-count': '1 --output .bashrc'}]}, {'name': 'f', 'type': 'simple', 'params': [{'time-limit': '-o'}]},
			{'name': 'g', 'type': 'simple', 'params': [{'time-limit': 'notes.txt'}]}]`,
			[]string{"write a study"},
			" is: ",
		},
		"topics of one kind":     {"{" + class + `"activeTopics": {"foo[1-3]": {"numPartitions": 10, "replicationFactor": 1}, "bar": {"numPartitions": 10, "replicationFactor": 1}}}`, []string{"--topics 4 --size 512 --partitions 10 --replicas 1"}, ""},
		"a size":                 {"{" + class + `"valueGenerator": {"type": "constant", "size": 99}, "activeTopics": {"foo": {"numPartitions": 1, "replicationFactor": 3}}}`, []string{"--topics 1 --size 99 --partitions 1 --replicas 3"}, ""},
		"topics of two kinds":    {"{" + class + `"activeTopics": {"foo": {"numPartitions": 1}, "bar": {"numPartitions": 2}}}`, []string{"write what it does as a study"}, "brokermark run"},
		"another one of Trogdor": {`{"class": "org.apache.kafka.trogdor.workload.ConsumeBenchSpec", "activeTopics": ["foo[1-3]"]}`, []string{"write what it does as a study"}, "brokermark run"},
		"comments": {
			"// Licensed to the Apache Software Foundation\n//\n\n{\"class\": \"org.apache.kafka.trogdor.workload.RoundTripWorkloadSpec\", \"durationMs\": 10, \"clientNode\": \"node0\",\n" +
				"  // how many\n  \"maxMessages\": 100, \"targetMessagesPerSec\": 10, \"bootstrapServers\": \"localhost:9092\", \"activeTopics\": {\"round_trip_topic[0-1]\": {\"numPartitions\": 2}}}",
			[]string{"its load is: brokermark run --broker kafka --rate 10 --set count.messages=100 --topics 2 --size 32 --partitions 2 --replicas 1"},
			"but for",
		},
		"what a command doesn't say": {
			"{" + class + `"transactionGenerator": {"type": "uniform"}, "producerConf": {"acks": "all"}, "activeTopics": {"foo": {"numPartitions": 1}}}`,
			[]string{"its load, but for producerConf, transactionGenerator is: brokermark run --broker kafka --rate 10"},
			"",
		},
		"a result": {`{"workload": "w", "driver": "Kafka", "publishRate": [1.5]}`, []string{`a result of the OpenMessaging Benchmark and no workload; brokermark import "x.yaml" stores it`}, ""},
	} {
		root, _ := study.Tree("x.yaml", []byte(c.spec))
		got := Elsewhere("x.yaml", []byte(c.spec), root)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in %s", name, c.not, got)
		}
	}
	if got := Elsewhere("client.properties", []byte("linger.ms=5\n"), nil); !strings.Contains(got, "--set client.linger.ms=5") {
		t.Errorf("properties are answered with %q", got)
	}
	if got := Elsewhere("x.yaml", []byte("topics: 1\n"), nil); got != "" {
		t.Errorf("a workload is taken for %s", got)
	}
}
