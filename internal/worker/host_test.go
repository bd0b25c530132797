package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// closing is a driver that counts how often it is closed.
type closing struct {
	memory
	closed int
}

var errKept = errors.New("a connection could not be given back")

func (c *closing) Close() error { c.closed++; return errKept }

// ordering talks to a host of consumers as a worker does.
type ordering struct {
	t    *testing.T
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
	over chan error
}

func host1(t *testing.T, d driver.Driver) *ordering {
	t.Helper()
	here, there := net.Pipe()
	o := &ordering{t, here, json.NewDecoder(here), json.NewEncoder(here), make(chan error, 1)}
	go func() {
		o.over <- ServeConsumers(there, func(context.Context) (driver.Driver, error) { return d, nil })
		there.Close()
	}()
	return o
}

func (o *ordering) tell(this order) report {
	o.t.Helper()
	if err := o.out.Encode(this); err != nil {
		o.t.Fatal(err)
	}
	var r report
	for r.To == "" {
		r = report{}
		if err := o.in.Decode(&r); err != nil {
			o.t.Fatal(err)
		}
	}
	return r
}

// prepare orders consumers of two producers, and a trial.
func (o *ordering) prepare() {
	o.t.Helper()
	listened := &trialStart{Bases: []uint64{1, 1}, Procs: 1, Phase: phaseTimes{measure.Undecided, measure.Undecided}}
	for _, this := range []order{
		{Do: doPrepare, Prepare: &preparation{Producers: 2, Subscriptions: 1}}, {Do: doStart, Within: time.Minute}, {Do: doListen, Trial: listened},
	} {
		if r := o.tell(this); r.Err != "" || r.Refused != nil {
			o.t.Fatalf("%s: %+v", this.Do, r)
		}
	}
}

func TestAHostOfConsumersClosesItsDriverAndGivesItsThreadsBack(t *testing.T) {
	const procs = 4
	before := runtime.GOMAXPROCS(procs)
	defer runtime.GOMAXPROCS(before)
	for name, end := range map[string]func(o *ordering){
		"told to": func(o *ordering) {
			if r := o.tell(order{Do: doEnd}); r.Stats == nil || runtime.GOMAXPROCS(0) != procs {
				o.t.Errorf("%+v; %d threads after the trial", r, runtime.GOMAXPROCS(0))
			}
			if r := o.tell(order{Do: doClose}); !strings.Contains(r.Err, errKept.Error()) {
				o.t.Errorf("closed with %+v", r)
			}
		},
		"in the middle of a trial": func(o *ordering) { _ = o.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			d := &closing{}
			o := host1(t, d)
			o.prepare()
			if n := runtime.GOMAXPROCS(0); n > 2 { // its one, and soon that of the watch, which sleeps
				t.Errorf("%d threads in a trial that may use one", n)
			}
			end(o)
			err := <-o.over
			if told := name == "told to"; told && err != nil || !told && !errors.Is(err, errKept) { // a worker that is told needn't hear it twice
				t.Errorf("the host ended with %v", err)
			}
			if d.closed != 1 || runtime.GOMAXPROCS(0) != procs {
				t.Errorf("closed %d times, %d threads", d.closed, runtime.GOMAXPROCS(0))
			}
		})
	}
}

// answering is a host that answers every order after a while, and keeps the orders.
func answering(t *testing.T, after time.Duration, told *[]order) *apartConsumers {
	t.Helper()
	return answeringWith(t, report{Registered: &registration{}}, after, told)
}

// answeringWith is answering with the same answer to every order.
func answeringWith(t *testing.T, answer report, after time.Duration, told *[]order) *apartConsumers {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in, out := json.NewDecoder(there), json.NewEncoder(there)
		for {
			var o order
			if in.Decode(&o) != nil {
				return
			}
			*told = append(*told, o)
			time.Sleep(after)
			answer.To = o.Do
			if out.Encode(answer) != nil {
				return
			}
		}
	}()
	w := &Worker{failure: newFailure(), probes: NewProbes(0, 0), bodies: &bodies{largest: 100}, plan: Plan{Connect: 3 * time.Second}}
	a := newApartConsumers(here, w)
	t.Cleanup(func() {
		_ = a.close()
		_ = there.Close()
		<-done
	})
	return a
}

func TestConsumersApartAreToldOfThePhaseBeforeItBegins(t *testing.T) {
	tr := &trial{load: Load{Duration: time.Second}}
	for name, c := range map[string]struct {
		answer time.Duration
		later  time.Duration // than now, asked for
		late   bool
	}{
		"at once":    {0, 0, false},
		"in time":    {0, time.Hour, false},
		"too slowly": {announceLead + announceLead/2, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var told []order
			a := answering(t, c.answer, &told)
			asked := clock.Now() + int64(c.later)
			from := a.announce(tr, asked)
			if least := asked + int64(announceLead); c.later == 0 && (from < least || from > least+int64(10*time.Second)) || c.later > 0 && from != asked {
				t.Errorf("asked for %d, it begins %v later", asked, time.Duration(from-asked))
			}
			if p := told[0].Phase; told[0].Do != doMeasure || p == nil || p.From != from || p.Until != from+int64(time.Second) {
				t.Errorf("told %+v", told[0])
			}
			if err := a.worker.failure.get(); errors.Is(err, ErrLate) != c.late {
				t.Errorf("broken by %v", err)
			}
		})
	}
}

