package worker

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func threadsNow(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
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
	if more := int(most.Load()) - before; more > 2*runtime.NumCPU()+threads {
		t.Errorf("%d more threads while %d producers send", more, producers)
	}
	lag := out.Histograms.GeneratorLag
	t.Logf("own lag %v at the median, %v at p99", time.Duration(lag.Quantile(0.5)), time.Duration(lag.Quantile(0.99)))
	if p50 := time.Duration(lag.Quantile(0.5)); p50 > 10*time.Millisecond {
		t.Errorf("the median message was %v late by the generator", p50)
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
