package pulsar

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	client "github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/backoff"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// line is one producer's connection to one topic. It may need several of the client's producers, one after the other: the client
// gives one up when it is told that the topic doesn't exist, as happens while a cluster moves it; and with at-most-once it must
// not reconnect, because it would send unanswered messages again.
type line struct {
	producer *producer
	options  client.ProducerOptions
	address  string
	once     bool   // at-most-once
	stock    bool   // allocates each message
	key      string // for messages without a key, if consumers share a topic by key

	life    context.Context // ends with close
	end     context.CancelFunc
	ending  sync.Mutex // no renewal begins once life has ended
	renewal sync.WaitGroup

	mu sync.Mutex // held while sending: the client must not be closed under it
	at *link      // nil if there is none at the moment
}

// link is one of the client's producers.
type link struct {
	client.Producer
	lost   func() // makes the line replace it; may be called repeatedly, from any goroutine
	answer func(client.MessageID, *client.ProducerMessage, error)
}

func (s *session) newLine(p *producer, c driver.ProducerConfig, topic int) *line {
	l := &line{
		producer: p, options: producerOptions(s.config.Guarantee, s.config.Client, c.InFlight), address: s.address(topic),
		once: s.config.Guarantee.Delivery == driver.AtMostOnce, stock: driver.UsesStock(s.config.Client),
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.options.Topic = l.address
	if s.config.Guarantee.Ordering == driver.Ordered {
		l.options.MessageRouter = pinned(c.ID)
		if subscriptionType(s.config.Guarantee, s.config.Client) == client.KeyShared {
			l.key = fmt.Sprintf("producer %d", c.ID) // otherwise the broker generates another key for each message
		}
	}
	return l
}

// open makes the first link, which may take several attempts while a broker moves topics.
func (l *line) open(ctx context.Context) error {
	for {
		made, err := l.newLink()
		if err == nil {
			l.at = made
			return nil
		}
		if socket.Pause(ctx, retryPause) != nil {
			return fmt.Errorf("making a producer for %s: %w", l.address, err)
		}
	}
}

func (l *line) newLink() (*link, error) {
	made, ready := &link{}, make(chan struct{})
	defer close(ready)
	made.answer = func(id client.MessageID, m *client.ProducerMessage, err error) { l.producer.answered(made, id, m, err) }
	made.lost = sync.OnceFunc(func() {
		l.ending.Lock()
		defer l.ending.Unlock()
		if l.life.Err() != nil {
			return
		}
		l.renewal.Go(func() {
			<-ready
			if made.Producer != nil {
				l.renew(made)
			}
		})
	})
	options := l.options
	// The broker detects repeats by this name and a sequence number. The name is never reused: another link sends other messages,
	// and would start its numbers at those that the broker has stored.
	options.Name = "brokermark-" + rand.Text()
	if l.once {
		var none uint
		options.MaxReconnectToBroker = &none
		// The client calls this when, and only when, it has lost a connection.
		options.BackOffPolicyFunc = func() backoff.Policy {
			made.lost()
			return &pauses{}
		}
	}
	created, err := l.producer.client.CreateProducer(options)
	if err == nil {
		made.Producer = created
	}
	return made, err
}

// renew replaces a lost link; the messages sent through it have failed.
func (l *line) renew(old *link) {
	l.mu.Lock()
	l.at = nil
	l.mu.Unlock()
	old.Close()
	l.producer.fail(old, errLost)
	for pause := (&pauses{}); ; {
		if socket.Pause(l.life, pause.Next()) != nil {
			return
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

// send passes messages to the client; without a connection they are completed with the error that it returns.
func (l *line) send(ctx context.Context, batch []driver.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, through := l.producer, l.at
	if through == nil {
		through = &link{}
		p.lend(batch, through)
		p.fail(through, errLost)
		return errLost
	}
	p.lend(batch, through)
	defer func() {
		if recover() != nil { // the client closes its queue when it gives a topic up, even while it is in use
			through.lost()
		}
	}()
	for i := range batch {
		m := &batch[i]
		out := &p.messages[m.Slot].ProducerMessage
		if l.stock { // a new message each time, as in applications
			out = &(&outgoing{slot: m.Slot}).ProducerMessage
		}
		out.Payload, out.Key = m.Payload, l.key
		if len(m.Key) > 0 {
			out.Key = string(m.Key)
		}
		out.Properties = p.properties(out.Properties, m)
		through.SendAsync(ctx, out, through.answer)
	}
	return nil
}

func (l *line) close() {
	l.ending.Lock()
	l.end()
	l.ending.Unlock()
	l.renewal.Wait()
	if through := l.now(); through != nil {
		through.Close()
	}
}

// pinned keeps the order of each producer's messages: one partition for those without a key, and as usual one per key for the others.
func pinned(producer int) func(*client.ProducerMessage, client.TopicMetadata) int {
	return func(m *client.ProducerMessage, t client.TopicMetadata) int {
		if m.Key == "" {
			return producer % int(t.NumPartitions())
		}
		var hash uint32 // Java's hash of a string, which all Pulsar clients use
		for i := range len(m.Key) {
			hash = 31*hash + uint32(m.Key[i])
		}
		return int(hash % t.NumPartitions())
	}
}