func TestConsumersApartConnectWithinWhatIsLeft(t *testing.T) {
	var told []order
	a := answering(t, 0, &told)
	if err := a.prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.start(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	if _, err := a.start(ctx, true); err != nil {
		t.Fatal(err)
	}
	if len(told) != 3 || told[0].Do != doPrepare || told[1].Within != 3*time.Second {
		t.Errorf("told %+v; want to prepare once, and to start within 3 s", told)
	}
	if in := told[2].Within; in > 100*time.Second || in < 60*time.Second {
		t.Errorf("told to start within %v of 100 s", in)
	}
}

func TestTrialsOneAfterTheOtherHaveBooksOfTheirOwn(t *testing.T) {
	for where, made := range map[string]func(t *testing.T, d driver.Driver) *Worker{
		"local":  func(t *testing.T, d driver.Driver) *Worker { return ready(t, d, simple(2, 2)) },
		"remote": func(t *testing.T, d driver.Driver) *Worker { w, _ := split(t, d, simple(2, 2)); return w },
	} {
		t.Run(where, func(t *testing.T) {
			bad := true
			d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
				p.deliver(batch)
				if bad && !probing(batch) {
					time.Sleep(100 * time.Millisecond)
					p.done(batch, errKept)
					return errKept
				}
				p.done(batch, nil)
				return nil
			}}
			w := made(t, d)
			first := w.Run(t.Context(), Load{Messages: 10, Drain: 20 * time.Second})
			bad = false
			second := w.Run(t.Context(), Load{Messages: 10, Drain: 20 * time.Second})
			none := w.Run(t.Context(), Load{Schedule: constant(t, 1), Start: clock.Now() + int64(time.Hour), Duration: time.Nanosecond, Drain: time.Millisecond, Warmup: Warmup{For: -time.Hour}})
			if first.Measured.Failed != 10 || !errors.Is(first.SendErr, errKept) || first.LastAcked != 0 || first.Sending < 100*time.Millisecond {
				t.Errorf("first: %+v, %v, acknowledged at %d, %v in Send", first.Measured, first.SendErr, first.LastAcked, first.Sending)
			}
			m := second.Measured
			if m.Sent != 10 || m.Acked != 10 || m.Received != 20 || m.Stale+m.Duplicated+m.Corrupted+m.Lost != 0 || second.SendErr != nil {
				t.Errorf("second: %+v, %v", m, second.SendErr)
			}
			if second.FirstSent < second.Start || second.LastSent < second.FirstSent || second.LastAcked < second.FirstSent || second.LastReceived < second.FirstSent || first.LastSent >= second.Start {
				t.Errorf("second: from %d on, first sent %d, last %d, acknowledged %d, received %d", second.Start, second.FirstSent, second.LastSent, second.LastAcked, second.LastReceived)
			}
			if none.FirstSent != 0 || none.LastSent != 0 || none.LastAcked != 0 || none.LastReceived != 0 || none.Sending != 0 || none.Measured.Sent != 0 {
				t.Errorf("third, which sends nothing: %+v", none)
			}
		})
	}
}

// unclosable is a driver whose producers can't be closed.
type unclosable struct{ script }

type stuck struct{ driver.Producer }

func (stuck) Close() error { return errKept }

func (d *unclosable) Producer(ctx context.Context, c driver.ProducerConfig, r driver.Receipts) (driver.Producer, error) {
	p, err := d.script.Producer(ctx, c, r)
	return stuck{p}, err
}

func TestEveryProducerThatCannotBeClosedIsNamed(t *testing.T) {
	w, err := Prepare(t.Context(), &unclosable{}, simple(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	err = w.Close()
	for _, want := range []string{"close producer 0: a connection", "close producer 1: a connection"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestASpanIsFromTheFirstToTheLastMessageOfAllConsumers(t *testing.T) {
	s := newLocalConsumers(nil, consumerSetup{Consumers: make([]driver.ConsumerConfig, 3)}, NewProbes(1, 1), newFailure())
	if sp := s.span(); sp.First != 0 || sp.Last != 0 || sp.At == 0 {
		t.Errorf("nothing came: %+v", sp)
	}
	for i, c := range [][2]int64{{50, 60}, {0, 0}, {40, 55}} {
		s.list[i].first.Store(c[0])
		s.list[i].last.Store(c[1])
	}
	if sp := s.span(); sp.First != 40 || sp.Last != 60 {
		t.Errorf("%+v, want 40 to 60", sp)
	}
	s.recordIn(&recording{books: measure.NewTrial(measure.Shape{Producers: 1, Consumers: 3, Subscriptions: 1})})
	for _, c := range s.list {
		if c.first.Load() != 0 || c.last.Load() != 0 {
			t.Errorf("another trial of a consumer whose first message came at %d and the last at %d", c.first.Load(), c.last.Load())
		}
	}
}

func TestAHostThatIsGoneIsNoErrorOfItsOwn(t *testing.T) {
	o := host1(t, &memory{})
	if _, err := io.WriteString(o.conn, "{}x"); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, o.conn) }()
	if err := <-o.over; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("what is no order ended the host with %v", err)
	}
}

func TestAnAnswerWithoutItsFieldIsAnErrorAndNoZero(t *testing.T) {
	var told []order
	c := answeringWith(t, report{}, 0, &told)
	if _, err := c.start(t.Context(), false); !errors.Is(err, ErrConsumerProcess) || !strings.Contains(err.Error(), "did not say when its consumers had registered") {
		t.Errorf("start: %v", err)
	}
	if _, err := c.end(&trial{recording: &recording{books: measure.NewTrial(measure.Shape{})}}); !errors.Is(err, ErrConsumerProcess) || !strings.Contains(err.Error(), "did not say when") {
		t.Errorf("end: %v", err)
	}
}
