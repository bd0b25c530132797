package rabbitmq

import (
	"context"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

func recipe() *provision.Recipe {
	r := rabbitserver.Recipe(rabbitserver.Protocol{
		Listen: rabbitserver.ListenAMQP,
		Ready:  ready,
	})
	r.AnyAddress = true
	return r
}

// ready checks the cluster's name, which only this instance has. The server sends it in its first frame, so that no management
// plugin has to run (and cost) during measurements.
func ready(ctx context.Context, n *provision.Node) error {
	c, err := reach.Config(n, settings, nil)
	if err != nil {
		return err
	}
	l, err := dialer(c).dialNode(ctx, n.Address())
	if err != nil {
		return err
	}
	defer l.close()
	return rabbitserver.Named(n, l.conn.Properties["cluster_name"])
}
