package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// kept is a driver that the test closes itself.
type kept struct{ driver.Driver }

func (kept) Close() error { return nil }

func TestConsumersAreClosedInOrderBeforeAnythingWasPrepared(t *testing.T) {
	h := &consumerServer{failure: newFailure()}
	if a := h.carryOut(order{Do: doClose}); a.Err != "" {
		t.Errorf("closed before anything was prepared: %s", a.Err)
	}
}

// split prepares a worker with its consumers at the other end of a connection, where a process of its own would be.
func split(t *testing.T, d driver.Driver, p Plan) (*Worker, net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- ServeConsumers(there, func(context.Context) (driver.Driver, error) { return kept{d}, nil })
		there.Close()
	}()
	w, err := PrepareApart(t.Context(), d, p, here)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close()
		if err := <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
	return w, there
}

func TestConsumersApartLoseDuplicateAndReorderTheSame(t *testing.T) {
	const messages = 20_000
	for name, c := range map[string]struct {
		client map[string]any
		want   measure.Books
	}{
		"nothing":    {nil, measure.Books{}},
		"loss":       {map[string]any{"loss.every": 100}, measure.Books{Lost: 200, LostAcked: 200}},
		"duplicates": {map[string]any{"duplicate.every": 100}, measure.Books{Duplicated: 200}},
		"reorders":   {map[string]any{"reorder.every": 100}, measure.Books{Reordered: 200}},
	} {
		for where, prepare := range map[string]func(t *testing.T) *Worker{
			"local":  func(t *testing.T) *Worker { return ready(t, open(t, c.client), simple(1, 1)) },
			"remote": func(t *testing.T) *Worker { w, _ := split(t, open(t, c.client), simple(1, 1)); return w },
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				w := prepare(t)
				for range 2 { // the second trial must not count messages of the first
					out := w.Run(t.Context(), Load{Messages: messages, Drain: 2 * time.Second, Lossy: true})
					if out.Err != nil {
						t.Fatal(out.Err)
					}
					m := out.Measured
					m.Add(out.Warmup)
					if got := (measure.Books{Lost: m.Lost, LostAcked: m.LostAcked, Duplicated: m.Duplicated, Reordered: m.Reordered}); got != c.want {
						t.Errorf("%+v, want %+v", got, c.want)
					}
					if m.Sent != messages || m.Received != messages-m.Lost || m.Stale+m.Untimed+m.Corrupted != 0 {
						t.Errorf("%+v", m)
					}
					h := out.Histograms.EndToEnd
					if h.Count() != m.Received || h.Min() <= 0 || h.Max() > int64(5*time.Second) {
						t.Errorf("%d latencies from %d to %d ns of %d messages", h.Count(), h.Min(), h.Max(), m.Received)
					}
					if last := out.Samples[len(out.Samples)-1]; last.Count.Received != m.Received {
						t.Errorf("the last sample counts %d of %d", last.Count.Received, m.Received)
					}
					if out.LastReceived < out.FirstSent || out.LastReceived > clock.Now() {
						t.Errorf("first sent at %d, last received at %d", out.FirstSent, out.LastReceived)
					}
				}
			})
		}
	}
}

func TestConsumersApartTellWarmUpFromMeasuredPhase(t *testing.T) {
	for name, warmup := range map[string]Warmup{
		"fixed":     {For: 200 * time.Millisecond},
		"automatic": {Auto: true, For: 300 * time.Millisecond, Max: 600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := split(t, open(t, map[string]any{"latency": "3ms"}), simple(2, 2))
			out := w.Run(t.Context(), Load{Schedule: constant(t, 5000), Warmup: warmup, Duration: 400 * time.Millisecond, Drain: 5 * time.Second})
			if out.Err != nil || !out.Drained {
				t.Fatalf("drained %v: %v", out.Drained, out.Err)
			}
			for phase, b := range map[string]measure.Books{"warm-up": out.Warmup, "measured": out.Measured} {
				if !b.Balanced() || b.Sent == 0 || b.Received != 2*b.Sent || b.Lost+b.Duplicated != 0 {
					t.Errorf("%s: %+v", phase, b)
				}
			}
			if got, want := out.Histograms.EndToEnd.Count(), out.Measured.Received; got != want {
				t.Errorf("%d latencies of %d messages of the measured phase", got, want)
			}
			if at := out.Histograms.EndToEnd.Min(); at < int64(3*time.Millisecond) {
				t.Errorf("a message came after %d ns of 3 ms", at)
			}
			if out.Pauses.Late.Count() < int64(400*time.Millisecond/clock.WatchEvery) {
				t.Errorf("only %d wake-ups were watched, of two processes", out.Pauses.Late.Count())
			}
		})
	}
}

