package parts_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/jetstream"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) {
	provision.Main() // this binary is also the broker, the servers and the consumer
	os.Exit(m.Run())
}

// host is one whose directory the user that brokers run as can enter.
func host(t *testing.T) *provision.Host {
	t.Helper()
	dir, err := os.MkdirTemp("", "brokermark-parts-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h, err := provision.NewHost(dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// shared is the machine's own host: what is fetched for the first test of a machine is there for all.
func shared(t *testing.T) *provision.Host {
	t.Helper()
	testkit.Live(t)
	h, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func start(t *testing.T, h *provision.Host, o provision.Options) *provision.Instance {
	t.Helper()
	in, err := h.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Stop(t.Context()) })
	return in
}

// broker starts JetStream and makes the topic.
func broker(t *testing.T, h *provision.Host) (*provision.Instance, link.Broker) {
	t.Helper()
	in := start(t, h, provision.Options{Broker: "jetstream"})
	b := link.Broker{
		Broker: "jetstream", Addresses: in.Addresses(), Topology: link.Topology("rides", 1),
		Client:    map[string]any{"AckWait": "1s"},
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered},
	}
	d, err := b.Open(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	b.Topology.Existing = true
	return in, b
}

// settled waits until the consumer has counted so many rides, and returns what it says.
func settled(t *testing.T, r *consumer.Remote, rides int64) (s consumer.Stats) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if s, err = r.Stats(t.Context()); err == nil && s.Rides >= rides {
			return s
		}
	}
	t.Fatalf("the consumer never counted %d rides: %+v", rides, s)
	return s
}

// A server is killed, then the consumer, in the middle of a load: whatever was accepted is in the state, exactly once.
func TestWhatWasAcceptedIsCountedOnceThoughServerAndConsumerAreKilled(t *testing.T) {
	h := host(t)
	_, b := broker(t, h)
	taking := start(t, h, provision.Options{Broker: parts.ConsumerPart, Server: provision.PartSettings(parts.Consumer{Broker: b, Threads: 4, State: "durable"})})
	pool := parts.Defaults()
	pool.Producers = 4
	serving := start(t, h, provision.Options{
		Broker: parts.ServerPart, Nodes: 2, Server: provision.PartSettings(parts.Server{Broker: b, Pool: pool, Consumer: taking.Addresses()[0]}),
	})
	rides := &load.Rides{Host: "x", Run: "test", Seed: 1}
	l := load.Load{Address: serving.Addresses()[0], Maker: rides, Phases: []load.Phase{{Threads: 8, Total: 4000}}, Retries: 8, Backoff: 50 * time.Millisecond, Timeout: 20 * time.Second}
	r, err := load.NewRunner(l)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan load.Outcome)
	go func() { over <- r.Run(t.Context()) }()
	for r.Progress().Accepted < 500 {
		time.Sleep(time.Millisecond)
	}
	for _, in := range []*provision.Instance{serving, taking} {
		if err := in.Kill(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if err := in.Restart(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	o := <-over
	if o.Accepted != 4000 || o.Retries == 0 {
		t.Errorf("%+v: %v", o.Counts, o.Err)
	}
	remote := consumer.NewRemote(taking.Addresses()[0])
	s := settled(t, remote, 4000)
	if s.Rides != 4000 || s.Counted != 4000 || s.Corrupted != 0 {
		t.Errorf("%+v", s)
	}
	ids, err := remote.Rides(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	have := map[ride.ID]bool{}
	for _, id := range ids {
		have[id] = true
	}
	for i, fate := range o.Fates {
		if fate == load.Accepted && !have[rides.ID(int64(i))] {
			t.Fatalf("ride %d was accepted and isn't counted", i)
		}
	}
	a, err := http.Get("http://" + serving.Addresses()[1] + "/skiers/1/vertical?resort=1")
	if err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("the other server can't ask the consumer: %v, %v", a, err)
	}
}

func TestAPortInUseIsSaid(t *testing.T) {
	h := host(t)
	_, b := broker(t, h)
	l := start(t, h, provision.Options{Broker: parts.ConsumerPart, Server: provision.PartSettings(parts.Consumer{Broker: b, Threads: 1})})
	err := parts.RunServer(t.Context(), parts.Server{Listen: l.Addresses()[0], Broker: b, Pool: parts.Defaults()}, io.Discard, func(string) { t.Error("it listens") })
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Error(err)
	}
	err = parts.RunConsumer(t.Context(), parts.Consumer{Listen: "127.0.0.1:0", State: filepath.Join(t.TempDir(), "no", "folder", "x.db"), Broker: b, Threads: 1}, io.Discard, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "state in") {
		t.Error(err)
	}
}

func TestPartsAreNoBrokers(t *testing.T) {
	for _, name := range provision.Names() {
		if strings.HasPrefix(name, "pipeline") || name == "haproxy" {
			t.Errorf("%s is listed as a broker", name)
		}
	}
	for _, name := range []string{parts.ServerPart, parts.ConsumerPart} {
		for _, settings := range []map[string]any{nil, {"part": "x"}, {"port": 1}} {
			if in, err := host(t).Start(t.Context(), provision.Options{Broker: name, Server: settings}); err == nil {
				_ = in.Stop(t.Context())
				t.Errorf("%s starts with %v", name, settings)
			}
		}
	}
}
