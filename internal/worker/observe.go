package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
)

// SampleEvery is the time between two samples. A backlog rises and falls with the batches of client and broker. Whether it grows
// shows in its lowest values, and these are seen only if there are several samples for each batch.
const SampleEvery = 20 * time.Millisecond

// maxKept bounds the samples that are kept, of 150 bytes each: all samples of 20 minutes, every second one of 40 minutes, and so
// on.
const maxKept = 60_000

// observer watches a running trial. Every SampleEvery it reads the trial's counters into a Sample, which it keeps. From the
// samples it finds out how long nothing was delivered or confirmed, when an automatic warm-up is steady, and whether the load is
// hopeless. Reading holds no producer or consumer up: the counters are atomic.
type observer struct {
	worker     *Worker
	trial      *trial
	due        *dueCounter // nil if messages are not due at times
	samples    Thinned[Sample]
	delivered  silenceRecorder // times without a delivery
	confirmed  silenceRecorder // times without a confirmation
	backlogMax int64           // the largest backlog since the measured phase began
	steady     *SteadyState
	hopeless   bool // Load.Hopeless has ended the measured phase
	latencies  latencyReading
}

// latencyReading is the result of the last reading of the latencies. All samples have it until the next reading.
type latencyReading struct {
	endToEnd  hist.Snapshot // of the trial so far
	quantiles Quantiles     // of the messages received since the reading before
	fromSend  Totals        // of the trial so far
}

func newObserver(w *Worker, t *trial) *observer {
	return &observer{
		worker: w, trial: t, due: t.course().newDueCounter(&w.plan), samples: NewThinned[Sample](maxKept), steady: NewSteadyState(t.load.Warmup),
	}
}

// depth is how much is done with a sample. A larger depth includes the smaller ones.
type depth int

const (
	countersOnly  depth = iota // read the counters and keep the sample
	observed                   // also pass it to Load.Observe, and ask Load.Hopeless
	withLatencies              // also read the latencies first, and see whether the warm-up is steady
)

// Latencies are read less often than counters, because that takes longer. latenciesObservedEvery is a multiple of observedEvery.
const (
	observedEvery          = 5  // samples: ten times a second
	latenciesObservedEvery = 25 // samples: twice a second
)

// depthOf returns the depth of sample n.
func depthOf(n int) depth {
	switch {
	case n%latenciesObservedEvery == 0:
		return withLatencies
	case n%observedEvery == 0:
		return observed
	}
	return countersOnly
}

// run takes samples until ended is closed, and one more then.
func (o *observer) run(ended <-chan struct{}) {
	tick := time.NewTicker(SampleEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
			o.look(depthOf(n))
		case <-ended:
			o.look(withLatencies)
			return
		}
	}
}

// look takes a sample, keeps it, and acts on it.
func (o *observer) look(d depth) {
	t := o.trial
	if d >= withLatencies {
		o.readLatencies()
	}
	s := o.sample()
	o.keep(s, t.recording.measuredPhase())
	o.decidePhase(s, d)
	if d >= observed {
		o.endIfHopeless(s)
		o.pass(s, d)
	}
}

// pass passes a sample to Load.Observe, at full depth with the latencies. The observer keeps samples without them: over hours,
// the histograms would fill the memory.
func (o *observer) pass(s Sample, d depth) {
	if o.trial.load.Observe == nil {
		return
	}
	if d >= withLatencies {
		s.Latency = &Latency{EndToEnd: o.latencies.endToEnd, Service: o.trial.recording.books.Service()}
	}
	o.trial.load.Observe(s)
}

func (o *observer) readLatencies() {
	m := o.trial.recording.books
	before := o.latencies.endToEnd
	o.latencies.endToEnd = m.EndToEnd()
	o.latencies.quantiles = quantilesOf(o.latencies.endToEnd.Sub(before))
	o.worker.coalescing.follow(o.latencies.quantiles)
	o.latencies.fromSend.Count, o.latencies.fromSend.Sum = m.FromSend()
}

