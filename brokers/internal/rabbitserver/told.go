package rabbitserver

import (
	"fmt"
	"regexp"

	"github.com/brokermark/brokermark/internal/provision"
)

// Silence says when RabbitMQ takes no messages, for the protocols that can't report it; AMQP 0-9-1 has connection.blocked.
const Silence = "RabbitMQ reads nothing from publishers, and does not say so in this protocol, while it has raised an alarm about its disk or its memory " +
	"(rabbitmq-diagnostics alarms; disk_free_limit, vm_memory_high_watermark)"

// Named returns an error unless a node has said the name of its cluster, which only this instance has.
func Named(n *provision.Node, said any) error {
	if said != n.Cluster.ID {
		return fmt.Errorf("%s is answered by another cluster: %v", n.Address(), said)
	}
	return nil
}

var raised = regexp.MustCompile(`\w+ resource limit alarm set on node`)

// Alarmed adds to err, of a node that doesn't answer, the alarm that the node has raised since its start: until the alarm
// clears it doesn't talk to MQTT clients.
func Alarmed(n *provision.Node, err error) error {
	log, unread := n.Log()
	if found := raised.Find(log); err != nil && unread == nil && found != nil {
		return fmt.Errorf("%w: the server has said %q and blocks publishers: %w", provision.ErrHopeless, found, err)
	}
	return err
}
