package artemis

import "github.com/brokermark/brokermark/internal/driver"

// natives returns the server settings that newAddresses looks for. It names the server's own defaults too, since a
// guarantee rests on them.
func natives(g driver.Guarantee) []driver.Native {
	server := func(name, value string) driver.Native {
		return driver.Native{Side: driver.ServerSide, Name: name, Value: value}
	}
	list := []driver.Native{{Side: driver.TopicSide, Name: "durable", Value: "true"}}
	switch g.Persistence {
	case driver.Log:
		list = append(list, server("persistence-enabled", "true"), server("journal-sync-non-transactional", "true"))
	case driver.Fsync:
		list = append(list, server("persistence-enabled", "true"), server("journal-sync-non-transactional", "true"), server("journal-datasync", "true"))
	}
	if g.Replicas > 1 {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: "ha-policy", Value: "replication (nodes: 2)"})
	}
	return list
}
