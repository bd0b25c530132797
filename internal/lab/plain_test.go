package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestPlainTrafficBetweenNodesIsADoubt(t *testing.T) {
	testkit.NotShort(t)
	t.Parallel()
	for _, c := range []struct {
		nodes int
		tls   string
		want  bool
	}{{2, "on", true}, {2, "off", false}, {1, "on", false}} {
		r := runCounts(t, parseSpec(t, fmt.Sprintf("broker: nats\nnodes: %d\ntls: %s\nmeasure: rate\nload.rate: 100\nduration: 500ms\nwarmup: 100ms\n", c.nodes, c.tls)), lab.Options{Host: newHost(t)})
		if hasDoubt(r, "plain-between-nodes") != c.want {
			t.Errorf("%+v: %s: %s, %v", c, r.Status, r.Reason, r.Doubts)
		}
		for _, d := range r.Doubts {
			if d.Code == "plain-between-nodes" && !strings.Contains(d.Text, "routes") {
				t.Error(d.Text)
			}
		}
	}
}
