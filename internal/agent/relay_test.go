package agent

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestARelayTellsHowItStoodStill(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	log := worker.NewPauseLog()
	defer log.Close()
	ctx, stop := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := Relay{Name: "relay-test", Listen: l.Addr().String()}
	l.Close()
	if err := listen(ctx, r.Listen, r.Name, func(conn net.Conn) { r.answer(conn, log) }); err != nil {
		t.Fatal(err)
	}
	if err := checkAnswers(ctx, r.Listen, r.Name); err != nil {
		t.Error(err)
	}
	until := clock.Now()
	p, err := RelayPauses(ctx, r.Listen, until-int64(time.Second), until)
	if err != nil || p.Late.Count() < int64(time.Second/clock.WatchEvery) {
		t.Errorf("%d wake-ups in a second, %v", p.Late.Count(), err)
	}
	stop()
	for range 100 { // closed soon
		if _, err = RelayPauses(t.Context(), r.Listen, 0, until); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a relay that has ended says how it stood still")
}

func TestARelayListensToSoManyStrangersAtATime(t *testing.T) {
	log := worker.NewPauseLog()
	defer log.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := Relay{Name: "relay-test", Listen: l.Addr().String()}
	l.Close()
	if err := listen(t.Context(), r.Listen, r.Name, func(conn net.Conn) { r.answer(conn, log) }); err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range maxStrangers {
		c, _, err := dial(t.Context(), r.Listen)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	further, err := net.Dial("tcp", r.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer further.Close()
	_ = further.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := further.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one more was greeted: %v", err)
	}
	silent[0].Close()
	_ = further.SetReadDeadline(time.Now().Add(greetingTime / 2))
	if _, err := further.Read(make([]byte, 1)); err != nil {
		t.Errorf("it was not greeted when another one had left: %v", err)
	}
}

func TestARelayThatDoesNotGreetIsNotWaitedForLongerThanTheContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, and no server answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := RelayPauses(ctx, l.Addr().String(), 0, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > greetingTime/2 {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// relayerFunc is a driver.Relayer that relays nothing.
type relayerFunc func(ctx context.Context, ready func()) error

func (f relayerFunc) Relay(ctx context.Context, _ driver.RelayConfig, ready func()) error {
	return f(ctx, ready)
}

func TestARelayThatCannotListenSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pauses := worker.NewPauseLog()
	defer pauses.Close()
	untilItEnds := relayerFunc(func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		return ctx.Err()
	})
	if err := (Relay{Listen: l.Addr().String()}).relayWith(t.Context(), untilItEnds, pauses); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: %v", err)
	}
	broken := errors.New("the broker is gone")
	fails := relayerFunc(func(context.Context, func()) error { return broken })
	if err := (Relay{}).relayWith(t.Context(), fails, pauses); !errors.Is(err, broken) {
		t.Errorf("a relay that fails: %v", err)
	}
}
