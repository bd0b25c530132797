package pulsar

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// threeNodes are a cluster on paper.
func threeNodes() *provision.Cluster {
	c := &provision.Cluster{ID: "c", Install: "/install"}
	for id := 1; id <= 3; id++ {
		ports := map[string]int{"client": 1000 + id, webPort: 1200 + id, bookiePort: 1300 + id, bookieAdmin: 1400 + id, zooPort: 1500 + id, zooPeerPort: 1600 + id, zooVotesPort: 1700 + id}
		c.Nodes = append(c.Nodes, &provision.Node{ID: id, Cluster: c, Dir: "/run", Data: "/run/data", Ports: ports})
	}
	return c
}

func TestBrokersAndBookiesKnowEveryZooKeeper(t *testing.T) {
	n := threeNodes().Nodes[1]
	if got, want := broker(n)["metadataStoreUrl"], "zk:127.0.0.1:1501,127.0.0.1:1502,127.0.0.1:1503"; got != want {
		t.Errorf("broker: %s, want %s", got, want)
	}
	if got, want := bookie(n)["zkServers"], "127.0.0.1:1501,127.0.0.1:1502,127.0.0.1:1503"; got != want {
		t.Errorf("bookie: %s, want %s", got, want)
	}
	for _, line := range []string{"clientPort=1502", "server.1=127.0.0.1:1601:1701", "server.2=127.0.0.1:1602:1702", "server.3=127.0.0.1:1603:1703"} {
		if !strings.Contains(zooConf(n), line+"\n") {
			t.Errorf("zoo.cfg lacks %s", line)
		}
	}
}

func TestOnlyTheFirstNodeMakesTheMetadataThatAllWaitFor(t *testing.T) {
	c := threeNodes()
	for _, n := range c.Nodes {
		var names []string
		for _, s := range steps(n, nil) {
			names = append(names, s.Name)
			if s.Name == "bookie" && !slices.Contains(s.After, "/run/metadata-made") {
				t.Errorf("node %d: its bookie waits for %v", n.ID, s.After)
			}
		}
		want := []string{"zookeeper", "turn", "bookie", "broker"}
		if n.ID == 1 {
			want = []string{"zookeeper", "metadata", "bookie", "broker"}
		}
		if !slices.Equal(names, want) {
			t.Errorf("node %d: %v, want %v", n.ID, names, want)
		}
	}
}
