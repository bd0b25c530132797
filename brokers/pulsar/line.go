package pulsar

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/backoff"

	"github.com/brokermark/brokermark/internal/driver"
)

// line is one producer's way to one topic. At most once it may need several of the client's producers, one after the
// other: the client sends again what was not answered when it reconnects, and can only be kept from that by keeping it
// from reconnecting.
type line struct {
	producer *producer
	options  client.ProducerOptions
	address  string
	once     bool // at most once

	life    context.Context // ends with close
	end     context.CancelFunc
	renewal sync.WaitGroup

	mu sync.Mutex // held while sending: the client must not be closed under it
	at *link      // nil while there is none
}

// link is one of the client's producers.
type link struct{ client.Producer }

func (s *session) newLine(p *producer, c driver.ProducerConfig, topic int) *line {
	l := &line{
		producer: p, options: producerOptions(s.config.Guarantee, s.config.Client, c.InFlight), address: s.address(topic),
		once: s.config.Guarantee.Delivery == driver.AtMostOnce,
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.options.Topic = l.address
	if s.config.Guarantee.Ordering == driver.Ordered {
		l.options.MessageRouter = pinned(c.ID)
	}
	if s.config.Guarantee.Delivery == driver.ExactlyOnce {
		// The broker knows repeats by this name and a number. It is never used again: a producer that is made anew sends
		// other messages.
		l.options.Name = fmt.Sprintf("brokermark-%d-%s", c.ID, rand.Text())
	}
	return l
}

// open makes the first link, which may take a broker that moves topics several attempts.
func (l *line) open(ctx context.Context) error {
	for {
		made, err := l.newLink()
		if err == nil {
			l.at = made
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("making a producer for %s: %w", l.address, err)
		case <-time.After(retryPause):
		}
	}
}

func (l *line) newLink() (*link, error) {
	made := &link{}
	options := l.options
	if l.once {
		var none uint
		options.MaxReconnectToBroker = &none
		ready := make(chan struct{})
		defer close(ready)
		lost := sync.OnceFunc(func() {
			l.renewal.Go(func() {
				<-ready
				if made.Producer != nil {
					l.renew(made)
				}
			})
		})
		// The client asks for the pauses of its reconnecting when, and only when, it has lost a connection.
		options.BackOffPolicyFunc = func() backoff.Policy {
			lost()
			return &pauses{}
		}
	}
	var err error
	made.Producer, err = l.producer.client.CreateProducer(options)
	return made, err
}

// renew replaces a link that has lost its connection; what was sent through it has failed.
func (l *line) renew(old *link) {
	l.mu.Lock()
	l.at = nil
	l.mu.Unlock()
	old.Close()
	l.producer.fail(old, errLost)
	for pause := (&pauses{}); ; {
		select {
		case <-l.life.Done():
			return
		case <-time.After(pause.Next()):
		}
		if made, err := l.newLink(); err == nil {
			l.mu.Lock()
			l.at = made
			l.mu.Unlock()
			return
		}
	}
}

func (l *line) now() *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// send hands messages over; those that the client can't take are completed with an error.
func (l *line) send(ctx context.Context, batch []driver.Message) {
	if l.once {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	p, through := l.producer, l.at
	if through == nil {
		through = &link{}
		p.lend(batch, through)
		p.fail(through, errLost)
		return
	}
	p.lend(batch, through)
	defer func() {
		if recover() != nil { // the client closes its queue when it gives a topic up, whoever is sending
			p.fail(through, errLost)
		}
	}()
	for i := range batch {
		m := &batch[i]
		out := &p.messages[m.Slot].ProducerMessage
		out.Payload, out.Key = m.Payload, string(m.Key)
		through.SendAsync(ctx, out, p.answer)
	}
}

func (l *line) close() {
	l.end()
	l.renewal.Wait()
	if through := l.now(); through != nil {
		through.Close()
	}
}

// pinned keeps the order of each producer's messages: one partition for those without a key, and as usual one per key
// for the others.
func pinned(producer int) func(*client.ProducerMessage, client.TopicMetadata) int {
	return func(m *client.ProducerMessage, t client.TopicMetadata) int {
		if m.Key == "" {
			return producer % int(t.NumPartitions())
		}
		var hash uint32 // Java's of a string, which all of Pulsar's clients use
		for i := range len(m.Key) {
			hash = 31*hash + uint32(m.Key[i])
		}
		return int(hash % t.NumPartitions())
	}
}
