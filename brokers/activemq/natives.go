package activemq

import "github.com/brokermark/brokermark/internal/driver"

// natives returns the server's settings that newDestinations looks for, its own defaults.
func natives(g driver.Guarantee) []driver.Native {
	if g.Persistence == driver.Memory {
		return nil
	}
	return []driver.Native{
		{Side: driver.ServerSide, Name: "persistent", Value: "true"},
		{Side: driver.ServerSide, Name: "kahaDB.journalDiskSyncStrategy", Value: "always"},
	}
}
