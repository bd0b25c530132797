package amqp10

import (
	"slices"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives reads the settings from a session that a guarantee has set up, and adds the product's own.
func natives(p *Product, g driver.Guarantee) []driver.Native {
	client, _ := driver.Decode(slices.Concat(ClientSettings, p.Settings), driver.ClientScope, nil)
	d := promised(p, driver.Config{Guarantee: g, Client: client})
	mode := map[bool]string{false: "settled", true: "unsettled"}
	list := []driver.Native{
		{Side: driver.ProducerSide, Name: "snd-settle-mode", Value: mode[d.unsettled]},
		{Side: driver.ProducerSide, Name: "durable", Value: strconv.FormatBool(d.durable)},
		{Side: driver.ConsumerSide, Name: "snd-settle-mode", Value: mode[d.accepts]},
	}
	if d.group == groupProducer {
		list = append(list, driver.Native{Side: driver.ProducerSide, Name: "group-id", Value: "producer-N"})
	}
	if d.identity != "" {
		list = append(list,
			driver.Native{Side: driver.ProducerSide, Name: d.identity, Value: "producer and number"},
			driver.Native{Side: driver.ConsumerSide, Name: d.identity + " twice is passed over"})
	}
	if p.Maps != nil {
		list = append(list, p.Maps(g)...)
	}
	return list
}
