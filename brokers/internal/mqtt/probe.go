package mqtt

import (
	"context"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Probe connects to a node, as its recipe does to see whether it is ready, and returns the name that the server has made up
// for the client.
func Probe(ctx context.Context, p *Product, n *provision.Node) (string, error) {
	client := map[string]any{}
	if len(p.attaching(n.Cluster.Settings, driver.Target{})) > 0 {
		client[overWebSocket] = "/mqtt"
	}
	c, err := reach.Config(n, settings(p), client)
	if err != nil {
		return "", err
	}
	d := &driving{product: p, config: c}
	l, err := d.dial(ctx, station{clean: true})
	if err != nil {
		return "", err
	}
	defer l.close(true)
	return l.ClientID(), nil
}
