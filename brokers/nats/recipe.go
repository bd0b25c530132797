package natscore

import (
	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/provision"
)

// recipe adds nothing: without a jetstream block the server keeps no message.
func recipe() *provision.Recipe {
	return natsio.Recipe(func(*provision.Node) natsio.Block { return nil })
}
