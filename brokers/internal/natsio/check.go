package natsio

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
)

// CheckSubject tells whether topic can be published to as a subject.
func CheckSubject(topic string) error {
	if strings.ContainsAny(topic, " \t\r\n*>") {
		return fmt.Errorf("topic %q can't be a subject: it holds white space or a wildcard", topic)
	}
	for token := range strings.SplitSeq(topic, ".") {
		if token == "" {
			return fmt.Errorf("topic %q can't be a subject: a token between dots is empty", topic)
		}
	}
	if strings.HasPrefix(topic, "$") || strings.HasPrefix(topic, "_INBOX.") {
		return fmt.Errorf("topic %q can't be a subject: the server and the client use those themselves", topic)
	}
	return nil
}

// CheckSize tells whether the server that c is connected to takes payloads of size bytes.
func CheckSize(c *Conn, size int) error {
	if limit := c.MaxPayload(); int64(size) > limit {
		return driver.Unsupported(fmt.Sprintf("messageSize: %d", size), "the server takes at most %d bytes; raise its setting max_payload", limit)
	}
	return nil
}
