package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/brokermark/brokermark/brokers/rabbitmq"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-amqp10"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-mqtt"
	_ "github.com/brokermark/brokermark/brokers/rabbitmq-stream"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/store"
)

// A node whose disk has less room than it wants takes no messages, of four protocols: one of them has a word for it.
func TestAnAlarmOfTheBrokerEndsItsPointAndIsNamed(t *testing.T) {
	t.Parallel()
	const silent = "while it has raised an alarm about its disk or its memory"
	for broker, says := range map[string]string{
		"rabbitmq":        "the broker takes no messages: connection.blocked: low on disk",
		"rabbitmq-amqp10": silent,
		"rabbitmq-mqtt":   "disk resource limit alarm set on node", // it talks to nobody
		"rabbitmq-stream": silent,
	} {
		t.Run(broker, func(t *testing.T) {
			t.Parallel()
			h := sharedHost(t)
			spec := fmt.Sprintf("broker: %s\nserver: {disk_free_limit.absolute: 1000TB}\ndelivery: at-least-once\npersistence: log\nduration: 1s\nproducerRate: 100\n", broker)
			began := time.Now()
			r := runOnce(t, parseSpec(t, spec), lab.Options{Host: h})
			if r.Status != store.Failed || !strings.Contains(r.Reason, says) {
				t.Errorf("%s: %s; want it failed, and that %q", r.Status, r.Reason, says)
			}
			if took := time.Since(began); took > 45*time.Second { // most of it is the server's start
				t.Errorf("it took %v to say so", took)
			}
		})
	}
}
