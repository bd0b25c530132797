package pulsar

import (
	"fmt"
	"maps"
	"testing"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

// small makes a server that starts and runs on a machine with other work: the first compiler only, a small heap.
func small(more map[string]any) map[string]any {
	settings := map[string]any{
		"jvm.Xms": "256m", "jvm.Xmx": "512m", "jvm.XX:MaxDirectMemorySize": "512m", "jvm.XX:TieredStopAtLevel": 1,
		"activeConsumerFailoverDelayTimeMillis": 0, // a second that every first consumer of an ordered subscription waits
	}
	maps.Copy(settings, more)
	return settings
}

// TestServerAlone shares one server among everything that needs no other; the contract's last promise ends it.
func TestServerAlone(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "pulsar", Server: small(map[string]any{
		"journalSyncData": true, "maxMessageSize": 1 << 20, "journalMaxGroupWaitMSec": 3,
		// A non-persistent topic drops what finds more than this waiting for its consumer's connection; the suite sends
		// some messages of 64 KiB.
		"pulsarChannelWriteBufferHighWaterMark": 16 << 20, "pulsarChannelWriteBufferLowWaterMark": 8 << 20,
	})})
	t.Run("server settings reach the server", func(t *testing.T) { serverSettings(t, in, target) })
	t.Run("every subscription receives all of a partitioned topic once, in the order promised", func(t *testing.T) { topologies(t, target) })
	t.Run("the broker drops repeats with exactly-once only", func(t *testing.T) { repeats(t, target) })
	t.Run("guarantees hold through kill and restart", func(t *testing.T) {
		testkit.Long(t)
		throughKillAndRestart(t, in, target)
	})
	s := livetest.SuiteOn(t, in,
		livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
		livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
		livetest.Guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered),
	)
	s.Bulk, s.Guarded = 500, guardedServer
	s.Restart = nil // that is what throughKillAndRestart does
	s.QueuedInBatches = true
	drivertest.Run(t, s)
}

func TestTheTunedClientKeepsThePromises(t *testing.T) {
	testkit.Long(t)
	s := livetest.Tuned(t, provision.Options{Broker: "pulsar", TLS: true, Server: small(map[string]any{"journalSyncData": true})},
		livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
		livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
	)
	s.Bulk, s.QueuedInBatches = 500, true
	drivertest.Run(t, s)
}

// repeats sends numbered messages twice under one producer's name, as a client does that has lost an answer.
func repeats(t *testing.T, target driver.Target) {
	const n = 100
	for _, c := range []struct {
		g    driver.Guarantee
		want int // deliveries
	}{{atLeast, 2 * n}, {exactly, n}} {
		t.Run(string(c.g.Delivery), func(t *testing.T) {
			drv := livetest.SetUp(t, "pulsar", livetest.Config(t, "pulsar", target, c.g, nil, nil), livetest.Topic("repeats", 1, "s"))
			s := drv.(*session)
			direct, err := s.connect(s.logged)
			livetest.Must(t, err)
			defer direct.Close()
			number := func(name string, from, to int64) {
				t.Helper()
				p, err := direct.CreateProducer(client.ProducerOptions{Topic: s.address(0), Name: name})
				livetest.Must(t, err)
				defer p.Close()
				for i := from; i < to; i++ {
					if _, err := p.Send(t.Context(), &client.ProducerMessage{SequenceID: &i, Payload: fmt.Append(nil, i)}); err != nil {
						t.Fatalf("message %d: %v", i, err)
					}
				}
			}
			number("same", 0, n)
			number("same", 0, n)
			number("other", n, n+1)
			b := livetest.NewBook(t, 0, 1)
			end := livetest.Consume(t, drv, driver.ConsumerConfig{}, b.Sink(0))
			livetest.Eventually(t, "all have come, the other's last", func() bool { return b.Count().Received == n+1 })
			end()
			if got := len(b.Received(0)); got != c.want+1 {
				t.Errorf("%d numbers were sent twice and one once: %d deliveries, want %d", n, got, c.want+1)
			}
		})
	}
}
