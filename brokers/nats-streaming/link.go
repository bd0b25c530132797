package natsstreaming

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/stan.go"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	answerBudget = 2 * time.Second        // for the server's answer to a request, the client's default
	retryPause   = 200 * time.Millisecond // between attempts to connect again
)

// link is one client of the server on a connection of its own. What the client would do about a lost connection, to
// connect again underneath and let each message in flight run into its timeout, is not waited for: a lost link is
// closed, and another one is made.
type link struct {
	stan.Conn
	nats *natsio.Conn
	lost chan struct{} // closed when the connection is lost, or the server doesn't know the client any more
}

func (d *driving) dial(id string, inFlight int) (*link, error) {
	l := &link{lost: make(chan struct{})}
	gone := sync.OnceFunc(func() { close(l.lost) })
	var err error
	if l.nats, err = d.dialer.Dial(id, func(error) { gone() }, gone); err != nil {
		return nil, err
	}
	c := d.config.Client
	cluster := c.String("ClusterID")
	l.Conn, err = stan.Connect(cluster, id, stan.NatsConn(l.nats.Conn), stan.ConnectWait(answerBudget),
		stan.PubAckWait(c.Duration("PubAckWait")), stan.MaxPubAcksInflight(inFlight),
		stan.Pings(int(c.Duration("Pings.Interval")/time.Second), int(c.Int("Pings.MaxOut"))),
		stan.SetConnectionLostHandler(func(_ stan.Conn, err error) {
			d.dialer.Logf("%s: %v", id, err)
			gone()
		}))
	if err != nil {
		l.nats.Shut()
		return nil, fmt.Errorf("no answer from NATS Streaming with the cluster ID %q: %w", cluster, err)
	}
	return l, nil
}

// close says goodbye, unless the connection is lost.
func (l *link) close() {
	select {
	case <-l.lost:
		l.cut()
		return
	default:
	}
	_ = l.Conn.Close() // waits for the answer, but not long
	l.nats.Shut()
}

// cut ends the link at once: the client fails the messages in flight.
func (l *link) cut() {
	l.nats.Cut()
	l.nats.Shut()
	_ = l.Conn.Close()
}

// disconnected marks what may be sent again.
func disconnected(err error) error {
	if errors.Is(err, driver.ErrDisconnected) {
		return err
	}
	return fmt.Errorf("%w: %w", driver.ErrDisconnected, err)
}
