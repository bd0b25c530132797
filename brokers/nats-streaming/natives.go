package natsstreaming

import (
	"fmt"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives are the settings of the driver, and those with which server completes the server's settings.
func natives(g driver.Guarantee) []driver.Native {
	list := []driver.Native{
		{Side: driver.ProducerSide, Name: "PublishAsync, AckHandler sends again"},
		{Side: driver.ConsumerSide, Name: "DurableName"},
		{Side: driver.ConsumerSide, Name: "SetManualAckMode, Ack after delivery"},
	}
	if g.Delivery == driver.AtMostOnce {
		list[0].Name, list[2].Name = "PublishAsync, AckHandler does nothing", "automatic Ack, Redelivered is passed over"
	}
	settings, _ := server(g, nil)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: name, Value: fmt.Sprint(settings[name])})
	}
	if g.Replicas > 1 {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: "streaming.cluster.peers", Value: fmt.Sprintf("all (nodes: %d)", g.Replicas)})
	}
	return list
}