func TestConsumersApartDrainABacklog(t *testing.T) {
	const messages = 3000
	plan := simple(3, 2)
	plan.Lagging = allLagging
	w, _ := split(t, open(t, nil), plan)
	out := w.Run(t.Context(), Load{Messages: messages, Drain: 20 * time.Second, Backlog: &Backlog{Ratio: 1}})
	if out.Err != nil || !out.Drained || out.Measured.Received != 2*messages {
		t.Fatalf("drained %v, %+v: %v", out.Drained, out.Measured, out.Err)
	}
	if b := out.Backlog; b.Filled != messages || b.Received <= 0 || !(b.FilledAt <= b.From && b.From <= b.To && b.To <= clock.Now()) {
		t.Errorf("%+v", b)
	}
}

func TestADrainAsksConsumersApartWhichMessagesCameAfterSomeFailed(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.deliver(batch)
		if probing(batch) {
			p.done(batch, nil)
			return nil
		}
		p.done(batch[1:], nil)
		p.done(batch[:1], errors.New("no answer")) // and there all the same
		return nil
	}}
	w, _ := split(t, d, simple(1, 1))
	began := time.Now()
	out := w.Run(t.Context(), Load{Messages: 5000, Drain: 20 * time.Second})
	if out.Err != nil || !out.Drained || out.Measured.Failed == 0 || out.Measured.Received != 5000 {
		t.Errorf("drained %v, %+v: %v", out.Drained, out.Measured, out.Err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestAConnectionToConsumersApartThatEndsEndsTheTrial(t *testing.T) {
	w, there := split(t, open(t, nil), simple(1, 1))
	began := time.Now()
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, 1000), Duration: time.Minute, Drain: 20 * time.Second,
		Hooks: Hooks{Measuring: func(int64) { time.AfterFunc(300*time.Millisecond, func() { there.Close() }) }},
	})
	if !errors.Is(out.Err, ErrConsumerProcess) || !strings.HasPrefix(out.Err.Error(), "the consumers' process ended") {
		t.Errorf("%v", out.Err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestARemoteConsumerThatEndsByItselfSaysWhy(t *testing.T) {
	gone := make(chan struct{})
	d := &script{consume: func(ctx context.Context, _ driver.ConsumerConfig) error {
		select {
		case <-gone:
			return errors.New("the queue was deleted")
		case <-ctx.Done():
			return nil
		}
	}}
	w, _ := split(t, d, simple(1, 1))
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, 1000), Duration: time.Minute, Drain: 20 * time.Second,
		Hooks: Hooks{Measuring: func(int64) { time.AfterFunc(100*time.Millisecond, func() { close(gone) }) }},
	})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "consumer 0 of subscription 0: the queue was deleted") {
		t.Errorf("%v", out.Err)
	}
}

func TestARefusalOfConsumersApartIsOneOfTheWorker(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, c := range map[string]struct {
		open  error
		bytes int
		want  string
	}{
		"driver":  {driver.Unsupported("client.prefetch", "there is none"), 100, "client.prefetch is not supported: there is none"},
		"broker":  {errors.New("connection refused"), 100, "connection refused"},
		"payload": {nil, 31, "payloads of 31 bytes can't carry their times to consumers in another process; at least 32 are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			served := make(chan error, 1)
			go func() {
				served <- ServeConsumers(there, func(context.Context) (driver.Driver, error) { return nil, c.open })
			}()
			p := simple(1, 1)
			p.Payload.Sizes[0].Bytes = c.bytes
			_, err := PrepareApart(t.Context(), &memory{}, p, here)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if _, refused := errors.AsType[*driver.ErrUnsupported](c.open); refused != errors.As(err, new(*driver.ErrUnsupported)) {
				t.Errorf("%v is a refusal: %v", err, !refused)
			}
			there.Close()
			<-served
		})
	}
}

func TestConsumersApartThatDoNotAnswerAreGivenUp(t *testing.T) {
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there) }()
	w := &Worker{failure: newFailure(), probes: NewProbes(0, 0)}
	a := newApartConsumers(here, w)
	a.answerWithin = 50 * time.Millisecond
	if _, err := a.ask(order{Do: doEnd}); !errors.Is(err, ErrConsumerProcess) || !strings.Contains(err.Error(), "has not answered for 50ms") {
		t.Error(err)
	}
	if _, err := a.ask(order{Do: doEnd}); !errors.Is(err, ErrConsumerProcess) {
		t.Error(err)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
	there.Close()
}

