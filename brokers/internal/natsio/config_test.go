package natsio

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

func nodeWith(t *testing.T, settings map[string]any) *provision.Node {
	t.Helper()
	n := &provision.Node{ID: 1, Dir: t.TempDir(), Data: "/data", Ports: map[string]int{"client": 4222, "monitor": 8222, "route": 6222}}
	other := &provision.Node{ID: 2, Ports: map[string]int{"client": 4223, "monitor": 8223, "route": 6223}}
	n.Cluster = &provision.Cluster{ID: "c", Nodes: []*provision.Node{n, other}, Settings: settings}
	other.Cluster = n.Cluster
	return n
}

func configure(n *provision.Node) error {
	r := Recipe(func(n *provision.Node) Block {
		return Block{"jetstream": Block{"store_dir": n.Data}}
	})
	return r.Configure(context.Background(), n)
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	for _, c := range []struct{ name, reason string }{
		{"max_playload", "unknown field"},
		{"jetstream.max_memm", "unknown field"},
		{"no_such.block", "unknown field"},
		{"listen", "set by the recipe"},
		{"jetstream.store_dir", "set by the recipe"},
		{"cluster.name", "set by the recipe"},
		{"listen.port", "not a block"},
	} {
		err := configure(nodeWith(t, map[string]any{c.name: 1}))
		var refusal *provision.ErrSetting
		if !errors.As(err, &refusal) || refusal.Name != c.name || !strings.Contains(refusal.Reason, c.reason) {
			t.Errorf("%s: %v; want a refusal by that name with %q", c.name, err, c.reason)
		}
	}
}

// The server takes a name in any case, several names for one setting, and of two that contradict each other either.
func TestNoServerSettingMovesWhereTheServerListensOrStores(t *testing.T) {
	for name, v := range map[string]any{
		"listen": "0.0.0.0:1", "LISTEN": "0.0.0.0:1", "host": "0.0.0.0", "net": "0.0.0.0", "Net": "0.0.0.0", "port": 1, "http": "0.0.0.0:1", "HTTP": "0.0.0.0:1", "http_port": 1,
		"monitor_port": 1, "https": "0.0.0.0:1", "https_port": 1, "prof_port": 1, "websocket.port": 1, "ws.port": 1, "leafnodes.port": 1, "leaf.listen": "0.0.0.0:1", "mqtt.port": 1,
		"mqtt.host": "0.0.0.0", "gateway.port": 1, "gateway.name": "c", "cluster.listen": "0.0.0.0:1", "cluster.port": 1, "CLUSTER.Host": "0.0.0.0",
		"jetstream.store_dir": "/x", "JetStream.Store_Dir": "/x", "jetstream.store": "/x", "store_dir": "/x", "storedir": "/x",
	} {
		for _, nodes := range []int{1, 2} {
			n := nodeWith(t, map[string]any{name: v})
			n.Cluster.Nodes = n.Cluster.Nodes[:nodes]
			var refusal *provision.ErrSetting
			if err := configure(n); !errors.As(err, &refusal) || refusal.Name != name || !strings.Contains(refusal.Reason, "recipe") {
				t.Errorf("%s of %d nodes: %v; want it refused by name", name, nodes, err)
			}
		}
	}
}

// What a document may set moves nothing and opens nothing, whatever its value.
func TestNoSettingThatNeedsNoTrustIsOurs(t *testing.T) {
	for _, name := range Tuning {
		accepted := false
		for _, v := range []any{1, "1s", "45s", true, "1MB", "s2_fast"} {
			alone := Block{}
			if err := alone.Set(name, v); err != nil {
				t.Fatal(err)
			}
			read, err := parse(alone)
			accepted = accepted || err == nil
			if err == nil && (ours(read) || read.LogFile+read.PidFile+read.PortsFileDir != "") {
				t.Errorf("%s: %v", name, v)
			}
		}
		if !accepted {
			t.Errorf("%s: the server takes no value", name)
		}
	}
}

func TestServerSettingsOfTheWrongTypeAreRefusedByName(t *testing.T) {
	for name, v := range map[string]any{
		"max_payload": "much", "write_deadline": "soon", "jetstream.sync_interval": "sometimes", "jetstream.max_mem": "x y",
	} {
		err := configure(nodeWith(t, map[string]any{name: v}))
		var refusal *provision.ErrSetting
		if !errors.As(err, &refusal) || refusal.Name != name || refusal.Reason == "" {
			t.Errorf("%s: %v: %v; want a refusal by that name", name, v, err)
		}
	}
}

func TestServerSettingsThatContradictAnotherAreRefusedByName(t *testing.T) {
	err := configure(nodeWith(t, map[string]any{"max_connections": 9, "max_pending": 1000}))
	var refusal *provision.ErrSetting
	if !errors.As(err, &refusal) || refusal.Name != "max_pending" || !strings.Contains(refusal.Reason, "max_payload (1048576) cannot be higher than max_pending (1000)") {
		t.Errorf("%v; want a refusal of max_pending", err)
	}
}

func TestServerSettingsPassThroughByTheirNativeNames(t *testing.T) {
	n := nodeWith(t, map[string]any{
		"max_payload": "8MB", "write_deadline": "3s", "max_pending": float64(1 << 26), "debug": false,
		"jetstream": map[string]any{"max_mem": "64MB", "sync_interval": "always"}, "cluster.pool_size": 1,
	})
	if err := configure(n); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file(n))
	if err != nil {
		t.Fatal(err)
	}
	const want = `cluster: {
listen: "127.0.0.1:6222"
name: "c"
pool_size: 1
routes: ["nats://127.0.0.1:6222", "nats://127.0.0.1:6223"]
}
debug: false
http: "127.0.0.1:8222"
jetstream: {
max_mem: 64MB
store_dir: "/data"
sync_interval: "always"
}
listen: "127.0.0.1:4222"
max_payload: 8MB
max_pending: 67108864
server_name: "c-1"
write_deadline: "3s"
`
	if string(got) != want {
		t.Errorf("configuration:\n%s\nwant:\n%s", got, want)
	}
}

func TestTopicsThatAreNoSubjectsAreRefused(t *testing.T) {
	for _, topic := range []string{"", "a b", "a.*", "a.>", "a..b", ".a", "a.", "$SYS.a", "_INBOX.a"} {
		if CheckSubject(topic) == nil {
			t.Errorf("topic %q was accepted", topic)
		}
	}
	if err := CheckSubject("a.b-c_d/1"); err != nil {
		t.Error(err)
	}
}

// The server that a configuration is tried with runs in the program itself, which an interrupt must not end.
func TestAConfigurationIsTriedWithoutTakingSignals(t *testing.T) {
	if _, err := Compose(nodeWith(t, nil), nil, nil); err != nil {
		t.Fatal(err)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, os.Interrupt)
	defer signal.Stop(came)
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-came
	time.Sleep(200 * time.Millisecond) // the server would have ended the process by now
}
