package redis

import (
	"strconv"

	"github.com/brokermark/brokermark/internal/driver"
)

// natives are the settings of streams. Setup sets those of the server (CONFIG SET) if it was started for the point.
func natives(g driver.Guarantee) []driver.Native {
	list := []driver.Native{{Side: driver.ProducerSide, Name: "XADD"}}
	if g.Acks == driver.AcksNone {
		list[0].Name = "XADD, its reply ignored"
	}
	if copies := awaited(g); copies > 0 {
		list = append(list, driver.Native{Side: driver.ProducerSide, Name: "WAIT " + strconv.Itoa(copies)})
	}
	read := driver.Native{Side: driver.ConsumerSide, Name: "XREADGROUP, XACK after delivery"}
	if g.Delivery == driver.AtMostOnce {
		read.Name = "XREADGROUP NOACK"
	}
	list = append(list, read)
	if sync, ok := wanted[g.Persistence]; ok {
		list = append(list,
			driver.Native{Side: driver.ServerSide, Name: "appendonly", Value: "yes"},
			driver.Native{Side: driver.ServerSide, Name: "appendfsync", Value: sync})
	}
	if g.Replicas > 1 {
		list = append(list, driver.Native{Side: driver.ServerSide, Name: "replicaof", Value: "node 1 (nodes: " + strconv.Itoa(g.Replicas) + ")"})
	}
	return list
}

func pubsubNatives(driver.Guarantee) []driver.Native {
	return []driver.Native{{Side: driver.ProducerSide, Name: "PUBLISH, its reply ignored"}, {Side: driver.ConsumerSide, Name: "SUBSCRIBE"}}
}
