package qpid

import (
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	remotePolicy = hostPrefix + "remoteTransactionSynchronizationPolicy"
	localPolicy  = hostPrefix + "localTransactionSynchronizationPolicy"
	howToStore   = "its type must be BDB or DERBY, and in a group both synchronization policies SYNC (WRITE_NO_SYNC for log)"
)

// policyOf is how far a transaction of a group must have come, at the master and at a majority, before it is committed.
var policyOf = map[driver.Persistence]string{driver.Log: "WRITE_NO_SYNC", driver.Fsync: "SYNC"}

// served sets how a group flushes, unless asked has it: a group commits one transaction after the other, and with the
// server's default each would wait for another member's disk.
func served(g driver.Guarantee, asked map[string]any) (map[string]any, error) {
	if g.Replicas < 2 || g.Persistence == driver.Memory {
		return asked, nil
	}
	return driver.Completed(asked, map[string]any{localPolicy: policyOf[g.Persistence], remotePolicy: policyOf[g.Persistence]}), nil
}

// stored returns how safe a durable message is when the broker accepts it: the least of what its copies have.
func stored(settings map[string]any) driver.Persistence {
	least := driver.Fsync
	if v, ok := settings[hostPrefix+"type"]; ok && provision.Text(v) == "Memory" {
		least = driver.Memory
	}
	for _, policy := range []string{localPolicy, remotePolicy} {
		switch settings[policy] {
		case "WRITE_NO_SYNC":
			if least == driver.Fsync {
				least = driver.Log
			}
		case "NO_SYNC":
			least = driver.Memory
		}
	}
	return least
}
