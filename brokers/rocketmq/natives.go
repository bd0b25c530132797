package rocketmq

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives returns the native settings with which Setup would create topics and the server would be started.
func natives(g driver.Guarantee) []driver.Native {
	var list []driver.Native
	add := func(side driver.Side, name string, value any) {
		list = append(list, driver.Native{Side: side, Name: name, Value: fmt.Sprint(value)})
	}
	if g.Acks == driver.AcksNone {
		add(driver.ProducerSide, "SendMessage, its answer ignored", "")
	} else {
		add(driver.ProducerSide, "SendMessage", "")
	}
	if g.Delivery == driver.AtMostOnce {
		add(driver.ConsumerSide, "AckMessage before delivery, no message ID delivered twice", "")
	} else {
		add(driver.ConsumerSide, "AckMessage after delivery", "")
	}
	add(driver.TopicSide, "message.type", attributes(g)[len("+message.type="):])
	add(driver.TopicSide, "consumeMessageOrderly", group(g, "")["consumeMessageOrderly"])
	add(driver.TopicSide, "retryMaxTimes", attempts)
	asked, _ := server(g, nil)
	if asked[flushing] == nil {
		add(driver.ServerSide, flushing, flushLate)
	} else {
		add(driver.ServerSide, flushing, asked[flushing])
	}
	return list
}
