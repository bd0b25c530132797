package artemis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/amqp10"
	"github.com/brokermark/brokermark/internal/provision"
)

// askPatience bounds one question to a node; others follow.
const askPatience = 3 * time.Second

// ready asks for the server's name, which only this node has. A backup opens no port as long as it is a backup; formed
// waits for it.
func ready(ctx context.Context, n *provision.Node) error {
	if n.ID > 1 {
		return nil
	}
	var name string
	err := ask(ctx, n, "Name", &name)
	if err == nil && name != n.Name() {
		err = fmt.Errorf("port %d is answered by another broker: %s", n.Ports["client"], name)
	}
	return err
}

// formed waits until the backup has everything that the primary has.
func formed(ctx context.Context, c *provision.Cluster) error {
	if len(c.Nodes) == 1 {
		return nil
	}
	var inSync bool
	err := ask(ctx, c.Nodes[0], "ReplicaSync", &inSync)
	if err == nil && !inSync {
		err = errors.New("the backup is not yet in step with the primary")
	}
	return err
}

// inSync counts the serving node and its backup, if that has caught up.
func inSync(ctx context.Context, c *provision.Cluster) (int, error) {
	id, err := leader(ctx, c)
	if err != nil {
		return 0, err
	}
	var caughtUp bool
	if err := ask(ctx, c.Nodes[id-1], "ReplicaSync", &caughtUp); err != nil {
		return 0, err
	}
	if caughtUp {
		return 2, nil
	}
	return 1, nil
}

// leader returns the node that serves; the other one doesn't answer.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	return provision.Ask(c, func(n *provision.Node) (int, error) {
		var active bool
		err := ask(ctx, n, "Active", &active)
		if err == nil && !active {
			err = fmt.Errorf("node %d is not active", n.ID)
		}
		return n.ID, err
	})
}

// ask reads an attribute of the node's broker control.
func ask(ctx context.Context, n *provision.Node, attribute string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	l, err := amqp10.Probe(ctx, product, n, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	m, err := manage(ctx, l)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.attribute(ctx, theBroker, attribute, result)
}
