package amqp10

import "github.com/brokermark/brokermark/internal/driver"

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
