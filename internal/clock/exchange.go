package clock

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net"
	"sync"
	"time"
)

// A datagram of an exchange, either way, little endian; question and answer have the same length, so nobody can have
// others flooded through an Answerer:
//
//	 0..4   "BMck"
//	 4      version
//	 5      kind: question or answer
//	 6..8   zero
//	 8..24  nonce, chosen by who asks and repeated in the answer
//	24..32  arrived   ┐ ns on the axis of who answers; zero in a question
//	32..40  answered  ┘
//	40..56  HMAC-SHA256 of all before it by the token, its first half
const (
	exchangeVersion = 1
	kindQuestion    = 1
	kindAnswer      = 2

	nonceAt, arrivedAt, answeredAt, macAt = 8, 24, 32, 40

	datagram = macAt + 16
)

// sealer makes and checks datagrams, for one goroutine.
type sealer struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newSealer(token string) *sealer {
	return &sealer{mac: hmac.New(sha256.New, append([]byte("brokermark clock\x00"), token...))}
}

func (s *sealer) of(d *[datagram]byte) []byte {
	s.mac.Reset()
	s.mac.Write(d[:macAt])
	return s.mac.Sum(s.sum[:0])[:datagram-macAt]
}

func (s *sealer) seal(d *[datagram]byte, kind byte) {
	copy(d[:], "BMck")
	d[4], d[5], d[6], d[7] = exchangeVersion, kind, 0, 0
	copy(d[macAt:], s.of(d))
}

// genuine tells whether a datagram of n bytes is one of a kind from somebody who knows the token.
func (s *sealer) genuine(d *[datagram]byte, n int, kind byte) bool {
	return n == datagram && string(d[:4]) == "BMck" && d[4] == exchangeVersion && d[5] == kind && hmac.Equal(d[macAt:], s.of(d))
}

// Answerer answers the exchanges of peers that know its token, and nobody else.
type Answerer struct {
	conn  *net.UDPConn
	ended sync.WaitGroup
}

// Answers answers exchanges on a UDP socket that it binds to address (host:port; port 0: any), until Close. An address that
// stands for all of a host's is refused: peers expect their answers from the address that they asked.
func Answers(address, token string) (*Answerer, error) { return answers(address, token, Now) }

func answers(address, token string, now func() int64) (*Answerer, error) {
	if token == "" {
		return nil, errors.New("clock exchange: no token; one is needed")
	}
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, fmt.Errorf("clock exchange: %w", err)
	}
	if at.IP == nil || at.IP.IsUnspecified() {
		return nil, fmt.Errorf("clock exchange: %s stands for all addresses of this host; name the one that peers reach", address)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("clock exchange: %w", err)
	}
	a := &Answerer{conn: conn}
	a.ended.Go(func() { a.answer(newSealer(token), now) })
	return a, nil
}

// Address is where the Answerer is bound, host:port.
func (a *Answerer) Address() string { return a.conn.LocalAddr().String() }

// Close ends answering and blocks until it has ended.
func (a *Answerer) Close() error {
	err := a.conn.Close()
	a.ended.Wait()
	return err
}

func (a *Answerer) answer(s *sealer, now func() int64) {
	var d [datagram]byte
	var in [datagram + 1]byte // a longer one must not pass for its beginning
	for {
		n, from, err := a.conn.ReadFromUDPAddrPort(in[:])
		arrived := now()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // of one datagram, as when an earlier answer was rejected
			time.Sleep(time.Millisecond)
			continue
		}
		copy(d[:], in[:])
		if !s.genuine(&d, n, kindQuestion) {
			continue
		}
		binary.LittleEndian.PutUint64(d[arrivedAt:], uint64(arrived))
		binary.LittleEndian.PutUint64(d[answeredAt:], uint64(now()))
		s.seal(&d, kindAnswer)
		_, _ = a.conn.WriteToUDPAddrPort(d[:], from) // who gets no answer asks again
	}
}

const (
	maxExchanges = 10_000
	// patience is how long one answer is waited for. An exchange that takes longer says nothing that is worth knowing.
	patience = 250 * time.Millisecond
	// deaf is after how many questions in a row without an answer nobody is there.
	deaf = 4
)

// enough exchanges are worth something though ctx has ended before all were made: on the way to another continent a hundred take
// many seconds.
const enough = 8

// Exchange makes n exchanges (1 to 10,000), one after the other, with the Answerer at address. Those that are lost on the
// way are left out; it fails where four in a row are. It blocks until all are made or ctx ends, which is an error where there are
// fewer than eight by then.
func Exchange(ctx context.Context, address, token string, n int) ([]Ping, error) {
	return exchange(ctx, address, token, n, Now)
}

func exchange(ctx context.Context, address, token string, n int, now func() int64) ([]Ping, error) {
	if n < 1 || n > maxExchanges {
		return nil, fmt.Errorf("clock exchange: %d exchanges; 1 to %d are possible", n, maxExchanges)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, fmt.Errorf("clock exchange: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	s, pings, lost := newSealer(token), make([]Ping, 0, n), 0
	for range n {
		p, err := ask(conn, s, now)
		switch {
		case ctx.Err() != nil && len(pings) >= enough:
			return pings, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("clock exchange with %s: %w after %d of %d", address, context.Cause(ctx), len(pings), n)
		case err == nil:
			pings, lost = append(pings, p), 0
		default:
			if lost++; lost == deaf {
				return nil, fmt.Errorf("clock exchange: %s gave no answer to %d questions in a row (%w): UDP must reach it, and the token must be the same on both hosts",
					address, deaf, err)
			}
		}
	}
	if len(pings) == 0 {
		return nil, fmt.Errorf("clock exchange: %s gave no answer", address)
	}
	return pings, nil
}

// ask makes one exchange.
func ask(conn net.Conn, s *sealer, now func() int64) (Ping, error) {
	var question, d [datagram]byte
	var in [datagram + 1]byte
	_, _ = rand.Read(question[nonceAt:arrivedAt]) // never fails
	s.seal(&question, kindQuestion)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	p := Ping{Sent: now()}
	if _, err := conn.Write(question[:]); err != nil {
		return Ping{}, err
	}
	for {
		n, err := conn.Read(in[:])
		p.Received = now()
		if err != nil {
			return Ping{}, err
		}
		copy(d[:], in[:])
		if string(d[nonceAt:arrivedAt]) != string(question[nonceAt:arrivedAt]) || !s.genuine(&d, n, kindAnswer) {
			continue // to an earlier question, or of somebody else
		}
		p.Arrived = int64(binary.LittleEndian.Uint64(d[arrivedAt:]))
		p.Answered = int64(binary.LittleEndian.Uint64(d[answeredAt:]))
		return p, nil
	}
}

// exchanges is how many one measurement makes: on one network they take some ten milliseconds.
const exchanges = 100

// Compare measures the offset of the peer whose Answerer is at address, by a hundred exchanges.
func Compare(ctx context.Context, address, token string) (Offset, error) {
	pings, err := Exchange(ctx, address, token, exchanges)
	if err != nil {
		return Offset{}, err
	}
	return EstimateOffset(pings)
}
