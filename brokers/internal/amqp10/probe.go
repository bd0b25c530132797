package amqp10

import (
	"context"
	"slices"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/provision"
)

// probePatience bounds one look at a node; others follow.
const probePatience = 3 * time.Second

// Probe connects to one node, as its recipe does to see whether it is ready; set are client settings.
func Probe(ctx context.Context, p *Product, n *provision.Node, set map[string]any) (*Link, error) {
	c, err := reach.Config(n, slices.Concat(ClientSettings, p.Settings), set)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	return dialNode(ctx, p, &c, c.Target.Addresses[0])
}
