package qpid

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives returns the attributes with which the queue would be declared, and the server settings that newNodes looks for.
func natives(g driver.Guarantee) []driver.Native {
	client, _ := driver.Decode(settings, driver.ClientScope, nil)
	client["GroupID"] = "auto" // the protocol's own setting
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	attributes := (&nodes{driver.Config{Guarantee: g, Client: client, Topic: topic}}).attributes()
	var list []driver.Native
	for _, name := range []string{"durable", "messageGroupType"} {
		if value, ok := attributes[name]; ok {
			list = append(list, driver.Native{Side: driver.TopicSide, Name: name, Value: fmt.Sprint(value)})
		}
	}
	server := func(name, value string) {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: name, Value: value})
	}
	switch {
	case g.Persistence == driver.Memory:
	case g.Replicas > 1:
		server(hostPrefix+"type", "BDB_HA")
		server(remotePolicy, policyOf[g.Persistence])
		server(localPolicy, policyOf[g.Persistence])
	default:
		server(hostPrefix+"type", "BDB")
	}
	return list
}
