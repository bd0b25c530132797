package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// Reading describes how consumers read messages of other programs. It ends after For, after Messages messages, or when nothing
// has come for Quiet. Nothing is known of these messages but their number and sizes.
type Reading struct {
	Consumers []driver.ConsumerConfig
	Connect   time.Duration // bounds connecting
	Warmup    time.Duration // after which the measured phase begins; 0: it begins when the first consumer is registered with the broker
	For       time.Duration // the most that the measured phase may take
	Messages  int64         // over all consumers; 0: any number
	Quiet     time.Duration // 0: silence doesn't end it
	Hooks     Hooks         // only Measuring, Sent (called at the end) and Observe
}

// Readings are the results of the measured phase. Times are ns on the clock's axis.
type Readings struct {
	Outcome // sets From, Until, LastReceived, Ended, Samples, Busiest, Procs; Measured.Acked is Messages, by which costs are divided
	// Messages and Bytes were received from From to Until.
	Messages, Bytes int64
	All             bool // Reading.Messages were read
}

// reader counts what one consumer receives.
type reader struct {
	messages, bytes atomic.Int64
	last            atomic.Int64 // when the last message came
	_               [40]byte     // a cache line of its own
}

// Deliver implements driver.Sink.
func (r *reader) Deliver(batch []driver.Received) {
	var bytes int64
	for _, m := range batch {
		bytes += int64(len(m.Payload))
	}
	r.bytes.Add(bytes)
	r.messages.Add(int64(len(batch)))
	r.last.Store(clock.Now())
}

// reading is a Reading under way.
type reading struct {
	Reading
	readers []reader
	began   atomic.Int64 // when the first consumer was registered
	phase   atomic.Pointer[phaseTimes]
	failure *failure
	samples Thinned[Sample]
	first   Sample // the last of the warm-up; the zero Sample if there is none
	latest  Sample
}

// Read reads messages. It blocks until the reading has ended and the consumers are disconnected. The caller has set up d, and closes it.
func Read(ctx context.Context, d driver.Driver, p Reading) Readings {
	r := &reading{Reading: p, readers: make([]reader, len(p.Consumers)), failure: newFailure(), samples: NewThinned[Sample](maxKept)}
	r.phase.Store(&phaseTimes{From: measure.Undecided, Until: measure.Undecided})
	effort := newEffort(0, func() phaseTimes { return *r.phase.Load() })
	life, end := context.WithCancel(context.Background())
	var consuming sync.WaitGroup
	err := r.start(ctx, life, d, &consuming)
	if err == nil {
		err = r.read(ctx)
	}
	out := r.result(err)
	end()
	consuming.Wait()
	out.Busiest = effort.end()
	return out
}

// start connects the consumers and blocks until all are registered.
func (r *reading) start(ctx, life context.Context, d driver.Driver, consuming *sync.WaitGroup) error {
	ctx, cancel := context.WithTimeout(ctx, r.Connect)
	defer cancel()
	registered := make(chan registration, len(r.Consumers))
	ready := func() {
		r.began.CompareAndSwap(0, clock.Now())
		registered <- registration{}
	}
	for i, c := range r.Consumers {
		consuming.Go(func() { runConsumer(life, d, i, c, &r.readers[i], ready, r.failure) })
	}
	_, err := awaitLast(ctx, len(r.Consumers), registered, r.failure)
	return err
}

// read waits for the end of the warm-up and of the measured phase, and samples meanwhile.
func (r *reading) read(ctx context.Context) error {
	from := r.began.Load()
	if r.Warmup > 0 {
		from = clock.Now() + int64(r.Warmup)
	}
	until := from + int64(r.For)
	r.phase.Store(&phaseTimes{From: from, Until: until})
	if r.Hooks.Measuring != nil {
		r.Hooks.Measuring(from)
	}
	tick := time.NewTicker(SampleEvery)
	defer tick.Stop()
	for n, quiet := 1, false; !quiet; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.failure.happened:
			return r.failure.err
		case <-tick.C:
		}
		s := r.sample(from)
		if s.At < from {
			r.first = s
		}
		r.latest = s
		r.samples.Add(s)
		if n%observedEvery == 0 && r.Hooks.Observe != nil {
			r.Hooks.Observe(s)
		}
		quiet = s.At >= until || r.Messages > 0 && s.Count.Received >= r.Messages ||
			r.Quiet > 0 && s.At-max(from, r.lastReceived()) > int64(r.Quiet)
	}
	if r.Hooks.Sent != nil {
		r.Hooks.Sent()
	}
	return nil
}

func (r *reading) sample(from int64) Sample {
	s := Sample{At: clock.Now(), Sending: true}
	if s.At >= from {
		s.Phase = measure.Measured
	}
	for i := range r.readers {
		s.Count.Received += r.readers[i].messages.Load()
		s.Count.Bytes += r.readers[i].bytes.Load()
	}
	return s
}

func (r *reading) lastReceived() (last int64) {
	for i := range r.readers {
		last = max(last, r.readers[i].last.Load())
	}
	return last
}

// result covers the time from the beginning of the measured phase to the last sample or, if it ended early, to the last message.
func (r *reading) result(err error) Readings {
	out := Readings{Outcome: Outcome{Err: err, Samples: r.samples.Values(), Procs: clock.SetThreads(0)}}
	if len(out.Samples) == 0 {
		return out
	}
	phase, last := *r.phase.Load(), r.latest
	out.Start, out.From, out.Until, out.LastReceived = r.began.Load(), max(r.first.At, r.began.Load()), last.At, r.lastReceived()
	if out.Ended = out.Until; out.Until < phase.Until && out.LastReceived > 0 {
		out.Until = min(out.Until, out.LastReceived)
	}
	out.Messages, out.Bytes = last.Count.Received-r.first.Count.Received, last.Count.Bytes-r.first.Count.Bytes
	out.All = r.Messages > 0 && last.Count.Received >= r.Messages
	out.Measured.Acked, out.Measured.Sent, out.Measured.Bytes = out.Messages, out.Messages, out.Bytes
	return out
}
