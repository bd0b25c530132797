package study

import (
	"strings"
	"testing"
)

func TestANetworkIsBetweenPartsThatThereAre(t *testing.T) {
	for doc, want := range map[string]string{
		"network: {broker: {delay: 20ms, jitter: 1ms, bandwidth: 12.5MB}}":   "",
		"measure: count\npipeline: {servers: 1}\nnetwork.client.delay: 52ms": "",
		"network.broker.delay: -1ms":                                         "network.broker.delay: -1ms is out of range",
		"network.broker.bandwidth: 10":                                       "network.broker.bandwidth: 10 bytes is too little; allowed: 1kB per second and more",
		"network.client.delay: 1ms":                                          "network.client: there is no client apart",
		"network.broker.delay: 1ms\nattach: [a:1]":                           "network.broker: can't be combined with attach",
		"network.broker.loss: 1":                                             "f.yaml:1: network.broker.loss: is not possible: a proxy passes on connections, which lose nothing",
		"network: {client: {loss: 1%}}":                                      "network.client.loss: is not possible",
		"axes: {network.broker.loss: [0, 1%]}":                               "network.broker.loss",
	} {
		s, err := Parse("f.yaml", []byte(doc))
		if err == nil {
			_, err = s.Points()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}
