package driver

import "unsafe"

// Header is what a message carries beside its body: a name, and a value of printable ASCII characters, which every protocol takes.
type Header struct {
	Name  string
	Value []byte
}

// HeaderBytes is by how much headers make a message larger, in no protocol less: names, values, and what stands between them.
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

// Headerless says, as a clause, why messages carry no headers under these settings; empty where they do.
func (k Kind) Headerless(g Guarantee, client Values) string {
	if k.Headers == nil {
		return "a message has no headers in the protocol of " + k.Name
	}
	return k.Headers(g, client)
}

// Always is the Kind.Headers of a driver whose messages carry headers whatever the settings.
func Always(Guarantee, Values) string { return "" }

// Received is a message as it came. The bytes are valid only during the call of Sink.Deliver.
type Received struct {
	Payload []byte
	Headers *Headers // the values of ConsumerConfig.Headers, each nil where the message has no header of that name; nil where there are none
}

// Headers are the values of a message's headers in the order of the names that a producer or consumer was given. Messages hold them by their
// address, since most have none and are copied often.
type Headers [][]byte

// Values are the values; none if h is nil.
func (h *Headers) Values() [][]byte {
	if h == nil {
		return nil
	}
	return *h
}

// Batch gathers messages for a Sink, in memory that is used again. It belongs to one goroutine at a time.
type Batch struct {
	names   []string
	list    []Received
	headers []Headers // of the messages that have any
	values  [][]byte  // of headers
}

// NewBatch makes an empty batch with room for n messages of which a consumer wants the headers of these names.
func NewBatch(names []string, n int) Batch {
	b := Batch{names: names, list: make([]Received, 0, n)}
	if len(names) > 0 {
		b.headers, b.values = make([]Headers, 0, n), make([][]byte, 0, n*len(names))
	}
	return b
}

// Add adds a message. value finds a header by its name, nil where there is none; it is nil where messages carry no headers.
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

// Len is how many messages were added since the last Reset.
func (b *Batch) Len() int { return len(b.list) }

// From are the messages from the i-th on.
func (b *Batch) From(i int) []Received { return b.list[i:] }

// Reset empties the batch.
func (b *Batch) Reset() { b.list, b.headers, b.values = b.list[:0], b.headers[:0], b.values[:0] }

// Deliver hands over what was added, and empties the batch.
func (b *Batch) Deliver(s Sink) {
	if len(b.list) > 0 {
		s.Deliver(b.list)
	}
	b.Reset()
}

// Texts are the values of headers for a client library that wants texts. A value that stays the same isn't made anew for each message.
type Texts []string

// Set takes over the values of the next message, and passes on those that changed.
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

// Bytes are the bytes of a text that a client library has read a header's value into. They must not be changed.
func Bytes(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
