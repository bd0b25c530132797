package study

import (
	"strings"
	"testing"
)

func TestLimitsAreOfPartsThatThereAre(t *testing.T) {
	for doc, want := range map[string]string{
		"limits: {broker: {cpu: 0.2, memory: 2GiB}}":     "",
		"limits.consumer.cpu: 0.5\nconsumersApart: true": "",
		"measure: count\npipeline: {servers: 2}\nlimits: {server: {cpu: 1}, balancer: {cpu: 0.1}, consumer: {memory: 64MiB}}": "",
		"limits.broker.cpu: 0.001":                                       "limits.broker.cpu: 0.001 is out of range; allowed: 0.01 to 10000",
		"limits.broker.cpu: -1":                                          "limits.broker.cpu: -1 is out of range",
		"limits.broker.memory: 1MiB":                                     "limits.broker.memory: 1MiB is too little to start with; allowed: 4MiB and more",
		"limits: {broker: {io: 10MB}}":                                   "",
		"limits.broker.io: 10":                                           "limits.broker.io: 10 bytes is too little; allowed: 1kB per second and more",
		"limits.broker.memory: 1GiB\nattach: [a:1]":                      "limits.broker: can't be combined with attach",
		"limits.server.cpu: 1":                                           "limits.server: there are no servers",
		"limits.balancer.cpu: 1\nmeasure: count\npipeline: {servers: 1}": "limits.balancer: there is no balancer",
		"dataInMemory: 4GiB":                                             "",
		"dataInMemory: 1MiB":                                             "dataInMemory: 1MiB is too little; allowed: 16MiB and more",
		"dataInMemory: 1GiB\nattach: [a:1]":                              "dataInMemory: can't be combined with attach",
		"limits.consumer.memory: 1GiB":                                   "limits.consumer: the consumers are no process of their own",
	} {
		s := parse(t, doc)
		_, err := s.Points()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}
