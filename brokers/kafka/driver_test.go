package kafka

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

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

// start brings a broker up for the test, or skips where Kafka can't be installed.
func start(t *testing.T, o provision.Options) *provision.Instance {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	o.Broker, o.Deadline = "kafka", 2*time.Minute
	in, err := host.Start(t.Context(), o)
	var missing *provision.ErrMissing
	if errors.As(err, &missing) {
		t.Skipf("Kafka can't be installed here: %v", err)
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

func target(in *provision.Instance) driver.Target {
	return reach.Instance(in)
}

func kind(t *testing.T) driver.Kind {
	k, err := driver.Lookup("kafka")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func guarantee(d driver.Delivery, p driver.Persistence, a driver.Acks, o driver.Ordering) driver.Guarantee {
	return driver.Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o}
}

func TestContractHoldsOnARealBroker(t *testing.T) {
	var in *provision.Instance
	ctx := context.Background()
	fault := func(do func(context.Context, int) error) func(*testing.T) {
		return func(t *testing.T) {
			if err := do(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) driver.Target {
			in = start(t, provision.Options{})
			return target(in)
		},
		Guarantees: []driver.Guarantee{
			guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
			guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Unordered),
			guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Ordered),
			guarantee(driver.ExactlyOnce, driver.Log, driver.AcksQuorum, driver.Ordered),
		},
		Pause:  fault(func(ctx context.Context, n int) error { return in.Pause(ctx, n) }),
		Resume: fault(func(ctx context.Context, n int) error { return in.Resume(ctx, n) }),
		Kill:   fault(func(ctx context.Context, n int) error { return in.Kill(ctx, n) }),
		Restart: fault(func(ctx context.Context, n int) error {
			return errors.Join(in.Kill(ctx, n), in.Restart(ctx, n))
		}),
		Guarded: func(t *testing.T) driver.Target {
			return target(start(t, livetest.Guarded(provision.Options{Server: map[string]any{"jvm.Xmx": "512m"}})))
		},
		Cost: func(*testing.T) drivertest.Cost { return livetest.Cost(in) },
	})
}

func TestContractHoldsOnKafka3(t *testing.T) {
	livetest.Long(t)
	drivertest.Run(t, drivertest.Suite{
		Kind:       kind(t),
		Target:     func(t *testing.T) driver.Target { return target(start(t, provision.Options{Version: "3.9.2"})) },
		Guarantees: []driver.Guarantee{guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)},
		Client:     map[string]any{"enable.auto.commit": false},
	})
}

func TestContractHoldsOnAClusterOfThreeWithTLS(t *testing.T) {
	livetest.Long(t)
	var in *provision.Instance
	g := guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)
	g.Replicas = 3
	drivertest.Run(t, drivertest.Suite{
		Kind: kind(t),
		Target: func(t *testing.T) driver.Target {
			in = start(t, provision.Options{Nodes: 3, TLS: true, Server: map[string]any{"jvm.Xmx": "512m"}})
			return target(in)
		},
		Guarantees: []driver.Guarantee{g},
	})
	if in == nil {
		return
	}
	t.Run("without TLS it can't be opened, and the error says why", func(t *testing.T) {
		bare := target(in)
		bare.TLS = nil
		requireOpenError(t, bare, "TLS")
	})
	t.Run("the leader can be named", func(t *testing.T) {
		nodes, err := in.NodeOf(t.Context(), "leader")
		if err != nil || len(nodes) != 1 || nodes[0] < 1 || nodes[0] > 3 {
			t.Errorf("leader: %v, %v; want one of 1 to 3", nodes, err)
		}
	})
}

func requireOpenError(t *testing.T, to driver.Target, want string) {
	t.Helper()
	began := time.Now()
	d, err := open(t.Context(), driver.Config{Target: to, Client: decode(t, nil), Guarantee: guarantee(driver.AtLeastOnce, driver.Log, driver.AcksQuorum, driver.Ordered)})
	if err == nil {
		_ = d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) || time.Since(began) > 3*openPatience {
		t.Errorf("open: %v after %v; want %q soon", err, time.Since(began), want)
	}
}

func decode(t *testing.T, given map[string]any) driver.Values {
	t.Helper()
	v, err := driver.Decode(settings, driver.ClientScope, given)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestServerSettingsReachTheBrokerOrAreRefused(t *testing.T) {
	in := start(t, provision.Options{Server: map[string]any{"num.io.threads": 3, "jvm.Xmx": "400m", "jvm.XX:+UseSerialGC": true}})
	requireOpenError(t, driver.Target{Addresses: in.Addresses(), User: "someone", Password: "wrong"}, "login")
	client, err := kgo.NewClient(kgo.SeedBrokers(in.Addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	configs, err := kadm.NewClient(client).DescribeBrokerConfigs(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	found := ""
	for _, c := range configs[0].Configs {
		if c.Key == "num.io.threads" {
			found = c.MaybeValue()
		}
	}
	if found != "3" {
		t.Errorf("num.io.threads is %q on the broker, 3 was asked for", found)
	}
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{
		"num.io.thread":   4,
		"num.io.threads":  "many",
		"log.dirs":        "/tmp/elsewhere",
		"jvm.XX:+NoSuch":  true,
		"jvm.Xmx":         "lots",
		"message.max":     1e9,
		"num.replica\nid": 1,
	} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			refused, err := host.Start(t.Context(), provision.Options{Broker: "kafka", Server: map[string]any{name: value}})
			if err == nil {
				_ = refused.Stop(context.Background())
			}
			var setting *provision.ErrSetting
			if !errors.As(err, &setting) {
				t.Fatalf("%s: %v was answered with %v; want an ErrSetting", name, value, err)
			}
			t.Log(err)
		})
	}
}
