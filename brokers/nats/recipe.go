package natscore

import (
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/provision"
)

func init() {
	// Nothing to add: without a jetstream block the server keeps no message.
	provision.Register(natsio.Recipe("nats", func(*provision.Node) natsio.Block { return nil }))
}
