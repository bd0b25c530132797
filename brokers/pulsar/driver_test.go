package pulsar

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"testing"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestMain(m *testing.M) {
	provision.Main()
	os.Exit(m.Run())
}

// start brings a broker up for the test, or skips where Pulsar can't be installed.
func start(t *testing.T, o provision.Options) *provision.Instance {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	o.Broker, o.Deadline = "pulsar", 3*time.Minute
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("Pulsar can't be installed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in
}

func target(in *provision.Instance) driver.Target { return reach.Instance(in) }

func kind(t *testing.T) driver.Kind {
	k, err := driver.Lookup("pulsar")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func guarantee(d driver.Delivery, p driver.Persistence, a driver.Acks, o driver.Ordering) driver.Guarantee {
	return driver.Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o}
}

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
	in := start(t, provision.Options{Server: small(map[string]any{
		"journalSyncData": true, "maxMessageSize": 1 << 20, "journalMaxGroupWaitMSec": 3,
		// A non-persistent topic drops what finds more than this waiting for its consumer's connection; the suite sends
		// some messages of 64 KiB.
		"pulsarChannelWriteBufferHighWaterMark": 16 << 20, "pulsarChannelWriteBufferLowWaterMark": 8 << 20,
	})})
	t.Run("server settings reach the server", func(t *testing.T) { serverSettings(t, in) })
	t.Run("every subscription receives all of a partitioned topic once, in the order promised", func(t *testing.T) { topologies(t, in) })
	t.Run("the broker drops repeats with exactly-once only", func(t *testing.T) { repeats(t, in) })
	t.Run("guarantees hold through kill and restart", func(t *testing.T) { throughKillAndRestart(t, in) })
	fault := func(do func(context.Context, int) error) func(*testing.T) {
		return func(t *testing.T) {
			if err := do(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	drivertest.Run(t, drivertest.Suite{
		Kind:   kind(t),
		Target: func(*testing.T) driver.Target { return target(in) },
		Guarantees: []driver.Guarantee{
			guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
			guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
			guarantee(driver.AtMostOnce, driver.Memory, driver.AcksNone, driver.Ordered),
		},
		Bulk:    500,
		Pause:   fault(in.Pause),
		Resume:  fault(in.Resume),
		Kill:    fault(in.Kill),
		Guarded: guardedServer,
		Cost:    func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
	})
}

// repeats sends numbered messages twice under one producer's name, as a client does that has lost an answer.
func repeats(t *testing.T, in *provision.Instance) {
	const n = 100
	for _, c := range []struct {
		g    driver.Guarantee
		want int // deliveries
	}{{atLeast, 2 * n}, {exactly, n}} {
		t.Run(string(c.g.Delivery), func(t *testing.T) {
			s := opened(t, target(in), c.g)
			if err := s.Setup(t.Context(), driver.Topology{Topics: []driver.Topic{{Name: "repeats", Partitions: 1}}, Subscriptions: []string{"s"}}); err != nil {
				t.Fatal(err)
			}
			direct, err := s.connect()
			if err != nil {
				t.Fatal(err)
			}
			defer direct.Close()
			number := func(name string, from, to int64) {
				t.Helper()
				p, err := direct.CreateProducer(client.ProducerOptions{Topic: s.address(0), Name: name})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for i := from; i < to; i++ {
					if _, err := p.Send(t.Context(), &client.ProducerMessage{SequenceID: &i, Payload: binary.LittleEndian.AppendUint32(nil, uint32(i))}); err != nil {
						t.Fatalf("message %d: %v", i, err)
					}
				}
			}
			number("same", 0, n)
			number("same", 0, n)
			number("other", n, n+1)
			b := newBook()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Consume(ctx, driver.ConsumerConfig{}, &b, func() {}) }()
			eventually(func() bool { return b.arrived() == n+1 }) // the other's comes last
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			got := 0
			for _, times := range b.received {
				got += times
			}
			if got != c.want+1 {
				t.Errorf("%d numbers were sent twice and one once: %d deliveries, want %d", n, got, c.want+1)
			}
		})
	}
}

// opened is a driver as open makes it, with the settings' defaults.
func opened(t *testing.T, to driver.Target, g driver.Guarantee) *session {
	t.Helper()
	d, err := open(t.Context(), driver.Config{
		Target: to, Guarantee: g, Client: decode(t, driver.ClientScope, nil), Topic: decode(t, driver.TopicScope, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*session)
}
