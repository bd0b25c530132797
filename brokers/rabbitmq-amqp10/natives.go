package rabbitmqamqp10

import (
	"fmt"
	"maps"
	"slices"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives returns the arguments with which the queue would be declared.
func natives(g driver.Guarantee) []driver.Native {
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	args := (&nodes{driver.Config{Guarantee: g, Topic: topic}}).arguments()
	var list []driver.Native
	for _, name := range slices.Sorted(maps.Keys(args)) {
		list = append(list, driver.Native{Side: driver.TopicSide, Name: name, Value: fmt.Sprint(args[name])})
	}
	return list
}
