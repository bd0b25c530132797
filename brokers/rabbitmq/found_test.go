package rabbitmq

import (
	"fmt"
	"slices"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/brokers/internal/rabbitserver/rabbittest"
	"github.com/brokermark/brokermark/internal/driver"
)

// A user without the right to configure anything sends to a queue that is there and consumes from it.
func TestAQueueOfAnotherApplicationStaysUnchanged(t *testing.T) {
	_, target := livetest.Start(t, rabbittest.Managed("rabbitmq"))
	user := rabbittest.User(t, target, "guest-of-orders", rabbittest.Rights{Write: `^amq\.default$`, Read: "^orders$"})
	conn, err := amqp.Dial("amqp://guest:guest@" + target.Addresses[0])
	livetest.Must(t, err)
	defer conn.Close()
	ch, err := conn.Channel()
	livetest.Must(t, err)
	settings := amqp.Table{"x-max-length": int32(1000)}
	declare := func() amqp.Queue {
		queue, err := ch.QueueDeclare("orders", true, false, false, false, settings) // refused where it has other settings
		livetest.Must(t, err)
		return queue
	}
	declare()
	config := livetest.Config(t, "rabbitmq", user, logged, nil, nil)
	found := func(name string) driver.Topology {
		topology := livetest.Topic(name, 1, "s")
		topology.Found = true
		return topology
	}
	rig := livetest.Open(t, "rabbitmq", config, found("orders"))
	end := rig.Consume(t, driver.ConsumerConfig{})
	var sent []string
	for n := range 100 {
		sent = append(sent, fmt.Sprintf("message %d", n))
	}
	rig.Post(t, sent...)
	livetest.Eventually(t, "everything has come", func() bool { return len(rig.Book.Received(0)) == len(sent) })
	if got := rig.Book.Received(0); !slices.Equal(got, sent) {
		t.Errorf("got %v", got)
	}
	livetest.Refused(t, livetest.SetupError(t, "rabbitmq", config, found("orders")), "topicName: orders") // it has a consumer
	end()
	livetest.Must(t, rig.Driver.(driver.Cleaner).Clean(t.Context()))
	declare()
	livetest.Must(t, ch.Publish("", "orders", false, false, amqp.Publishing{Body: []byte("of somebody else")}))
	livetest.Eventually(t, "it is there", func() bool { return declare().Messages == 1 })
	livetest.Refused(t, livetest.SetupError(t, "rabbitmq", config, found("orders")), "topicName: orders")
	if n := declare().Messages; n != 1 {
		t.Errorf("the queue holds %d messages", n)
	}
	livetest.Refused(t, livetest.SetupError(t, "rabbitmq", config, found("none")), "topicName: none")
}
