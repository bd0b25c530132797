package rabbitmqstream

import (
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives returns the settings by which a guarantee is kept.
func natives(g driver.Guarantee) []driver.Native {
	confirm, name, offsets := "awaited", "", "stored after delivery"
	switch g.Delivery {
	case driver.AtMostOnce:
		confirm, offsets = "ignored", "never stored"
	case driver.ExactlyOnce:
		name = "publishing id"
	}
	list := []driver.Native{{Side: driver.ProducerSide, Name: "publisher confirm", Value: confirm}}
	if name != "" {
		list = append(list, driver.Native{Side: driver.ProducerSide, Name: "publisher reference with publishing ids"})
	}
	return append(list,
		driver.Native{Side: driver.ConsumerSide, Name: "offset", Value: offsets},
		driver.Native{Side: driver.ConsumerSide, Name: "single-active-consumer", Value: "true"},
		driver.Native{Side: driver.TopicSide, Name: "initial-cluster-size", Value: strconv.Itoa(max(1, g.Replicas)) + " (the number of nodes)"})
}
