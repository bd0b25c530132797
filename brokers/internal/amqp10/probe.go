package amqp10

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// probePatience bounds one look at a node; there will be others.
const probePatience = 3 * time.Second

// Probe connects to one node, as its recipe does to see whether it is ready; set are client settings.
func Probe(ctx context.Context, p *Product, n *provision.Node, set map[string]any) (*Link, error) {
	client, err := driver.Decode(slices.Concat(ClientSettings, p.Settings), driver.ClientScope, set)
	if err != nil {
		return nil, err
	}
	c := driver.Config{Client: client}
	if n.Cluster.TLS != nil {
		if c.Target.TLS, err = n.Cluster.TLS.ClientConfig(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	return dialNode(ctx, p, &c, net.JoinHostPort("127.0.0.1", strconv.Itoa(n.Ports["client"])))
}
