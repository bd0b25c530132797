package rabbitmqamqp10

import (
	"context"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/internal/provision"
)

func recipe() *provision.Recipe {
	return rabbitserver.Recipe(rabbitserver.Protocol{Listen: rabbitserver.ListenAMQP, SinceFour: true, Ready: ready})
}

// ready asks for the cluster's name, which only this instance has; the server gives it when a connection is opened.
func ready(ctx context.Context, n *provision.Node) error {
	l, err := amqp10.Probe(ctx, product, n, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	return rabbitserver.Named(n, l.Conn.Properties()["cluster_name"])
}
