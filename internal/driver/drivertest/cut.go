package drivertest

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/testkit"
)

const (
	cuts      = 3
	cutWithin = 20 * time.Millisecond // of a session under load: the cuts must hit messages in every state
	torrent   = 4000                  // messages between two cuts that are sent without a pause
)

// cutConnections cuts all connections to a living broker, again and again, while senders send as fast as slots become free. Every
// promise of a guarantee has to hold, for memory, too.
func (r *run) cutConnections(t *testing.T) {
	var open []*session
	for _, g := range r.suite.Guarantees {
		s := r.open(t, g, r.crowded(r.suite.Consumers))
		s.newSender(t, 0, s.topics()...).bound = slotBound
		open = append(open, s)
	}
	broken := 0
	errs := sendDuring(open, (*sender).pour, func() {
		for round := 0; round < cuts && (broken > 0 || round == 0); round++ {
			for _, s := range open {
				s.flowsOn()
			}
			time.Sleep(rand.N(cutWithin))
			broken += Cut(r.target.Addresses)
		}
	})
	if broken == 0 {
		for _, s := range open {
			s.all[0].close(t, false)
			s.close(t, false)
		}
		testkit.Without(t, "this broker has no connections")
	}
	t.Logf("%d connections were cut", broken)
	for i, s := range open {
		t.Run(label(s.guarantee), func(t *testing.T) { s.requireRestarted(t, errs[i]) })
	}
	t.Run("no goroutine is left behind", func(t *testing.T) { requireNothingLeft(t, open[0]) })
}

// pour sends without a pause until over is closed, and then some more.
func (p *sender) pour(ctx context.Context, over <-chan struct{}) error {
	for {
		err := p.send(ctx, sendMax)
		if err != nil && ctx.Err() != nil {
			return err
		}
		pause := time.Duration(0)
		if p.next > cuts*torrent {
			pause = breath
		}
		select {
		case <-over:
			return p.send(ctx, afterwards)
		case <-time.After(pause):
		}
	}
}

// flowsOn waits until more messages have been completed than were in flight, and some have been delivered.
func (s *session) flowsOn() {
	slots, got := s.all[0].slots, s.tallies[0][0]
	completed, received := slots.completed(), got.received()
	eventually(patience, func() bool {
		return slots.completed() > completed+inFlight && got.received() > received || got.faults.any()
	})
}

// Cut ends all connections of this process to the addresses' ports, as a network failure would, and returns their number.
func Cut(addresses []string) (n int) {
	ports := map[int]bool{}
	for _, a := range addresses {
		_, text, _ := net.SplitHostPort(a)
		if port, err := strconv.Atoi(text); err == nil {
			ports[port] = true
		}
	}
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		fd, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		peer, err := unix.Getpeername(fd)
		if err != nil {
			continue
		}
		at, ok := peer.(*unix.SockaddrInet4)
		if ok && ports[at.Port] && unix.Shutdown(fd, unix.SHUT_RDWR) == nil {
			n++
		}
	}
	return n
}
