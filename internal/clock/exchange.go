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

// In an exchange, a host asks a peer over UDP what time it is there, and both note when they sent and received (Ping).
// Question and answer have the same length, so an Answerer can't be misused to flood other hosts. A datagram is little
// endian:
//
//	 0..4   "BMck"
//	 4      version
//	 5      kind: question or answer
//	 6..8   zero
//	 8..24  nonce, chosen for the question and repeated in the answer
//	24..32  arrived   ┐ ns on the axis of the Answerer; zero in a question
//	32..40  answered  ┘
//	40..56  the first half of the HMAC-SHA256 of all bytes before it, with the token as the key
const (
	exchangeVersion = 1
	kindQuestion    = 1
	kindAnswer      = 2

	nonceAt, arrivedAt, answeredAt, macAt = 8, 24, 32, 40

	datagramSize = macAt + 16
)

// sealer makes and checks datagrams with one token. It belongs to one goroutine.
type sealer struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newSealer(token string) *sealer {
	return &sealer{mac: hmac.New(sha256.New, append([]byte("brokermark clock\x00"), token...))}
}

// code returns the authentication code of a datagram. It is valid until the next call.
func (s *sealer) code(d *[datagramSize]byte) []byte {
	s.mac.Reset()
	s.mac.Write(d[:macAt])
	return s.mac.Sum(s.sum[:0])[:datagramSize-macAt]
}

// seal writes everything but nonce and times into a datagram. They must be in place.
func (s *sealer) seal(d *[datagramSize]byte, kind byte) {
	copy(d[:], "BMck")
	d[4], d[5], d[6], d[7] = exchangeVersion, kind, 0, 0
	copy(d[macAt:], s.code(d))
}

// genuine reports whether a datagram of n bytes is of a kind, and its sender knows the token.
func (s *sealer) genuine(d *[datagramSize]byte, n int, kind byte) bool {
	rightKind := string(d[:4]) == "BMck" && d[4] == exchangeVersion && d[5] == kind
	return n == datagramSize && rightKind && hmac.Equal(d[macAt:], s.code(d))
}

// Answerer answers the exchanges of peers that know its token, and no others.
type Answerer struct {
	conn  *net.UDPConn
	ended sync.WaitGroup
}

// NewAnswerer starts an Answerer on a UDP socket that it binds to address (host:port; port 0: any). The caller closes it. An
// address that stands for all addresses of a host is refused: peers expect their answers from the address that they asked.
func NewAnswerer(address, token string) (*Answerer, error) { return newAnswerer(address, token, Now) }

// newAnswerer is like NewAnswerer, with another clock.
func newAnswerer(address, token string, now func() int64) (*Answerer, error) {
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
	a.ended.Go(func() { a.answerAll(newSealer(token), now) })
	return a, nil
}

// Address returns the address to which the Answerer is bound, host:port.
func (a *Answerer) Address() string { return a.conn.LocalAddr().String() }

// Close ends answering and blocks until it has ended.
func (a *Answerer) Close() error {
	err := a.conn.Close()
	a.ended.Wait()
	return err
}

// answerAll answers until the socket is closed.
func (a *Answerer) answerAll(s *sealer, now func() int64) {
	var d [datagramSize]byte
	var in [datagramSize + 1]byte // a longer datagram must not pass for its beginning
	for {
		n, from, err := a.conn.ReadFromUDPAddrPort(in[:])
		arrived := now()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // of one datagram, as when an earlier answer was rejected
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
		_, _ = a.conn.WriteToUDPAddrPort(d[:], from) // a peer that gets no answer asks again
	}
}

const (
	maxExchanges  = 10_000
	answerTimeout = 250 * time.Millisecond // an exchange that takes longer would hardly narrow the offset
	maxUnanswered = 4                      // questions in a row without an answer mean that there is no peer
	minExchanges  = 8                      // are worth something if ctx ends: between continents a hundred take many seconds
)

// Exchange makes n exchanges (1 to 10,000), one after the other, with the Answerer at address. It leaves out those that are
// lost on the way, and fails if four in a row are. It blocks until all are made or ctx ends. If ctx ends first, eight
// exchanges or more are a result, fewer are an error.
func Exchange(ctx context.Context, address, token string, n int) ([]Ping, error) {
	if n < 1 || n > maxExchanges {
		return nil, fmt.Errorf("clock exchange: %d exchanges; 1 to %d are possible", n, maxExchanges)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, fmt.Errorf("clock exchange: %w", err)
	}
	defer conn.Close()
	stopClosing := context.AfterFunc(ctx, func() { conn.Close() }) // ends an exchange that waits for its answer
	defer stopClosing()
	s := newSealer(token)
	pings := make([]Ping, 0, n)
	unanswered := 0 // in a row
	for range n {
		p, err := ask(conn, s)
		if err == nil {
			pings = append(pings, p)
			unanswered = 0
			continue
		}
		if ctx.Err() != nil {
			if len(pings) >= minExchanges {
				return pings, nil
			}
			return nil, fmt.Errorf("clock exchange with %s: %w after %d of %d", address, context.Cause(ctx), len(pings), n)
		}
		unanswered++
		if unanswered == maxUnanswered {
			return nil, fmt.Errorf("clock exchange: %s gave no answer to %d questions in a row (%w): "+
				"UDP must reach it, and the token must be the same on both hosts", address, unanswered, err)
		}
	}
	if len(pings) == 0 {
		return nil, fmt.Errorf("clock exchange: %s gave no answer", address)
	}
	return pings, nil
}

// ask makes one exchange. It fails if no answer comes in time.
func ask(conn net.Conn, s *sealer) (Ping, error) {
	var question, answer [datagramSize]byte
	var in [datagramSize + 1]byte                 // a longer datagram must not pass for its beginning
	_, _ = rand.Read(question[nonceAt:arrivedAt]) // never fails
	s.seal(&question, kindQuestion)
	_ = conn.SetReadDeadline(time.Now().Add(answerTimeout))
	p := Ping{Sent: Now()}
	if _, err := conn.Write(question[:]); err != nil {
		return Ping{}, err
	}
	for {
		n, err := conn.Read(in[:])
		p.Received = Now()
		if err != nil {
			return Ping{}, err
		}
		copy(answer[:], in[:])
		sameNonce := string(answer[nonceAt:arrivedAt]) == string(question[nonceAt:arrivedAt])
		if sameNonce && s.genuine(&answer, n, kindAnswer) { // an answer to this question, from a holder of the token
			p.Arrived = int64(binary.LittleEndian.Uint64(answer[arrivedAt:]))
			p.Answered = int64(binary.LittleEndian.Uint64(answer[answeredAt:]))
			return p, nil
		}
	}
}

// Compare measures the offset of the peer whose Answerer is at address, by a hundred exchanges. On one network they take some
// ten milliseconds. It blocks and fails as Exchange does.
func Compare(ctx context.Context, address, token string) (Offset, error) {
	const exchanges = 100
	pings, err := Exchange(ctx, address, token, exchanges)
	if err != nil {
		return Offset{}, err
	}
	return EstimateOffset(pings)
}
