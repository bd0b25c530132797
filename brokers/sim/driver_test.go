package sim

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
)

var atLeastOnce = driver.Guarantee{
	Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered,
}

var atMostOnce = driver.Guarantee{
	Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered,
}

func TestSimKeepsTheDriverContract(t *testing.T) {
	for name, client := range map[string]map[string]any{
		"as fast as it can":       nil,
		"slow, with a window":     {"capacity": 20_000, "latency": "3ms", "ack.latency": "1ms", "window": 40},
		"with random latencies":   {"latency": "1ms", "latency.distribution": "exponential"},
		"with little room at all": {"memory": 8 * chunkBytes, "queue.limit": 50},
	} {
		t.Run(name, func(t *testing.T) {
			address, dead := t.Name(), t.Name()+" dead"
			openBroker(t, dead, nil)
			Kill(dead)
			t.Cleanup(func() { Remove(address); Remove(dead) })
			drivertest.Run(t, drivertest.Suite{
				Kind:       Kind(),
				Target:     func(*testing.T) driver.Target { return driver.Target{Addresses: []string{address}} },
				Guarantees: []driver.Guarantee{atMostOnce, atLeastOnce},
				Client:     client,
				Bulk:       600,
				Pause:      func(*testing.T) { Pause(address) },
				Resume:     func(*testing.T) { Resume(address) },
				Restart:    func(*testing.T) { Cut(address); time.Sleep(100 * time.Millisecond); Mend(address) },
				Keeps:      func(driver.Guarantee) bool { return true },
				Kill:       func(*testing.T) { Kill(address) },
				Dead:       dead,
			})
		})
	}
}
