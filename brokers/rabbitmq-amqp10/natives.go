package rabbitmqamqp10

import (
	"github.com/brokermark/brokermark/internal/driver"
)

// natives returns the arguments with which the queue would be declared.
func natives(g driver.Guarantee) []driver.Native {
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	return driver.TopicNatives((&nodes{driver.Config{Guarantee: g, Topic: topic}}).arguments())
}
