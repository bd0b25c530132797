package fleet

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/provision"
)

// gaugeEvery is how often an agent reads the meters of a broker's processes during a run.
const gaugeEvery = 100 * time.Millisecond

// metersQuestion asks which of a broker's addresses the metered processes serve, and metersReply is the answer.
type (
	metersQuestion struct{ Addresses []string }
	metersReply    struct {
		Processes string
		Serves    []string
	}
)

// serves answers which addresses the metered processes listen on.
func (a *joined) serves(r micro.Request) {
	var q metersQuestion
	if err := json.Unmarshal(r.Data(), &q); err != nil {
		_ = r.Error("400", err.Error(), nil)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	_ = r.RespondJSON(metersReply{a.Meter.String(), a.Meter.Serves(ctx, q.Addresses)})
}

// readings collects a session's readings until a beat carries them.
type readings struct {
	of      *provision.Foreign
	flushes *provision.Flushes // nil where the kernel does not tell
	over    chan struct{}
	ended   sync.WaitGroup
	pids    map[int]bool // processes that the broker had at any time

	mu     sync.Mutex
	untold []agent.Metered
}

// read starts to read the meters.
func read(of *provision.Foreign) *readings {
	r := &readings{of: of, over: make(chan struct{}), pids: map[int]bool{}}
	if f, err := provision.WatchFlushes(); err == nil {
		r.flushes = f
	}
	r.ended.Go(func() {
		t := time.NewTicker(gaugeEvery)
		defer t.Stop()
		for {
			r.once()
			select {
			case <-r.over:
				return
			case <-t.C:
			}
		}
	})
	return r
}

func (r *readings) once() {
	m := agent.Metered{At: now(), Used: r.of.Sample(), Flushes: agent.NotCounted, PIDs: r.of.PIDs(), Gone: r.of.Gone()}
	if r.flushes != nil {
		for _, pid := range m.PIDs {
			r.pids[pid] = true
		}
		m.Flushes, m.Gaps = r.flushes.Of(slices.Collect(maps.Keys(r.pids)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.untold = append(r.untold, m)
}

// tell returns the readings since the last call.
func (r *readings) tell() []agent.Metered {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.untold
	r.untold = nil
	return list
}

func (r *readings) close() {
	close(r.over)
	r.ended.Wait()
	if r.flushes != nil {
		r.flushes.Close()
	}
}
