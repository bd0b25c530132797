package sim

import "github.com/brokermark/brokermark/internal/driver"

// natives: what sim does wrong is set by its client settings, whatever is asked.
func natives(g driver.Guarantee) []driver.Native {
	if g.Delivery == driver.AtMostOnce {
		return []driver.Native{{Side: driver.ProducerSide, Name: "done when handed over"}}
	}
	return []driver.Native{{Side: driver.ProducerSide, Name: "done when the model has acknowledged"}}
}
