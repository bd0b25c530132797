package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// producer publishes with acknowledgements.
type producer struct {
	window   *natsio.Window
	watch    *socket.Watch
	subjects []string
	receipts driver.Receipts
	message  nats.Msg // reused
	headers  natsio.Headers
	ids      *ids // exactly-once; else nil
}

func (p *producer) Send(ctx context.Context, batch []driver.Message) error {
	p.watch.Enter(ctx)
	defer p.watch.Leave()
	for i := range batch {
		m := &batch[i]
		if err := ctx.Err(); err != nil {
			p.receipts.Done([]uint32{m.Slot}, err)
			continue
		}
		if p.ids != nil {
			p.ids.pick(m)
		}
		p.headers.Set(m.Headers.Values())
		p.message.Subject, p.message.Data = p.subjects[m.Topic], m.Payload
		_ = p.window.Publish(m.Slot, &p.message, m.Resent) // its receipt reports the error
	}
	return ctx.Err()
}

// Flush does nothing: the client's flusher runs as soon as anything is buffered.
func (p *producer) Flush(context.Context) error { return nil }

func (p *producer) Close() error {
	p.watch.Stop()
	p.window.Close()
	return nil
}

// ids numbers the messages of one producer; the stream drops a message whose ID it has seen within duplicate_window.
type ids struct {
	header []string // the value of the message's ID header
	prefix string
	n      uint64
	of     []uint64 // by slot, for sending its message again
}

func newIDs(slots int) *ids {
	return &ids{header: make([]string, 1), prefix: nuid.Next() + "-", of: make([]uint64, slots)}
}

// pick sets the header for m.
func (i *ids) pick(m *driver.Message) {
	if !m.Resent {
		i.n++
		i.of[m.Slot] = i.n
	}
	i.header[0] = i.prefix + strconv.FormatUint(i.of[m.Slot], 36)
}

var (
	ackHead  = []byte(`{"stream":`)
	ackError = []byte(`"error"`)
)

// errNoAnswer is the error of a publish that no server answers: the server has just started, or the stream has no leader.
var errNoAnswer = fmt.Errorf("publish: %w: %w", driver.ErrDisconnected, jetstream.ErrNoStreamResponse)

// roomPatience is the time for a cluster whose leader has no room: it steps down, and another server may have some.
const roomPatience = 10 * time.Second

// answers reads the answers to a producer whose messages have this many copies. Safe for use by several goroutines.
type answers struct {
	copies int

	mu          sync.Mutex
	first, last time.Time // of answers without room, at most roomPatience apart
}

// parse reads a publish acknowledgement. Decoding the usual one as JSON would be a third of a message's cost.
func (a *answers) parse(m *nats.Msg) error {
	if bytes.HasPrefix(m.Data, ackHead) && !bytes.Contains(m.Data, ackError) {
		return nil
	}
	if len(m.Data) == 0 {
		if status := m.Header.Get("Status"); status != "503" {
			return fmt.Errorf("publish: the server answered with status %s", status)
		}
		return errNoAnswer
	}
	var ack struct {
		Stream string              `json:"stream"`
		Error  *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Stream == "" && ack.Error == nil {
		return fmt.Errorf("publish: %w: %q", jetstream.ErrInvalidJSAck, m.Data)
	}
	if ack.Error != nil {
		return a.refused(ack.Error, time.Now())
	}
	return nil
}

// refused distinguishes messages that the server may accept later from those that it refuses for good.
func (a *answers) refused(err *jetstream.APIError, now time.Time) error {
	// A full stream uses the same code for final refusals ("maximum messages exceeded" and the like); so does a server or an
	// account whose storage is full.
	final := strings.HasPrefix(err.Description, "maximum ") || err.ErrorCode == noResources && !a.mayFindRoom(now)
	if err.Code == http.StatusServiceUnavailable && !final {
		return fmt.Errorf("publish: %w: %w", driver.ErrDisconnected, err)
	}
	return fmt.Errorf("publish: %w", err)
}

// mayFindRoom reports whether a message refused for lack of room is worth another attempt.
func (a *answers) mayFindRoom(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.last) > roomPatience {
		a.first = now
	}
	a.last = now
	return a.copies > 1 && now.Sub(a.first) < roomPatience
}
