package amqp10

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// Supports refuses what no broker can promise over this protocol, as go-amqp speaks it.
func Supports(g driver.Guarantee) error {
	switch {
	case g.Delivery == driver.ExactlyOnce:
		return driver.Unsupported("delivery: exactly-once", "what a consumer has not settled when its connection breaks comes again, and no link outlives its connection")
	case g.Delivery == driver.AtLeastOnce && g.Acks == driver.AcksNone:
		return driver.Unsupported("acks: none", "at-least-once needs the broker's disposition")
	case g.Delivery == driver.AtMostOnce && g.Acks != driver.AcksNone:
		return driver.Unsupported("acks: "+string(g.Acks), "at-most-once sends messages already settled; use none")
	case g.Delivery == driver.AtMostOnce && g.Persistence == driver.Fsync:
		return driver.Unsupported("persistence: fsync", "at-most-once asks for no disposition, so nothing waits for the disk")
	}
	return nil
}

// fits refuses settings that the protocol or the client can't keep, and then those that the product can't.
func fits(p *Product, c driver.Config, s driver.Shape) error {
	group := promised(p, c).group
	credit, frame, buffer := c.Client.Int("Credit"), c.Client.Int("MaxFrameSize"), c.Client.Int("write.buffer")
	if err := driver.FitsAck(c.Guarantee, c.Client); err != nil {
		return err
	}
	switch {
	case p.QueueOrders && group != groupAuto && group != groupNone:
		return driver.Unsupported("client.GroupID: "+group, "%s gives the groups of messages no meaning", p.Name)
	case c.Guarantee.Ordering == driver.Ordered && group != groupProducer && !p.QueueOrders:
		return driver.Unsupported("client.GroupID: "+group, "a producer's messages keep their order over several consumers only as one group")
	case credit < 1 || credit > 5000:
		return driver.Unsupported(fmt.Sprintf("client.Credit: %d", credit), "1 to 5000, the client's session window")
	case frame < 512 || frame > 1<<30:
		return driver.Unsupported(fmt.Sprintf("client.MaxFrameSize: %d", frame), "512 bytes to 1 GiB")
	case buffer < 0 || buffer > 1<<30:
		return driver.Unsupported(fmt.Sprintf("client.write.buffer: %d", buffer), "0 bytes to 1 GiB")
	case s.Partitions > 1:
		return driver.Unsupported(fmt.Sprintf("partitionsPerTopic: %d", s.Partitions), "an address has no partitions; more topics are more queues")
	}
	return p.Fits(c, s)
}
