package drivertest

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Cost is what the broker's processes have used so far, and the size of its data directories.
type Cost struct {
	CPU     time.Duration
	Memory  int64 // bytes
	Data    int64 // bytes in the data directories
	Written int64 // bytes written to disk; 0 if not known
}

// requireCost compares the cost with a reading from before a guarantee was exercised. A broker may write into preallocated files,
// so either figure may grow.
func (r *run) requireCost(t *testing.T, g driver.Guarantee, before Cost) {
	r.requireCPU(t, g, before)
	now := r.suite.Cost(t)
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

// requireCPU keeps sending until the broker's CPU time has grown: the kernel counts it in hundredths of a second, in which a fast
// broker passes thousands of messages.
func (r *run) requireCPU(t *testing.T, g driver.Guarantee, before Cost) {
	if r.suite.Cost(t).CPU > before.CPU {
		return
	}
	s := r.open(t, g, shape{topics: 1, subscriptions: 1, consumers: 1})
	p := s.newSender(t, 0, 0)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for r.suite.Cost(t).CPU <= before.CPU && ctx.Err() == nil {
		if err := p.send(ctx, ahead/4); err != nil {
			t.Error(err)
			break
		}
		eventually(patience, func() bool { return s.lagging() < ahead || s.broken() })
	}
	p.settle(t)
	p.close(t, true)
	s.close(t, true)
	if now := r.suite.Cost(t); now.CPU <= before.CPU {
		t.Errorf("the broker's CPU time went from %v to %v", before.CPU, now.CPU)
	}
}
