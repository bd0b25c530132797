package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestTheMatrixAnswersEveryGuaranteeOfEveryBroker(t *testing.T) {
	out := brokermark(t, "list", "guarantees", "--format", "jsonl").want(t, 0).out
	answers := map[string]map[string]bool{} // by broker: what kept says
	for line := range strings.Lines(out) {
		var row struct{ Broker, Delivery, Kept, How, Proof string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if row.Broker == "" {
			continue // a paragraph
		}
		if answers[row.Broker] == nil {
			answers[row.Broker] = map[string]bool{}
		}
		answers[row.Broker][row.Kept] = true
		switch {
		case row.How == "":
			t.Errorf("%s: no settings and no reason: %s", row.Broker, line)
		case row.Kept == "yes" && row.Proof == "":
			t.Errorf("%s: kept without a proof: %s", row.Broker, line)
		}
	}
	for _, name := range driver.Names() {
		if !answers[name]["yes"] {
			t.Errorf("%s keeps nothing, or isn't there", name)
		}
	}
}

// Table A.1 of Nilsson and Pregén, "Performance evaluation of message-oriented middleware" (KTH, 2020), as far as its
// words are ours. What it sets beside the guarantee is for the study to set: client.retries: 1, client.enable.auto.commit:
// false where it commits after every fetch, partitions.
func TestTheMatrixHasTheSettingsOfNilssonAndPregen(t *testing.T) {
	for name, c := range map[string]struct {
		broker string
		g      driver.Guarantee
		want   []string
	}{
		"Kafka, at most once": {
			"kafka",
			driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered},
			[]string{"acks=0", "retries=0", "enable.auto.commit=true", "auto.commit.interval.ms=5000"},
		},
		"Kafka, at least once": {
			"kafka",
			driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Ordered},
			[]string{"acks=1", "enable.idempotence=false", "offset marked after delivery"},
		},
		"RabbitMQ, at most once, persistent": {
			"rabbitmq",
			driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Unordered},
			[]string{"confirm.select=false", "no-ack=true", "delivery_mode=2", "durable=true"},
		},
		"RabbitMQ, at least once, persistent": {
			"rabbitmq",
			driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered},
			[]string{"confirm.select=true", "no-ack=false", "delivery_mode=2", "durable=true"},
		},
		"RabbitMQ, at least once, not persistent": {
			"rabbitmq",
			driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered},
			[]string{"confirm.select=true", "no-ack=false", "delivery_mode=1", "durable=false"},
		},
		// Its server's default with files, which the study left as it was, is our fsync; at most once doesn't wait for that, so
		// there the study sets streaming.file.sync beside log.
		"NATS Streaming, at least once, persistent": {
			"nats-streaming",
			driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Fsync, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered},
			[]string{"PublishAsync, AckHandler sends again", "SetManualAckMode, Ack after delivery", "streaming.store=file", "streaming.file.sync=true"},
		},
		"NATS Streaming, at most once, persistent": {
			"nats-streaming",
			driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Log, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Unordered},
			[]string{"PublishAsync, AckHandler does nothing", "streaming.store=file"},
		},
		"NATS Streaming, at least once, not persistent": {
			"nats-streaming",
			driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksLeader, Ordering: driver.Unordered},
			[]string{"PublishAsync, AckHandler sends again", "SetManualAckMode, Ack after delivery", "streaming.store=memory"},
		},
	} {
		kind, err := driver.Lookup(c.broker)
		if err != nil {
			t.Fatal(err)
		}
		if err := kind.Supports(c.g); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, n := range kind.Maps(c.g) {
			got = append(got, n.String())
		}
		for _, want := range c.want {
			if !strings.Contains("|"+strings.Join(got, "|")+"|", "|"+want+"|") {
				t.Errorf("%s: %s is not among %s", name, want, strings.Join(got, ", "))
			}
		}
	}
	kind, err := driver.Lookup("kafka")
	if err != nil {
		t.Fatal(err)
	}
	memory := driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}
	if kind.Supports(memory) == nil {
		t.Error("Kafka, not persistent: kept, the table says that it isn't supported")
	}
}
