package rabbitmq

import (
	"errors"
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives reads the settings from a driver that settled has made.
func natives(g driver.Guarantee) []driver.Native {
	topic := defaultTopic()
	client, _ := driver.Decode(settings, driver.ClientScope, nil)
	d := settled(driver.Config{Guarantee: g, Client: client, Topic: topic})
	list := []driver.Native{
		{Side: driver.ProducerSide, Name: "confirm.select", Value: d.confirms()},
		{Side: driver.ProducerSide, Name: "delivery_mode", Value: strconv.Itoa(int(d.mode()))},
		{Side: driver.ConsumerSide, Name: "no-ack", Value: strconv.FormatBool(d.autoAck)},
		{Side: driver.TopicSide, Name: "durable", Value: strconv.FormatBool(d.durable || d.quorum)},
	}
	args := d.arguments()
	if !d.quorum {
		args["x-queue-type"] = "classic" // the server's default, which the driver relies on
	}
	return append(list, driver.TopicNatives(args)...)
}

// confirms says whether the broker confirms, and what counts as acknowledged if it doesn't.
func (d *rabbit) confirms() string {
	text := strconv.FormatBool(d.confirm)
	if d.confirm && d.cfg.Guarantee.Delivery == driver.AtLeastOnce && errors.Is(d.nacked(), driver.ErrDisconnected) {
		text += ", nacked messages are sent again"
	}
	return text
}
