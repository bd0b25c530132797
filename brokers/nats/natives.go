package natscore

import "github.com/brokermark/brokermark/internal/driver"

// natives: core NATS has no choice.
func natives(driver.Guarantee) []driver.Native {
	return []driver.Native{
		{Side: driver.ProducerSide, Name: "PUB without reply"},
		{Side: driver.ConsumerSide, Name: "queue group"},
	}
}
