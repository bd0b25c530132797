package rocketmq

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

// Requests of the broker's own protocol; the proxy's protocol has none that create topics.
const (
	setOffset   = 15
	makeTopic   = 17
	tellConfig  = 26
	tellRuntime = 28
	makeGroup   = 200
	removeGroup = 207
	removeTopic = 215
)

const (
	brokerRole     = "broker" // of the address in driver.Target.Endpoints
	usualPort      = "10911"
	adminPatience  = 10 * time.Second
	mostBytes      = 16 << 20 // of a reply
	usualVersionID = 0        // a version of the protocol's clients, older than any that the broker treats apart
)

// admin asks the broker itself. A request and its reply are frames: a length, the length of a header, the header as JSON, a body.
type admin struct {
	config  driver.Config
	address string

	mu   sync.Mutex
	conn net.Conn // nil: none yet, or it was lost
	last int32
}

// header is a request's or a reply's.
type header struct {
	Code     int               `json:"code"`
	Language string            `json:"language"`
	Version  int               `json:"version"`
	Opaque   int32             `json:"opaque"`
	Flag     int               `json:"flag"`
	Remark   string            `json:"remark,omitempty"`
	Fields   map[string]string `json:"extFields,omitempty"`
}

func newAdmin(c driver.Config) *admin {
	address := c.Client.String("brokerAddr")
	if address == "" {
		address = c.Target.Endpoints[brokerRole]
	}
	if address == "" && len(c.Target.Addresses) > 0 {
		host, _, _ := net.SplitHostPort(c.Target.Addresses[0])
		address = net.JoinHostPort(host, usualPort)
	}
	return &admin{config: c, address: address}
}

// ask makes a request with these fields and body, which may be nil, and returns the reply's body. A connection that was lost
// since the last one is made again.
func (a *admin) ask(ctx context.Context, code int, fields map[string]string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, adminPatience)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	for used := a.conn != nil; ; used = false {
		reply, err := a.exchange(ctx, code, fields, text)
		if err == nil || a.conn != nil {
			return reply, err
		}
		if !used {
			return nil, err
		}
	}
}

// exchange makes one attempt; if that fails, it leaves no connection behind.
func (a *admin) exchange(ctx context.Context, code int, fields map[string]string, body []byte) (reply []byte, err error) {
	if a.conn == nil {
		if a.conn, err = socket.Dial(ctx, a.address, a.config.Target.TLS); err != nil {
			a.conn = nil
			return nil, err
		}
	}
	deadline, _ := ctx.Deadline()
	_ = a.conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = a.conn.SetDeadline(time.Now()) })
	defer stop()
	a.last++
	head, reply, err := roundTrip(a.conn, header{Code: code, Language: "GO", Version: usualVersionID, Opaque: a.last, Fields: fields}, body)
	if err != nil {
		_ = a.conn.Close()
		a.conn = nil
		return nil, fmt.Errorf("broker at %s: %w", a.address, err)
	}
	if head.Code != 0 {
		return nil, fmt.Errorf("the broker answered request %d with code %d: %s", code, head.Code, head.Remark)
	}
	return reply, nil
}

func roundTrip(conn io.ReadWriter, h header, body []byte) (header, []byte, error) {
	head, err := json.Marshal(h)
	if err != nil {
		return header{}, nil, err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(head)))
	if _, err := conn.Write(append(append(frame, head...), body...)); err != nil {
		return header{}, nil, err
	}
	return readFrame(conn, h.Opaque)
}

// readFrame reads the reply to request opaque.
func readFrame(conn io.Reader, opaque int32) (header, []byte, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(conn, lengths[:]); err != nil {
		return header{}, nil, err
	}
	all, head := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])&0xffffff // the first byte is the encoding
	if all < 4 || all > mostBytes || head > all-4 || lengths[4] != 0 {
		return header{}, nil, fmt.Errorf("it answered %d bytes with a header of %d, coded as %d: no reply of RocketMQ", all, head, lengths[4])
	}
	text := make([]byte, all-4)
	if _, err := io.ReadFull(conn, text); err != nil {
		return header{}, nil, err
	}
	var h header
	if err := json.Unmarshal(text[:head], &h); err != nil {
		return header{}, nil, fmt.Errorf("the header of its reply: %w", err)
	}
	if h.Opaque != opaque {
		return header{}, nil, fmt.Errorf("it answered request %d, asked was %d", h.Opaque, opaque)
	}
	return h, text[head:], nil
}

// settings returns the broker's settings, by name.
func (a *admin) settings(ctx context.Context) (map[string]string, error) {
	text, err := a.ask(ctx, tellConfig, nil, nil)
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			said[name] = value
		}
	}
	return said, nil
}

// runtime returns the broker's run-time statistics.
func (a *admin) runtime(ctx context.Context) (map[string]string, error) {
	text, err := a.ask(ctx, tellRuntime, nil, nil)
	if err != nil {
		return nil, err
	}
	var said struct {
		Table map[string]string `json:"table"`
	}
	err = json.Unmarshal(text, &said)
	return said.Table, err
}

func (a *admin) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		_ = a.conn.Close()
		a.conn = nil
	}
}
