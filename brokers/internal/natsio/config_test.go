package natsio

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

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
