package worker

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/schedule"
	"github.com/brokermark/brokermark/internal/testkit"
)

func threadsNow(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		testkit.Lacks(t, "%v", err)
	}
	return len(tasks)
}

func TestAThousandProducersSleepOnOneThread(t *testing.T) {
	const producers, rate = 1000, 20_000
	d := &script{}
	var most atomic.Int64
	var sends atomic.Int64
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if sends.Add(1)%2000 == 0 {
			most.Store(max(most.Load(), int64(threadsNow(t))))
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}
	w := ready(t, d, wide(producers))
	before := threadsNow(t)
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, rate), Warmup: Warmup{For: 200 * time.Millisecond}, Duration: time.Second, Drain: 5 * time.Second,
	})
	if out.Err != nil || out.Measured.Sent != rate || out.Measured.Received != rate || out.Measured.Lost != 0 {
		t.Errorf("%v, %+v", out.Err, out.Measured)
	}
	if more := int(most.Load()) - before; more > 2*runtime.NumCPU()+maxThreads {
		t.Errorf("%d more threads while %d producers send", more, producers)
	}
	lag := out.Histograms.GeneratorLag
	t.Logf("own lag %v at the median, %v at p99", time.Duration(lag.Quantile(0.5)), time.Duration(lag.Quantile(0.99)))
	if p50 := time.Duration(lag.Quantile(0.5)); p50 > testkit.Within(10*time.Millisecond) && out.Pauses.Late.Max() < int64(10*time.Millisecond) {
		t.Errorf("the median message was %v late by the generator, though nothing held it up", p50)
	}
}

func TestABlockedProducerHoldsUpNobodyElse(t *testing.T) {
	const producers, blocked, rate = 200, 7, 2000
	d := &script{}
	release := make(chan struct{})
	var others atomic.Int64 // messages that others sent while one was blocked
	var holding atomic.Bool
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if p.config.ID == blocked && !probing(batch) {
			holding.Store(true)
			<-release
		} else if holding.Load() {
			others.Add(int64(len(batch)))
		}
		p.deliver(batch)
		p.done(batch, nil)
		return nil
	}
	w := ready(t, d, wide(producers))
	time.AfterFunc(time.Second, func() { close(release) })
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, rate), Duration: time.Second, Drain: 5 * time.Second,
	})
	if out.Err != nil || out.Measured.Sent != rate || out.Measured.Lost != 0 {
		t.Errorf("%v, %+v", out.Err, out.Measured)
	}
	// The blocked one's first message was due within a tenth of a second.
	if got := others.Load(); got < rate*8/10 {
		t.Errorf("the others sent %d messages while one producer was blocked, %d were due", got, rate)
	}
}

func TestProducersThatShareAClientSendAsIfEachHadItsOwn(t *testing.T) {
	const producers, rate = 50, 5000
	s := constant(t, rate)
	for _, clients := range []int{1, 3, 10, 49, 50} {
		intended := make([][]int64, producers) // each written by the one client that has the producer
		topics := make([][]int, producers)
		d := &script{}
		d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			for _, m := range batch {
				if h := headerOf(m); h.ID.Seq()&probeBit == 0 {
					k := h.ID.Producer()
					if uint64(len(intended[k])) != h.ID.Seq() {
						t.Errorf("%d clients: message %d of producer %d came after %d others", clients, h.ID.Seq(), k, len(intended[k]))
					}
					intended[k], topics[k] = append(intended[k], h.Intended), append(topics[k], m.Topic)
				}
			}
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		plan := wide(producers)
		plan.Clients = clients
		w := ready(t, d, plan)
		if len(w.clients) != clients {
			t.Fatalf("%d clients were made, want %d", len(w.clients), clients)
		}
		out := w.Run(t.Context(), Load{Schedule: s, Duration: 200 * time.Millisecond, Drain: 5 * time.Second, Streams: true})
		if m := out.Measured; out.Err != nil || m.Sent != rate/5 || m.Received != m.Sent || m.Acked != m.Sent || m.Reordered+m.Lost != 0 || !m.Balanced() {
			t.Errorf("%d clients: %v, %+v", clients, out.Err, m)
		}
		for k := range producers {
			for i, at := range intended[k] {
				if want := out.Start + s.At(int64(k+i*producers)); at != want || topics[k][i] != k {
					t.Fatalf("%d clients: message %d of producer %d was due at %d for topic %d, want %d, %d", clients, i, k, at, topics[k][i], want, k)
				}
			}
			if got := out.Streams[k].Books.Sent; got != int64(len(intended[k])) {
				t.Errorf("%d clients: the books have %d messages of producer %d, it sent %d", clients, got, k, len(intended[k]))
			}
		}
	}
}

