package all_test

import (
	"fmt"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/usual"
)

// What a spec that names only the broker asks for, at most once, and with a thousand topics of two partitions. A change
// gives points another identity: stored results would no longer be found.
func TestASpecAsksOfEachBrokerWhatIsUsualWithIt(t *testing.T) {
	const memory, log = "at-least-once log, at most once memory", "at-least-once log, at most once log"
	none := "at-most-once memory, at most once memory"
	want := map[string]string{
		"kafka": log + ", 1", "nats": none + ", 1", "redis-pubsub": none + ", 0", "redis-cluster": memory + ", 0", "redis": memory + ", 32", "sim": "at-least-once memory, at most once memory, 0",
		"mosquitto": "at-least-once memory, at most once memory, 0", "pulsar": log + ", 0", "rabbitmq-stream": log + ", 0", "rocketmq": log + ", 0",
		"rabbitmq": memory + ", 0", "rabbitmq-amqp10": memory + ", 0", "rabbitmq-mqtt": memory + ", 0", "hivemq": memory + ", 0", "jetstream": memory + ", 0", "nats-streaming": memory + ", 0", "activemq": memory + ", 0", "artemis": memory + ", 0", "qpid": memory + ", 0",
	}
	spec := func(text string) study.Spec {
		s, err := study.Parse("test.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil || len(points) != 1 {
			t.Fatalf("%d points, %v", len(points), err)
		}
		return points[0].Spec
	}
	for _, name := range driver.Names() {
		plain, loose, wide := spec("broker: "+name), spec("broker: "+name+"\ndelivery: at-most-once"), spec("broker: "+name+"\ntopics: 1000\npartitionsPerTopic: 2")
		if got := fmt.Sprintf("%s %s, at most once %s, %d", plain.Delivery, plain.Persistence, loose.Persistence, wide.Connections); got != want[name] {
			t.Errorf("%s: %s; want %s", name, got, want[name])
		}
	}
	said := map[string]string{}
	for _, f := range study.Fields() {
		said[f.Path] = f.Default
	}
	for path, want := range map[string]string{
		"delivery":    "at-most-once for nats, redis-pubsub, else at-least-once",
		"persistence": "memory for mosquitto, nats, redis-pubsub, sim, and at most once where there is a choice; else log",
		"connections": "0 up to 16 topics; above: 1 for kafka, nats, 1 per 64 partitions for redis, else 0",
	} {
		if said[path] != want {
			t.Errorf("the default of %s is said to be %q, want %q", path, said[path], want)
		}
	}
	if s := study.Defaults(); s.Broker != "nats" {
		t.Errorf("a spec that names no broker is for %q", s.Broker)
	}
}

func TestEveryBrokerSaysWhereItKeepsMessagesWhenNobodyAsks(t *testing.T) {
	if silent := usual.BrokersWith(func(d usual.Defaults) bool { return d.Persistence == usual.Unstated }); silent != nil {
		t.Errorf("%q don't: a spec would ask for a log", silent)
	}
}

// A version that its makers have left behind is doubted with every broker alike: all but the newest of a product, and the
// newest one that can be had here where there is a newer one that can't.
func TestEveryVersionThatIsNotTheNewestIsDoubted(t *testing.T) {
	left := map[string]bool{"rabbitmq 4.0.5": true, "rabbitmq-stream 4.0.5": true, "rabbitmq-amqp10 4.0.5": true, "rabbitmq-mqtt 4.0.5": true, "nats-streaming 0.25.6": true}
	for _, name := range provision.Names() {
		recipe, err := provision.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		products := map[string]bool{}
		for _, v := range recipe.Versions { // the newest first
			product, _, forked := strings.Cut(v.Name, "-") // valkey-8.1.1
			if !forked {
				product = name
			}
			if old := products[product] || left[name+" "+v.Name]; old != (v.Doubt != "") {
				t.Errorf("%s %s: doubted by %q, want any %v", name, v.Name, v.Doubt, old)
			}
			products[product] = true
		}
	}
}

func TestClustersSayWhatTheirNodesDoNotEncrypt(t *testing.T) {
	whole := map[string]bool{"redis": true, "redis-cluster": true, "redis-pubsub": true, "kafka": true, "pulsar": true} // tls-replication; controllers, bookies and ZooKeepers with TLS
	onZooKeeper := map[string]bool{"kafka 2.2.0": true, "kafka 1.1.1": true}
	for _, name := range provision.Names() {
		recipe, err := provision.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if clustered := recipe.TLS && recipe.MaxNodes > 1; (recipe.Plain != "") != (clustered && !whole[name]) {
			t.Errorf("%s: %q", name, recipe.Plain)
		}
		for _, v := range recipe.Versions {
			if (v.Plain != "") != onZooKeeper[name+" "+v.Name] {
				t.Errorf("%s %s: %q", name, v.Name, v.Plain)
			}
		}
	}
}
