package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

func (b *bench) activemqPeak(ctx context.Context) error {
	return b.amqp10Peak(ctx, "activemq", false, nil)
}

// qpidPeak has its queues made: Qpid, unlike the others, makes none on demand.
func (b *bench) qpidPeak(ctx context.Context) error { return b.amqp10Peak(ctx, "qpid", true, nil) }

const (
	artemisPerfWarm = 20 * time.Second
	artemisPerfRest = 3 * time.Second // its first report is late, and its last one is of a shorter time
)

// artemisPeak has the broker's own tool beside the others where messages are acknowledged: settled, nothing bounds
// how far it sends ahead, and what it leaves in the broker's memory slows down the next run. It is started by the
// script that comes with it, which becomes the tool.
func (b *bench) artemisPeak(ctx context.Context) error {
	home, err := b.host.Install(ctx, "artemis", "")
	if err != nil {
		return err
	}
	warm := func(elapsed time.Duration, _ float64) bool { return elapsed >= artemisPerfWarm }
	length := artemisPerfWarm + max(b.measure, artemisPerfReport.least) + artemisPerfRest
	return b.amqp10Peak(ctx, "artemis", false, func(protocol, url string) contender {
		return contender{"artemis perf, " + protocol, func(ctx context.Context) (sample, error) {
			return b.jvm(ctx, artemisPerfReport, warm, filepath.Join(home, "bin", "artemis"), "perf", "client", "--verbose",
				"--protocol", protocol, "--url", url, "--message-size", strconv.Itoa(messageSize), "--max-pending", strconv.Itoa(plainWindow),
				"--duration", strconv.Itoa(int(length.Seconds())), "queue://perf")
		}}
	})
}

// amqp10Peak runs the loop over go-amqp against a broker that speaks the protocol. peer, unless nil, is the broker's
// own tool.
func (b *bench) amqp10Peak(ctx context.Context, broker string, declared bool, peer func(protocol, url string) contender) error {
	return b.with(ctx, provision.Options{Broker: broker}, func(in *provision.Instance) error {
		address := in.Addresses()[0]
		r := &peakRun{b: b, broker: broker, bareName: "bare go-amqp", address: address}
		if declared {
			r.create = func(ctx context.Context, name string) error { return r.declare(ctx, name, driver.Memory, nil) }
		}
		var peers []contender
		if peer != nil {
			peers = []contender{
				peer("AMQP", fmt.Sprintf("amqp://%s?jms.prefetchPolicy.all=%d", address, amqp10Credit)),
				peer("CORE", "tcp://"+address),
			}
		}
		r.plan, r.sets = loopPlan{Client: "amqp10", Window: plainWindow}, []string{"delivery=at-most-once", "persistence=memory"}
		if err := r.compare(ctx, section{
			Title:    broker + " over AMQP 1.0, 100 B, settled",
			Settings: "1 queue; 1 producer, non-durable messages, settled; 1 consumer, settled deliveries",
		}, nil); err != nil {
			return err
		}
		r.plan.Confirm, r.sets, r.messages = true, atLeastOnce(fmt.Sprintf("client.Credit=%d", amqp10Credit)), 0
		return r.compare(ctx, section{
			Title: broker + " over AMQP 1.0, 100 B, dispositions",
			Settings: fmt.Sprintf("1 queue; 1 producer, non-durable messages, %d may be unsettled; 1 consumer, credit %d, every message accepted",
				plainWindow, amqp10Credit),
		}, peers)
	})
}

const amqp10Credit = 1000 // messages a consumer may hold

// amqp10Loop is go-amqp as it comes: a connection each for producer and consumer, one queue, the dispositions awaited
// in order behind a window, every message accepted by itself, which is all the client offers. Without Confirm: settled.
func amqp10Loop(ctx context.Context, p loopPlan, b *books, started func()) error {
	in, err := amqp10Session(ctx, p)
	if err != nil {
		return err
	}
	defer in.close()
	mode := amqp.SenderSettleModeSettled
	if p.Confirm {
		mode = amqp.SenderSettleModeUnsettled
	}
	receiver, err := in.NewReceiver(ctx, p.Name, &amqp.ReceiverOptions{
		Credit: amqp10Credit, RequestedSenderSettleMode: &mode, SourceCapabilities: []string{"queue"},
	})
	if err != nil {
		return err
	}
	out, err := amqp10Session(ctx, p)
	if err != nil {
		return err
	}
	defer out.close()
	sender, err := out.NewSender(ctx, p.Name, &amqp.SenderOptions{SettlementMode: &mode, TargetCapabilities: []string{"queue"}})
	if err != nil {
		return err
	}
	started()
	go amqp10Consume(ctx, receiver, p.Confirm, b)
	amqp10Send(ctx, sender, p, b)
	return nil
}

type amqp10End struct {
	*amqp.Session
	conn *amqp.Conn
}

// amqp10Session dials itself: amqp.Dial would ask for a virtual host by the name of the address.
func amqp10Session(ctx context.Context, p loopPlan) (amqp10End, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.Address)
	if err != nil {
		return amqp10End{}, err
	}
	conn, err := amqp.NewConn(ctx, raw, &amqp.ConnOptions{SASLType: amqp.SASLTypeAnonymous()})
	if err != nil {
		_ = raw.Close()
		return amqp10End{}, err
	}
	session, err := conn.NewSession(ctx, nil)
	return amqp10End{session, conn}, err
}

func (e amqp10End) close() { _ = e.conn.Close() }

func amqp10Send(ctx context.Context, sender *amqp.Sender, p loopPlan, b *books) {
	pending := make(chan amqp.SendReceipt, p.Window-2) // and the one being waited for, and the one just sent
	defer close(pending)
	go func() {
		for r := range pending {
			if _, err := r.Wait(ctx); err == nil {
				b.published.Add(1)
			}
		}
	}()
	msg := &amqp.Message{Header: &amqp.MessageHeader{Priority: 4}}
	p.sendAll(ctx, b, 1, func(body []byte) {
		msg.Data = [][]byte{body}
		if !p.Confirm {
			b.answered(ctx, sender.Send(ctx, msg, nil))
			return
		}
		receipt, err := sender.SendWithReceipt(ctx, msg, nil)
		if err != nil {
			b.answered(ctx, err)
			return
		}
		pending <- receipt
	})
}

func amqp10Consume(ctx context.Context, receiver *amqp.Receiver, accept bool, b *books) {
	for {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			return // a lost connection shows at the producer
		}
		b.arrived(m.GetData())
		if accept {
			_ = receiver.AcceptMessage(ctx, m)
		}
	}
}
