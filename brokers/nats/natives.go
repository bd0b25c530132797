package natscore

import "github.com/brokermark/brokermark/internal/driver"

// natives returns no setting to choose: core NATS has none.
func natives(driver.Guarantee) []driver.Native {
	return []driver.Native{
		{Side: driver.ProducerSide, Name: "PUB without reply"},
		{Side: driver.ConsumerSide, Name: "queue group"},
	}
}
