package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// A guarantee that a driver says it keeps is proved by matrixtest, cell by cell; here is looked after that every broker
// that can be started runs it, and that every cell says how it is kept.
func TestEveryBrokerProvesItsGuarantees(t *testing.T) {
	files, err := filepath.Glob("*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(data)
	}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if kind.Maps == nil {
			t.Errorf("%s doesn't say how it keeps guarantees (driver.Kind.Maps)", name)
			continue
		}
		kept := 0
		for _, c := range kind.Matrix() {
			if c.Refusal == nil {
				kept++
				if len(c.Native) == 0 {
					t.Errorf("%s keeps %+v by nothing", name, c.Guarantee)
				}
			}
		}
		if kept == 0 {
			t.Errorf("%s keeps nothing", name)
		}
		_, err = provision.Lookup(name)
		if started := err == nil; started && !strings.Contains(tests.String(), `matrixtest.Matrix{Broker: "`+name+`"`) {
			t.Errorf("no test of %s proves its guarantees: matrixtest.Prove(t, matrixtest.Matrix{Broker: %q})", name, name)
		}
	}
}

// The words of a guarantee are not checked against each other where a spec is read: a sweep over all of them shall run
// on every broker, and each says what it doesn't keep. What no broker can keep has to be refused by all.
func TestWordsThatContradictEachOtherAreRefusedByEveryBroker(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range kind.Matrix() {
			g := c.Guarantee
			if c.Refusal != nil || g.Acks != driver.AcksNone {
				continue
			}
			if g.Delivery != driver.AtMostOnce {
				t.Errorf("%s keeps %s without any acknowledgement", name, g.Delivery)
			}
			if g.Persistence == driver.Fsync {
				t.Errorf("%s flushes before an acknowledgement that nobody asks for", name)
			}
		}
	}
}

// If consumers would take turns, a spec with an order is refused before a broker is started.
func TestOrderWithConsumersThatTakeTurnsIsRefusedBeforeAStart(t *testing.T) {
	want := map[string]bool{"nats": true, "jetstream": true, "nats-streaming": true, "redis": true, "redis-cluster": true, "redis-pubsub": true, "mosquitto": true, "rabbitmq-mqtt": true, "hivemq": true, "sim": true}
	ordered := driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		topic, err := driver.Decode(kind.Settings, driver.TopicScope, nil)
		if err != nil {
			t.Fatal(err)
		}
		refused := kind.Share != nil && kind.Share(ordered, topic, 2, 1) != nil
		if refused != want[name] {
			t.Errorf("%s refuses two ordered consumers: %v, want %v", name, refused, want[name])
		}
		if kind.Share != nil && kind.Share(ordered, topic, 1, 1) != nil {
			t.Errorf("%s refuses a single consumer", name)
		}
	}
}
