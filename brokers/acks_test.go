package all_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// chooses are the brokers whose consumers choose when they acknowledge; all others refuse to be asked.
var chooses = []string{"activemq", "artemis", "jetstream", "kafka", "pulsar", "qpid", "rabbitmq", "rabbitmq-amqp10"}

// What check says of consumer.ack is the same on every broker: at most once both ways, at least once only after the work.
func TestEveryBrokerWhoseConsumersChooseWhenTheyAcknowledgeChecksItAlike(t *testing.T) {
	shape := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 100, InFlight: 10}
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		topic, _ := driver.Decode(kind.Settings, driver.TopicScope, nil)
		kept := map[driver.Delivery]int{}
		for _, cell := range kind.Matrix() {
			g := cell.Guarantee
			if kind.Supports(g) != nil {
				continue
			}
			for _, when := range []string{driver.AckBefore, driver.AckAfter} {
				client, err := driver.Decode(kind.Settings, driver.ClientScope, map[string]any{"consumer.ack": when})
				if chosen := err == nil; chosen != slices.Contains(chooses, name) {
					t.Fatalf("%s: consumer.ack: %s: %v", name, when, err)
				}
				if err != nil {
					continue
				}
				c := driver.Config{Guarantee: g, Client: client, Topic: topic, Target: driver.Target{Addresses: []string{"127.0.0.1:1"}}}
				c.Client, err = driver.Decode(kind.Settings, driver.ClientScope, nil)
				usual := errors.Join(err, kind.Refusal(c, shape))
				c.Client = client
				refused := kind.Refusal(c, shape)
				gives := g.Delivery != driver.AtMostOnce && when == driver.AckBefore
				if name == "artemis" { // which does not tell what it has delivered before
					gives = gives || g.Delivery == driver.AtMostOnce && when == driver.AckAfter
				}
				nothing := name == "pulsar" && g.Persistence == driver.Memory // keeps nothing that could be acknowledged
				switch {
				case usual != nil: // by what this guarantee needs of a server that isn't known here
				case gives != (refused != nil) && !nothing:
					t.Errorf("%s, %+v, consumer.ack: %s: %v", name, g, when, refused)
				case nothing && refused == nil:
					t.Errorf("%s, %+v: consumer.ack: %s is accepted", name, g, when)
				case refused == nil:
					kept[g.Delivery]++
				}
			}
		}
		if slices.Contains(chooses, name) && (kept[driver.AtMostOnce] == 0 || kept[driver.AtLeastOnce] == 0) {
			t.Errorf("%s keeps %v", name, kept)
		}
	}
}
