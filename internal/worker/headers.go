package worker

import (
	"bytes"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/wire"
)

// headers are the headers of every message: first the stamp, if payloads are left untouched, then the headers of the plan. For
// the header "trace" and untouched payloads, the names are "brokermark" and "trace".
type headers struct {
	Stamped bool            // the first header is the stamp
	Own     []driver.Header // of the plan; every message has the same values
}

// headers returns the headers of the plan's messages.
func (p *Plan) headers() headers { return headers{p.Payload.Untouched, p.Headers} }

// any reports whether messages carry headers.
func (h headers) any() bool { return h.Stamped || len(h.Own) > 0 }

// names lists the names of all headers.
func (h headers) names() []string {
	var names []string
	if h.Stamped {
		names = append(names, wire.Name)
	}
	for _, own := range h.Own {
		names = append(names, own.Name)
	}
	return names
}

// values makes the header values of a slot's messages. The stamp's value is written for each message.
func (h headers) values() [][]byte {
	var values [][]byte
	if h.Stamped {
		values = append(values, make([]byte, wire.TextSize))
	}
	for _, own := range h.Own {
		values = append(values, own.Value)
	}
	return values
}

// size is the number of bytes that headers add to a message.
func (h headers) size() int {
	all := h.Own
	if h.Stamped {
		all = append([]driver.Header{{Name: wire.Name, Value: make([]byte, wire.TextSize)}}, all...)
	}
	return driver.HeaderBytes(all)
}

// HeaderSize returns the number of bytes that headers add to a message of the plan.
func (p *Plan) HeaderSize() int { return p.headers().size() }

// read reads the stamp of a message from its header, or from its payload if it has no stamp header. A message of this run is
// damaged if its own headers did not arrive unchanged.
func (h headers) read(header *wire.Header, m *driver.Received, run uint16) (status wire.Status) {
	got := m.Headers.Values()
	if h.Stamped && len(got) > 0 && got[0] != nil {
		status = header.ReadText(got[0], m.Payload)
	} else {
		status = header.Read(wire.Split(m.Payload))
	}
	if len(h.Own) == 0 || header.Timed && header.Run != run {
		return status
	}
	if h.Stamped && len(got) > 0 {
		got = got[1:]
	}
	for i, own := range h.Own {
		if i >= len(got) || !bytes.Equal(got[i], own.Value) {
			return wire.Damaged
		}
	}
	return status
}
