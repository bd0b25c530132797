package kafka

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestAVersionRefusesWhatOnlyTheOtherHas(t *testing.T) {
	for version, name := range map[string]string{"4.3.1": "log.message.format.version", "3.9.2": "group.streams.max.size"} {
		livetest.RefusesServer(t, provision.Options{Broker: "kafka", Version: version}, name, "3", "this version of Kafka has")
	}
}
