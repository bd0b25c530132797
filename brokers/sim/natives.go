package sim

import "github.com/brokermark/brokermark/internal/driver"

// natives names no faults: client settings choose those, whatever the guarantee.
func natives(g driver.Guarantee) []driver.Native {
	if g.Delivery == driver.AtMostOnce {
		return []driver.Native{{Side: driver.ProducerSide, Name: "done when handed over"}}
	}
	return []driver.Native{{Side: driver.ProducerSide, Name: "done when the model has acknowledged"}}
}
