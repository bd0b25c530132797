package fleet

import (
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
)

// A thousand agents in one process once took a thousand readings of a thousand threads each time a measured phase began, and did
// nothing else for longer than a silent agent is waited for.
func TestAgentsThatReadTheMetersTogetherShareAReading(t *testing.T) {
	const agents = 1000
	readings := 0 // guarded by the meter's lock
	m := usageMeter{read: func() agent.Reading {
		readings++
		r := agent.Reading{At: clock.Now()}
		time.Sleep(100 * time.Millisecond) // longer than all of them take to ask
		return r
	}}
	var asking sync.WaitGroup
	for range agents {
		asking.Go(func() {
			called := clock.Now()
			if r := m.Read(); r.At < called {
				t.Errorf("a reading is %d ns older than the question", called-r.At)
			}
		})
	}
	asking.Wait()
	if readings > 5 {
		t.Errorf("%d readings for %d agents that asked at the same time, want a few", readings, agents)
	}
}
