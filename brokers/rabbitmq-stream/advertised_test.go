package rabbitmqstream

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/provision"
)

const misled = "rabbitmq-stream-misled"

// A recipe of its own, since no setting changes which addresses the servers here send their clients.
func init() {
	r := rabbitserver.Recipe(rabbitserver.Protocol{Plugin: "rabbitmq_stream", Ready: ready, Listen: func(n *provision.Node) map[string]string {
		keys := listen(n)
		keys["stream.advertised_port"] = "1"
		return keys
	}})
	r.Broker = misled
	provision.Register(*r)
}

func TestAnAdvertisedAddressThatCannotBeReachedIsNamed(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: misled})
	livetest.Misled(t, broker, target, logged, "127.0.0.1:1", "stream.advertised_host, stream.advertised_port")
}