func TestACountIsDealtToSharedClientsExactly(t *testing.T) {
	const producers, messages = 7, 1003
	for _, clients := range []int{1, 2, 3, 7} {
		plan := wide(producers)
		plan.Clients = clients
		w := ready(t, &script{}, plan)
		poisson, err := schedule.Poisson(20_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, load := range []Load{{}, {Schedule: constant(t, 20_000)}, {Schedule: poisson}} {
			load.Messages, load.Drain, load.Streams = messages, 10*time.Second, true
			out := w.Run(t.Context(), load)
			if out.Err != nil || out.Measured.Sent != messages || out.Measured.Received != messages {
				t.Errorf("%d clients: %v, %+v", clients, out.Err, out.Measured)
			}
			for k, s := range out.Streams {
				if n := s.Books.Sent; i == 1 && n != messages/producers && n != messages/producers+1 {
					t.Errorf("%d clients: producer %d sent %d of %d messages", clients, k, n, messages)
				}
			}
		}
	}
}

func TestPoissonArrivalsBelongToAnyProducerOfASharedClient(t *testing.T) {
	const producers, messages = 5, 2000
	poisson, err := schedule.Poisson(50_000, 1)
	if err != nil {
		t.Fatal(err)
	}
	plan := wide(producers)
	plan.Clients = 1
	out := ready(t, &script{}, plan).Run(t.Context(), Load{Schedule: poisson, Messages: messages, Drain: 10 * time.Second, Streams: true})
	if out.Err != nil || out.Measured.Sent != messages || out.Measured.Reordered+out.Measured.Lost != 0 {
		t.Fatalf("%v, %+v", out.Err, out.Measured)
	}
	square := 0.0
	for _, s := range out.Streams {
		square += float64((s.Books.Sent-messages/producers)*(s.Books.Sent-messages/producers)) / (messages / producers)
	}
	if square == 0 || square > 18.5 { // dealt in turn; or less likely than 1 in 1,000 (chi-square, 4 degrees of freedom)
		t.Errorf("the producers sent %v messages' worth of chi-square: %+v", square, out.Streams)
	}
}

func TestWhatASharedClientLeavesOpenIsBookedUnderItsProducers(t *testing.T) {
	const producers = 4
	d := &script{}
	var kept atomic.Pointer[scriptProducer]
	var open []driver.Message
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.deliver(batch)
		if probing(batch) {
			p.done(batch, nil)
			return nil
		}
		kept.Store(p)
		open = append(open, batch...)
		return nil
	}
	plan := wide(producers)
	plan.Clients = 1
	w := ready(t, d, plan)
	out := w.Run(t.Context(), Load{Schedule: constant(t, 100), Duration: 200 * time.Millisecond, Drain: 100 * time.Millisecond, Streams: true})
	if m := out.Measured; m.Sent != 20 || m.Unresolved != 20 || m.LostAcked != 0 {
		t.Errorf("%+v", m)
	}
	for _, s := range out.Streams {
		if s.Books.Sent != 5 || s.Books.Acked != 0 {
			t.Errorf("producer %d: %+v", s.Producer, s.Books)
		}
	}
	kept.Load().done(open, nil) // the slots come back for Close
}
