package kafka

import "testing"

// What the client library says of the requests that a server takes, and what Redpanda calls its clusters
// (src/v/kafka/server/handlers/metadata.cc there: "so that callers can identify which Kafka implementation they're talking to").
func TestAServerThatSpeaksKafkasProtocolIsCalledWhatItIs(t *testing.T) {
	for guess, want := range map[string]string{
		"v4.1": "4.1", "at least v4.2": "at least 4.2", "v0.11.0": "0.11.0", "between v2.4 and v2.5": "between 2.4 and 2.5",
		"unknown custom version": "", "unknown custom version at least v2.4": "at least 2.4",
	} {
		if got := versionOf(guess); got != want {
			t.Errorf("%q is version %q, want %q", guess, got, want)
		}
	}
	for cluster, want := range map[string]string{
		"redpanda.initializing": "Redpanda", "redpanda.560e2403-3fd6-448c-b720-7b456d0aa78c": "Redpanda",
		"4L6g3nShT-eMCtK--X86sw": "", "": "",
	} {
		if got := productOf(cluster); got != want {
			t.Errorf("cluster %q is of %q, want %q", cluster, got, want)
		}
	}
}
