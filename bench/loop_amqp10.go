package main

import (
	"context"
	"net"

	"github.com/Azure/go-amqp"
)

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
