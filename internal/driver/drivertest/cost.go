package drivertest

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Cost is what the broker's processes have used so far, and what its data directories hold now.
type Cost struct {
	CPU     time.Duration
	Memory  int64 // bytes
	Data    int64 // bytes in the data directories
	Written int64 // bytes written to disk; 0 where that is not known
}

// requireCost compares with a reading from before a guarantee was exercised. A broker may write into files that it
// made beforehand, so either figure may be the one that grows.
func (r *run) requireCost(t *testing.T, g driver.Guarantee, before Cost) {
	now := r.suite.Cost(t)
	if now.CPU <= before.CPU {
		t.Errorf("the broker's CPU time went from %v to %v", before.CPU, now.CPU)
	}
	if now.Memory <= 0 {
		t.Errorf("the broker's memory is %d bytes", now.Memory)
	}
	if g.Persistence == driver.Memory {
		return
	}
	grown := func() bool {
		now = r.suite.Cost(t)
		return now.Data > before.Data || now.Written > before.Written
	}
	if !eventually(patience, grown) {
		t.Errorf("with persistence %s the data directories went from %d to %d bytes, and %d to %d bytes were written", g.Persistence, before.Data, now.Data, before.Written, now.Written)
	}
}
