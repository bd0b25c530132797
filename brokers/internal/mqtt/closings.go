package mqtt

import (
	"errors"
	"time"
)

// Some servers deny a right without a word in the protocol: RabbitMQ closes the connection of a user who may not publish,
// and the next one after its first message, and so on.

const (
	mostClosings = 3           // in a row, before the server is taken to refuse the messages
	standing     = time.Second // a connection that stood for so long was not closed because of its first message
)

var errClosing = errors.New("the server closes each connection after the first message on it, without an answer and without a reason, " +
	"as some do where the user may not publish; the server's log says why")

// closings counts the connections that the server has closed after a message, one after the other. It belongs to the producer's own goroutine.
type closings struct {
	began time.Time // when the connection was asked for
	sent  bool      // a message was sent on it
	n     int
}

// another notes a lost connection, and reports whether the server refuses the messages, which at QoS 0 it never answers.
func (c *closings) another(answered bool, qos byte) (refused bool) {
	stood := qos == 0 && time.Since(c.began) > standing
	if answered || stood || !c.sent {
		c.n = 0
		return false
	}
	c.n++
	return c.n >= mostClosings
}
