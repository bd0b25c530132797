package fleet

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
)

// Messages are compressed JSON, in pieces that the control server accepts.
const (
	pieceHeader = "Brokermark-Piece" // message, number and count of pieces
	pieceSize   = 256 << 10          // bytes
	maxDown     = 1 << 30            // bytes of JSON to an agent: a million topics with four producers and consumers each
	maxUp       = 256 << 20          // bytes of JSON from an agent, several of which must not fill the coordinator's memory
	maxPacked   = 128 << 20          // bytes of its pieces: 64 MiB of payloads do not compress
	maxPieces   = maxPacked >> 10
)

// Making a compressor for each message took half of the CPU time that coordinating 100 agents takes.
var (
	deflaters = sync.Pool{New: func() any { z, _ := flate.NewWriter(nil, flate.BestSpeed); return z }} // it knows the level
	inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

func post(nc *nats.Conn, subject string, v any) error {
	var packed bytes.Buffer
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(&packed)
	if err := errors.Join(json.NewEncoder(z).Encode(v), z.Close()); err != nil {
		return err
	}
	size := min(pieceSize, max(1, int(nc.MaxPayload())-4096))
	id, text := nuid.Next(), packed.Bytes()
	n := (len(text) + size - 1) / size
	for i := range n {
		m := nats.NewMsg(subject)
		m.Header.Set(pieceHeader, fmt.Sprintf("%s %d %d", id, i, n))
		m.Data = text[i*size : min(len(text), (i+1)*size)]
		if err := nc.PublishMsg(m); err != nil {
			return err
		}
	}
	return nil
}

// assembler joins the pieces of one sender's messages. Pieces come in order. A message that lacks one is dropped; the sender
// repeats it when beats show that it did not arrive.
type assembler struct {
	most int64 // bytes of JSON in a message
	id   string
	next int
	text []byte
}

// add takes a piece. If that completes the message, it decodes it into v.
func (p *assembler) add(m *nats.Msg, v any) (complete bool, err error) {
	var id string
	var i, n int
	if _, err := fmt.Sscanf(m.Header.Get(pieceHeader), "%s %d %d", &id, &i, &n); err != nil || i < 0 || i >= n || n > maxPieces {
		return false, errors.New("a message that is no piece of another")
	}
	if i == 0 {
		*p = assembler{most: p.most, id: id}
	}
	if id != p.id || i != p.next {
		return false, nil // the rest of one that has lost a piece
	}
	if len(p.text)+len(m.Data) > maxPacked {
		*p = assembler{most: p.most}
		return false, fmt.Errorf("a message of more than %d bytes", maxPacked)
	}
	p.text, p.next = append(p.text, m.Data...), i+1
	if p.next < n {
		return false, nil
	}
	text := p.text
	*p = assembler{most: p.most}
	return true, inflate(text, p.most, v)
}

// inflate decodes compressed JSON of at most limit bytes into v.
func inflate(packed []byte, limit int64, v any) error {
	z := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(z)
	if err := z.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return err
	}
	text := &io.LimitedReader{R: z, N: limit}
	err := json.NewDecoder(text).Decode(v)
	if err != nil && text.N <= 0 {
		err = fmt.Errorf("a message that inflates to more than %d bytes", limit)
	}
	return err
}

// receive calls handle for each message of type T that is posted to a subject and has up to most bytes of JSON, and failed
// for each that can't be read. It calls them from one goroutine.
func receive[T any](nc *nats.Conn, subject string, most int64, handle func(T), failed func(error)) (*nats.Subscription, error) {
	p := assembler{most: most}
	s, err := nc.Subscribe(subject, func(m *nats.Msg) {
		var message T
		complete, err := p.add(m, &message)
		switch {
		case err != nil:
			failed(err)
		case complete:
			handle(message)
		}
	})
	if err != nil {
		return nil, err
	}
	return s, s.SetPendingLimits(-1, 2*maxPacked) // a message is many pieces
}

// subjectDown and subjectUp are the subjects of messages to and from an agent in a session.
func subjectDown(id, session string) string { return "brokermark.run." + id + "." + session + ".down" }

func subjectUp(id, session string) string { return "brokermark.run." + id + "." + session + ".up" }

func subjectOf(id, end string) string { return "brokermark.agent." + id + "." + end }
