package rabbitmq

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

var (
	copied  = driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 3, Acks: driver.AcksQuorum, Ordering: driver.Unordered}
	classic = map[string]any{"x-queue-type": "classic"}
)

func TestCopiesOfAClassicQueueAreThoseOfThePolicy(t *testing.T) {
	all := map[string]any{"policy.ha-mode": "all"}
	three := make([]string, 3)
	for name, c := range map[string]struct {
		to      driver.Target
		g       driver.Guarantee
		topic   map[string]any
		refused string
	}{
		"mirrors on 4":                {driver.Target{Version: "4.0.5", Addresses: three, Server: all}, copied, classic, "server.policy.ha-mode"},
		"no policy":                   {driver.Target{Version: "3.10.8", Addresses: three, Server: map[string]any{}}, copied, classic, "replicas: 3"},
		"no policy on 4":              {driver.Target{Version: "4.0.5", Addresses: three, Server: map[string]any{}}, copied, classic, "replicas: 3"},
		"not known":                   {driver.Target{Addresses: three}, copied, classic, "replicas: 3"},
		"more than was asked for":     {driver.Target{Version: "3.10.8", Addresses: three, Server: all}, logged, classic, "server.policy.ha-mode"},
		"a quorum queue":              {driver.Target{Version: "3.10.8", Addresses: three, Server: all}, copied, nil, "topicConfig.x-queue-type: quorum"},
		"flushed":                     {driver.Target{Version: "3.10.8", Addresses: three, Server: all}, three3(driver.Fsync), classic, "persistence: fsync"},
		"lazy on 4":                   {driver.Target{Version: "4.0.5", Addresses: three[:1], Server: map[string]any{}}, logged, map[string]any{"x-queue-mode": "lazy"}, "topicConfig.x-queue-mode"},
		"lazy by policy on 4":         {driver.Target{Version: "4.0.5", Addresses: three[:1], Server: map[string]any{"policy.queue-mode": "lazy"}}, logged, nil, "server.policy.queue-mode"},
		"mirrors on each of three":    {driver.Target{Version: "3.10.8", Addresses: three, Server: all}, copied, classic, ""},
		"lazy by policy":              {driver.Target{Version: "3.10.8", Addresses: three[:1], Server: map[string]any{"policy.queue-mode": "lazy"}}, logged, nil, ""},
		"mirrors of one node are one": {driver.Target{Version: "3.10.8", Addresses: three[:1], Server: all}, logged, nil, ""},
	} {
		err := fits(livetest.Config(t, "rabbitmq", c.to, c.g, nil, c.topic), driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1})
		switch {
		case c.refused != "":
			t.Run(name, func(t *testing.T) { livetest.Refused(t, err, c.refused) })
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func three3(p driver.Persistence) driver.Guarantee {
	g := copied
	g.Persistence = p
	return g
}

func TestThePolicyIsThatOfAllQueues(t *testing.T) {
	testkit.Long(t)
	livetest.Serves(t, provision.Options{Broker: "rabbitmq", Version: "3.10.8", Server: map[string]any{"policy.queue-mode": "lazy"}}, logged, nil)
	livetest.Serves(t, provision.Options{Broker: "rabbitmq", Version: "3.10.8", Nodes: 3, Server: map[string]any{
		"policy.ha-mode": "all", "policy.ha-sync-mode": "automatic",
	}}, copied, classic)
}

// Three nodes are in step only where the server has mirrors.
func TestAClassicQueueIsMirroredByThePolicy(t *testing.T) {
	testkit.Long(t)
	in, target := livetest.Start(t, provision.Options{Broker: "rabbitmq", Version: "3.10.8", Nodes: 3, Server: map[string]any{"policy.ha-mode": "exactly", "policy.ha-params": 2}})
	r := livetest.Open(t, "rabbitmq", livetest.Config(t, "rabbitmq", target, copied, nil, classic), livetest.Topic("mirrored", 1, "s"))
	r.ConsumeAll(t)
	livetest.Must(t, r.Send(t, "a", "b"))
	if n, err := in.InSync(t.Context(), 2); err != nil || n != 2 {
		t.Errorf("%d nodes have the queue, %v; want 2", n, err)
	}
	leader, err := in.NodeOf(t.Context(), "leader")
	livetest.Must(t, err)
	livetest.Must(t, in.Kill(t.Context(), leader[0]))
	livetest.Must(t, r.Send(t, "c", "d"))
	r.Settled(t)
}