// sample reads the time and right after it the counters. The trial goes on meanwhile, so one count may be slightly older than the next.
func (o *observer) sample() Sample {
	t, now := o.trial, clock.Now()
	phase := t.recording.measuredPhase()
	s := Sample{
		At: now, Count: t.recording.books.Count(), Sending: !t.sendingDone.Load(),
		EndToEnd: o.latencies.quantiles, FromSend: o.latencies.fromSend,
	}
	s.Due = s.Count.Sent
	if o.due != nil { // by the schedule, sent or not
		s.Due = o.due.count(phase.From, t.startedAt, min(now, phase.Until))
	}
	s.Unconfirmed = max(0, s.Due-s.Count.Failed-s.Count.Acked)
	s.Undelivered = (s.Due-s.Count.Failed)*int64(t.recording.books.Subscriptions()) - s.Count.Received
	if t.load.CountAll == nil { // with CountAll, consumers here receive messages of other workers, and only the sum over all has a meaning
		s.Undelivered = max(0, s.Undelivered)
	}
	s.Backlog = max(s.Unconfirmed, s.Undelivered)
	if now >= phase.From {
		s.Phase = measure.Measured
	}
	return s
}

// keep stores a sample and updates silences and the largest backlog.
func (o *observer) keep(s Sample, phase phaseTimes) {
	o.samples.Add(s)
	o.delivered.add(phase, s.At, Deliveries(s))
	o.confirmed.add(phase, s.At, Confirmations(s))
	if s.Phase == measure.Measured {
		o.backlogMax = max(o.backlogMax, s.Backlog)
	}
}

// phaseLead is how long before its beginning the measured phase is decided: producers and consumers must know of it by then.
const phaseLead = 10 * time.Millisecond

// decidePhase begins the measured phase when an automatic warm-up is over. If other workers take part in the trial
// (Warmup.Coordinated), Load.MeasureFrom decides for all of them and returns when it begins; 0: not yet. A trial that learns of
// it too late is halted.
func (o *observer) decidePhase(s Sample, d depth) {
	t := o.trial
	if !t.load.Warmup.Auto || t.recording.books.MeasuredSince() != measure.Undecided {
		return
	}
	from := s.At + int64(phaseLead)
	if t.load.Warmup.Coordinated {
		decided := t.load.MeasureFrom()
		if decided == 0 {
			return
		}
		if decided < from {
			t.learnedLate.Store(true)
			t.halt()
		}
		from = decided
	} else if d < withLatencies || !o.steady.Reached(time.Duration(s.At-t.startedAt), s) {
		return
	}
	t.beginMeasuring(o.worker.consumers.announce(t, from))
}

// endIfHopeless ends the measured phase now if Load.Hopeless says that its verdict is certain.
func (o *observer) endIfHopeless(s Sample) {
	t := o.trial
	measuring := s.Phase == measure.Measured && s.Sending && !o.hopeless
	if measuring && t.load.Hopeless != nil && t.load.Hopeless(o.samples.Values()) {
		o.hopeless = true
		t.endMeasuring(s.At)
	}
}

// Thinned keeps an evenly spread part of a sequence of values that may go on for days, in constant memory. It keeps all values
// until they reach its limit. Then it drops every second one, and from then on keeps only every second new value, later every
// fourth, eighth and so on. It never averages values.
//
// NewThinned makes one. With a limit of 4, the values 1 to 4 are all kept; after value 5, 1, 3 and 5 are left; after value 9, 1,
// 5 and 9.
type Thinned[T any] struct {
	limit int
	kept  []T
	step  int // every step-th value is kept
	added int // values so far, kept or not
}

// NewThinned returns a Thinned that keeps at most limit values, which must be at least 1.
func NewThinned[T any](limit int) Thinned[T] { return Thinned[T]{limit: limit, step: 1} }

// Add takes the next value of the sequence.
func (t *Thinned[T]) Add(v T) {
	if t.added%t.step == 0 && len(t.kept) == t.limit {
		t.dropEverySecond()
	}
	if t.added%t.step == 0 { // step may have changed
		t.kept = append(t.kept, v)
	}
	t.added++
}

func (t *Thinned[T]) dropEverySecond() {
	half := (len(t.kept) + 1) / 2
	for i := range half {
		t.kept[i] = t.kept[2*i]
	}
	t.kept = t.kept[:half]
	t.step *= 2
}

// Values returns the values that were kept, in order. They are valid until the next Add.
func (t *Thinned[T]) Values() []T { return t.kept }
