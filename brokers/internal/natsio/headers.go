package natsio

import (
	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/driver"
)

// Headers are the headers of a producer's messages, in a map that is reused.
type Headers struct {
	Map    nats.Header // nil where messages have none
	values [][]string  // of the map, by name
	texts  driver.Texts
}

// NewHeaders makes headers of these names, and of extra names whose values the caller sets.
func NewHeaders(names []string, extra nats.Header) Headers {
	h := Headers{Map: extra}
	if h.Map == nil && len(names) > 0 {
		h.Map = nats.Header{}
	}
	for _, name := range names {
		value := make([]string, 1)
		h.Map[name], h.values = value, append(h.values, value)
	}
	return h
}

// Set takes over the values of the next message.
func (h *Headers) Set(values [][]byte) {
	h.texts.Set(values, func(i int, text string) { h.values[i][0] = text })
}

// Value returns a header; nil if there is none of that name.
func Value(h nats.Header, name string) []byte {
	if values := h[name]; len(values) > 0 {
		return driver.Bytes(values[0])
	}
	return nil
}
