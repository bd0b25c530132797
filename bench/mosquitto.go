package main

import (
	"context"
	"fmt"
	"net"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/internal/provision"
)

// mosquittoPeak has no tool to run beside the others: Mosquitto comes with no benchmark.
func (b *bench) mosquittoPeak(ctx context.Context) error {
	// The client has no window of its own: it publishes as many messages as the server says that it takes.
	window := map[string]any{"max_inflight_messages": mqttReceive}
	return b.with(ctx, provision.Options{Broker: "mosquitto", Server: window}, func(in *provision.Instance) error {
		r := &peakRun{
			b: b, broker: "mosquitto", bareName: "bare paho.golang", address: in.Addresses()[0],
			plan: loopPlan{Client: "mosquitto", Window: mqttReceive},
			sets: []string{"delivery=at-most-once", "persistence=memory"},
		}
		if err := r.compare(ctx, section{
			Title:    "Mosquitto, 100 B, QoS 0",
			Settings: "1 topic; 1 producer; 1 consumer in a shared subscription",
		}, nil); err != nil {
			return err
		}
		r.plan.Confirm, r.messages = true, 0
		r.sets = []string{
			"delivery=at-least-once", "persistence=memory", fmt.Sprintf("inFlight.messages=%d", mqttReceive),
			fmt.Sprintf("client.ReceiveMaximum=%d", mqttReceive),
		}
		return r.compare(ctx, section{
			Title: "Mosquitto, 100 B, QoS 1",
			Settings: fmt.Sprintf("1 topic; 1 producer, %d may be unacknowledged; 1 consumer in a shared subscription, which may hold %d",
				mqttReceive, mqttReceive),
		}, nil)
	})
}

const mqttReceive = 1000 // messages that the server may leave unacknowledged at a consumer, and a producer at the server

// mosquittoLoop is paho.golang as it comes: a connection each for producer and consumer, messages published
// asynchronously, as many as the server takes unacknowledged, and acknowledged by the client after the callback.
func mosquittoLoop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := mqttClient(ctx, p, "in", func(m paho.PublishReceived) (bool, error) {
		b.arrived(m.Packet.Payload)
		return true, nil
	})
	if err != nil {
		return err
	}
	defer in.Disconnect(&paho.Disconnect{}) //nolint:errcheck // the process ends
	var qos byte
	if p.Confirm {
		qos = 1
	}
	_, err = in.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "$share/s0/" + p.Name, QoS: qos}}})
	if err != nil {
		return err
	}
	out, err := mqttClient(ctx, p, "out")
	if err != nil {
		return err
	}
	defer out.Disconnect(&paho.Disconnect{}) //nolint:errcheck // the process ends
	started()
	p.sendAll(ctx, b, 2*p.Window, func(body []byte) { // the client keeps a message until it is acknowledged
		_, err := out.PublishWithOptions(ctx, &paho.Publish{Topic: p.Name, QoS: qos, Payload: body}, paho.PublishOptions{Method: paho.PublishMethod_AsyncSend})
		b.answered(ctx, err)
	})
	return nil
}

func mqttClient(ctx context.Context, p loopPlan, role string, received ...func(paho.PublishReceived) (bool, error)) (*paho.Client, error) {
	conn, err := net.Dial("tcp", p.Address)
	if err != nil {
		return nil, err
	}
	if len(received) == 0 {
		received = append(received, func(paho.PublishReceived) (bool, error) { return true, nil })
	}
	c := paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn), OnPublishReceived: received})
	most := uint16(mqttReceive)
	_, err = c.Connect(ctx, &paho.Connect{
		ClientID: p.Name + "-" + role, CleanStart: true, KeepAlive: 30, Properties: &paho.ConnectProperties{ReceiveMaximum: &most},
	})
	return c, err
}
