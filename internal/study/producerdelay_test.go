package study

import (
	"strings"
	"testing"
)

func TestProducersThatShareAConnectionWorkInTurns(t *testing.T) {
	const shared = "topics: 20\nconnections: 4\nrate: 100\nproducerDelay: 2ms\n"
	if _, err := parse(t, shared+"load.shape: poisson\n").Points(); err == nil || !strings.Contains(err.Error(), "allowed: connections: 0, or another shape") {
		t.Errorf("arrivals at random: %v", err)
	}
	for _, doc := range []string{shared, strings.Replace(shared, "connections: 4", "connections: 0\nload.shape: poisson", 1)} {
		if _, err := parse(t, doc).Points(); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
