package sim

import (
	"encoding/binary"

	"github.com/brokermark/brokermark/internal/driver"
)

// A message with headers is stored as its payload, followed by each header: the length of the name, the name, the length of the value, the
// value. Lengths take two bytes; a name of length 0 ends the list. The highest bit of the payload's length marks such a message.
const withHeaders = 1 << 31

// sized returns the length of a message of this producer as it is stored.
func (p *producer) sized(m *driver.Message) int {
	n := len(m.Payload)
	if len(p.names) == 0 {
		return n
	}
	for i, value := range m.Headers.Values() {
		n += 4 + len(p.names[i]) + len(value)
	}
	return n + 2
}

// store stores a message and returns where it lies, and the length of its payload, marked.
func (p *producer) store(m *driver.Message) (c *chunk, at, n uint32) {
	if len(p.names) == 0 {
		c, at = p.broker.memory.store(m.Payload)
		return c, at, uint32(len(m.Payload))
	}
	p.whole = append(p.whole[:0], m.Payload...)
	for i, value := range m.Headers.Values() {
		name := p.names[i]
		p.whole = append(binary.LittleEndian.AppendUint16(p.whole, uint16(len(name))), name...)
		p.whole = append(binary.LittleEndian.AppendUint16(p.whole, uint16(len(value))), value...)
	}
	p.whole = binary.LittleEndian.AppendUint16(p.whole, 0)
	c, at = p.broker.memory.store(p.whole)
	return c, at, uint32(len(m.Payload)) | withHeaders
}

// header returns a header of a delivery; nil if there is none of that name.
func (e entry) header(name string) []byte {
	if e.n&withHeaders == 0 {
		return nil
	}
	next := e.chunk.buf[e.at+e.n&^withHeaders:]
	cut := func() (part []byte) {
		n := 2 + binary.LittleEndian.Uint16(next)
		part, next = next[2:n:n], next[n:]
		return part
	}
	for found := cut(); len(found) > 0; found = cut() {
		if value := cut(); string(found) == name {
			return value
		}
	}
	return nil
}
