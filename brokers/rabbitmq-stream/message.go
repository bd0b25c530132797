package rabbitmqstream

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/message"

	"github.com/brokermark/brokermark/internal/driver"
)

// outgoing is the message in one slot, as the client wants it: an AMQP 1.0 message of one data section.
type outgoing struct {
	message.StreamMessage // nil: of its methods the client calls those below only
	slot                  uint32
	in                    atomic.Pointer[lane] // where it has no outcome yet; changed under that lane's lock
	home                  *lane                // that has numbered it; the sender's
	id                    int64                // publishing id: its number on that lane
	payload               []byte
	headers               *driver.Headers
	wire                  []byte // encoded; valid while it is being written
}

func (o *outgoing) MarshalBinary() ([]byte, error) { return o.wire, nil }
func (o *outgoing) HasPublishingId() bool          { return true }
func (o *outgoing) GetPublishingId() int64         { return o.id }

// encoded is a message that the client encodes.
type encoded struct {
	*amqp.AMQP10
	of *outgoing
}

func (o *outgoing) encodedByClient(headers []string) *encoded {
	m := amqp.NewMessage(o.payload)
	if len(headers) > 0 {
		m.ApplicationProperties = make(map[string]any, len(headers))
	}
	for i, value := range o.headers.Values() {
		m.ApplicationProperties[headers[i]] = string(value)
	}
	m.SetPublishingId(o.id)
	return &encoded{m, o}
}

// sentBy returns the slot's message that the client means.
func sentBy(m message.StreamMessage) (o *outgoing, ok bool) {
	switch m := m.(type) {
	case *outgoing:
		return m, true
	case *encoded:
		return m.of, true
	}
	return nil, false
}

const (
	smallBinary = 0xa0 // one byte of length
	largeBinary = 0xb0 // four
	// perEntry is the publish frame's overhead per message: publishing id and length. overhead adds the head of the
	// message's data section.
	perEntry = 8 + 4
	overhead = 3 + 5 + perEntry
	// frameHead is the rest of a publish frame's overhead.
	frameHead = 4 + 2 + 2 + 1 + 4
)

// appendProperties appends the section of application properties of an AMQP 1.0 message: a map of texts, preceded by its size.
func appendProperties(b []byte, names []string, values [][]byte) []byte {
	const smallText, largeText, largeMap = 0xa1, 0xb1, 0xd1
	b = append(b, 0x00, 0x53, 0x74, largeMap, 0, 0, 0, 0)
	from := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(2*len(names)))
	for i, name := range names {
		b = append(append(b, smallText, byte(len(name))), name...)
		b = append(b, largeText)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(values[i]))), values[i]...)
	}
	binary.BigEndian.PutUint32(b[from-4:], uint32(len(b)-from))
	return b
}

// appendData appends the data section of an AMQP 1.0 message.
func appendData(b, payload []byte) []byte {
	b = append(b, 0x00, 0x53, 0x75)
	if n := len(payload); n < 256 {
		b = append(b, smallBinary, byte(n))
	} else {
		b = append(b, largeBinary)
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return append(b, payload...)
}
