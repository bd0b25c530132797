package natsio

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/driver"
)

// CheckSubject reports whether topic can be published to as a subject.
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

// Subjects returns the names of the topics, each of which can be published to as a subject.
func Subjects(topics []driver.Topic) (subjects []string, err error) {
	for _, topic := range topics {
		if err := CheckSubject(topic.Name); err != nil {
			return nil, err
		}
		subjects = append(subjects, topic.Name)
	}
	return subjects, nil
}

// CheckSize reports whether the server that c is connected to takes payloads of size bytes.
func CheckSize(c *Conn, size int) error {
	return fitsSize(size, c.MaxPayload())
}

// FitsSize reports whether the server takes payloads of size bytes, as far as that is known before it runs.
func FitsSize(t driver.Target, size int) error {
	if limit := Limit(t); limit > 0 {
		return fitsSize(size, limit)
	}
	return nil
}

// Limit returns the largest payload that the server takes, or 0 if that is not known.
func Limit(t driver.Target) int64 {
	if t.Server == nil {
		return 0
	}
	given, ok := driver.Flatten(t.Server)[payloadSetting]
	if !ok {
		return server.MAX_PAYLOAD_SIZE
	}
	limit, _ := strconv.ParseInt(fmt.Sprint(given), 10, 64) // with a unit: not known
	return limit
}

const payloadSetting = "max_payload"

// WithID returns the size of a message of size bytes with the header that identifies it to a stream: the line that begins
// headers, the name, an id as the drivers make it, and the ends of lines. The server counts all of these.
func WithID(size int) int {
	const id = 22 + 1 + 13 // a nuid, a dash, and the largest number in base 36
	return size + len("NATS/1.0\r\n") + len("Nats-Msg-Id: ") + id + len("\r\n\r\n")
}

func fitsSize(size int, limit int64) error {
	if int64(size) > limit {
		return driver.Unsupported(fmt.Sprintf("messageSize: %d", size), "the server takes at most %d bytes; raise its setting max_payload", limit)
	}
	return nil
}