func TestConsumersApartThatAreNotReadyInTimeSayHowMany(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- ServeConsumers(there, func(context.Context) (driver.Driver, error) { return &refusing{mute: true}, nil })
		there.Close()
	}()
	plan := simple(1, 2)
	plan.Connect = 200 * time.Millisecond
	_, err := PrepareApart(t.Context(), &memory{}, plan, here)
	if want := "2 of 2 consumers were not ready in time: context deadline exceeded"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrConsumerProcess) {
		t.Errorf("of another kind: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestConnectingConsumersApartCanBeCancelled(t *testing.T) {
	here, there := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, there) }()
	w := &Worker{failure: newFailure(), probes: NewProbes(0, 0), plan: Plan{Connect: time.Minute}}
	a := newApartConsumers(here, w)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := a.start(ctx, false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := a.close(); err != nil {
		t.Errorf("closing says again that the connection was given up: %v", err)
	}
	there.Close()
}

// answeredAtOnce is a connection whose other end answers an order, ends, and is read to its end, all before the order's Write returns.
type answeredAtOnce struct {
	net.Conn
	there net.Conn
	read  chan struct{} // closed when the end of the connection was read
}

func (c *answeredAtOnce) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		time.AfterFunc(20*time.Millisecond, func() { close(c.read) }) // readReports has ended by then
	}
	return n, err
}

func (c *answeredAtOnce) Write(b []byte) (int, error) {
	err := json.NewEncoder(c.there).Encode(report{To: doCollect})
	c.there.Close()
	<-c.read
	return len(b), err
}

func TestAnAnswerCountsAlsoIfTheConnectionEndsRightAfterIt(t *testing.T) {
	for range 20 {
		here, there := net.Pipe()
		a := newApartConsumers(&answeredAtOnce{here, there, make(chan struct{})}, &Worker{failure: newFailure(), probes: NewProbes(0, 0)})
		if _, err := a.ask(order{Do: doCollect}); err != nil {
			t.Fatal(err)
		}
		_ = a.close()
	}
}

func TestAnAnswerToAnotherOrderIsAnError(t *testing.T) {
	here, there := net.Pipe()
	a := newApartConsumers(here, &Worker{failure: newFailure(), probes: NewProbes(0, 0)})
	go func() {
		_ = json.NewDecoder(there).Decode(&order{})
		out := json.NewEncoder(there)
		for out.Encode(report{To: doEnd}) == nil { // more answers than orders, until the connection is closed
		}
	}()
	if _, err := a.ask(order{Do: doCollect}); !errors.Is(err, ErrConsumerProcess) || !strings.Contains(err.Error(), `answered "end" to order "collect"`) {
		t.Error(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- a.close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("close waits for ever")
	}
	there.Close()
}

func TestConsumersApartReportTheirLatenciesWhileTheTrialGoesOn(t *testing.T) {
	w, _ := split(t, open(t, map[string]any{"latency": "3ms"}), simple(1, 1))
	out := w.Run(t.Context(), Load{Schedule: constant(t, 1000), Duration: 1500 * time.Millisecond, Drain: 20 * time.Second})
	seen := 0
	for _, s := range out.Samples {
		if s.Sending && s.EndToEnd.Count > 0 && s.EndToEnd.P50 >= int64(3*time.Millisecond) {
			seen++
		}
	}
	if seen == 0 || out.Err != nil {
		t.Errorf("no latency was seen in %d samples: %v", len(out.Samples), out.Err)
	}
}

func TestAClosedConnectionToConsumersApartIsReadNoLonger(t *testing.T) {
	for range 200 {
		here, there := net.Pipe()
		a := newApartConsumers(here, &Worker{failure: newFailure(), probes: NewProbes(0, 0)})
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-a.answers: // closed
		default:
			t.Fatal("close returned while the connection was still read")
		}
		there.Close()
	}
}

func TestConsumersApartRefuseOrdersThatDoNotFit(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- ServeConsumers(there, func(context.Context) (driver.Driver, error) { return &memory{}, nil })
	}()
	in, out := json.NewDecoder(here), json.NewEncoder(here)
	for _, o := range []order{{Do: doStart}, {Do: doPrepare}, {Do: "x"}, {Do: doPrepare, Prepare: &preparation{Keys: Keys{Kind: "x"}}}, {Do: doPrepare, Prepare: &preparation{}}, {Do: doEnd}, {Do: doListen}, {Do: doListen, Trial: &trialStart{Bases: []uint64{0}}}} {
		good := o.Do == doPrepare && o.Prepare != nil && o.Prepare.Keys.Kind == ""
		if err := out.Encode(o); err != nil {
			t.Fatal(err)
		}
		var r report
		for r.To == "" {
			if err := in.Decode(&r); err != nil {
				t.Fatal(err)
			}
		}
		if r.To != o.Do || (r.Err == "") != good {
			t.Errorf("%q: %+v", o.Do, r)
		}
	}
	here.Close()
	if err := <-served; err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
