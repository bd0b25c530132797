package rabbitmqstream

import (
	"context"
	"strconv"

	"github.com/brokermark/brokermark/brokers/internal/rabbitserver"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

func recipe() *provision.Recipe {
	return rabbitserver.Recipe(rabbitserver.Protocol{
		Plugin: "rabbitmq_stream",
		Ours:   []string{"stream.listeners", "stream.advertised_host", "stream.advertised_port", "stream.advertised_tls_host", "stream.advertised_tls_port"},
		Listen: listen,
		Ready:  ready,
	})
}

// listen opens the stream port only. The server sends clients the address of a stream's leader, which has to be one that
// they can reach, not the machine's name.
func listen(n *provision.Node) map[string]string {
	port := strconv.Itoa(n.Ports["client"])
	keys := map[string]string{
		"listeners.tcp":          "none",
		"stream.advertised_host": "127.0.0.1", "stream.advertised_tls_host": "127.0.0.1",
		"stream.advertised_port": port, "stream.advertised_tls_port": port,
	}
	if n.Cluster.TLS == nil {
		keys["stream.listeners.tcp.1"] = n.Address()
	} else {
		keys["stream.listeners.tcp"], keys["stream.listeners.ssl.1"] = "none", n.Address()
	}
	return keys
}

// ready asks for the cluster's name, which only this instance has.
func ready(ctx context.Context, n *provision.Node) error {
	t, err := reach.Node(n)
	if err != nil {
		return err
	}
	properties, err := greet(ctx, n.Address(), t.TLS)
	if err != nil {
		return err
	}
	return rabbitserver.Named(n, properties["cluster_name"])
}
