package driver

import "unsafe"

// Header is a message header: a name, and a value of printable ASCII characters, which every protocol allows.
type Header struct {
	Name  string
	Value []byte
}

// HeaderBytes is the least number of bytes that headers add to a message in any protocol: names, values and separators.
func HeaderBytes(headers []Header) int {
	const begin, each = 16, 12
	if len(headers) == 0 {
		return 0
	}
	n := begin
	for _, h := range headers {
		n += len(h.Name) + len(h.Value) + each
	}
	return n
}

// Headerless says, as a clause, why messages carry no headers under these settings; empty if they do.
func (k Kind) Headerless(g Guarantee, client Values) string {
	if k.Headers == nil {
		return "a message has no headers in the protocol of " + k.Name
	}
	return k.Headers(g, client)
}

// Always is the Kind.Headers of a driver whose messages carry headers under any settings.
func Always(Guarantee, Values) string { return "" }

// Received is a delivered message. The bytes are valid only during the call of Sink.Deliver.
type Received struct {
	Payload []byte
	Headers *Headers // the values of ConsumerConfig.Headers, each nil if the message has no header of that name; nil if it has none at all
}

// Headers are the values of a message's headers in the order of the producer's or consumer's header names. Messages hold a
// pointer to them, because most have none and are copied often.
type Headers [][]byte

// Values returns the values; none if h is nil.
func (h *Headers) Values() [][]byte {
	if h == nil {
		return nil
	}
	return *h
}

// Batch gathers messages for a Sink and reuses its memory. It is not safe for concurrent use.
type Batch struct {
	names   []string
	list    []Received
	headers []Headers // of the messages that have headers
	values  [][]byte  // header values
}

// NewBatch makes an empty batch with room for n messages. names are the headers that a consumer wants.
func NewBatch(names []string, n int) Batch {
	b := Batch{names: names, list: make([]Received, 0, n)}
	if len(names) > 0 {
		b.headers, b.values = make([]Headers, 0, n), make([][]byte, 0, n*len(names))
	}
	return b
}

// Add adds a message. value returns the header of a name, or nil if the message doesn't have it; value is nil if messages carry
// no headers.
func (b *Batch) Add(payload []byte, value func(name string) []byte) {
	b.list = append(b.list, Received{Payload: payload})
	if len(b.names) > 0 && value != nil {
		b.list[len(b.list)-1].Headers = b.read(value)
	}
}

func (b *Batch) read(value func(name string) []byte) *Headers {
	first := len(b.values)
	for _, name := range b.names {
		b.values = append(b.values, value(name))
	}
	b.headers = append(b.headers, b.values[first:len(b.values):len(b.values)])
	return &b.headers[len(b.headers)-1]
}

// Len is the number of messages since the last Reset.
func (b *Batch) Len() int { return len(b.list) }

// From returns the messages from index i on.
func (b *Batch) From(i int) []Received { return b.list[i:] }

// Reset empties the batch.
func (b *Batch) Reset() { b.list, b.headers, b.values = b.list[:0], b.headers[:0], b.values[:0] }

// Deliver delivers the messages to s, and empties the batch.
func (b *Batch) Deliver(s Sink) {
	if len(b.list) > 0 {
		s.Deliver(b.list)
	}
	b.Reset()
}

// Texts are the header values of the last message for a client library that takes strings. A value that doesn't change is
// converted only once.
type Texts []string

// Set takes the values of the next message, and calls changed for those that differ from the last message's.
func (t *Texts) Set(values [][]byte, changed func(i int, text string)) {
	for i, v := range values {
		switch {
		case i == len(*t):
			*t = append(*t, string(v))
		case (*t)[i] == string(v):
			continue
		default:
			(*t)[i] = string(v)
		}
		changed(i, (*t)[i])
	}
}

// Text returns the bytes of a header that a client library returned as a string, nil if there is none of that name or it is no text.
// They must not be changed.
func Text[M ~map[string]V, V any](headers M, name string) []byte {
	value, there := headers[name]
	if text, ok := any(value).(string); ok && there {
		return Bytes(text)
	}
	return nil
}

// Bytes returns the bytes of a header value that a client library returned as a string. They must not be changed.
func Bytes(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
