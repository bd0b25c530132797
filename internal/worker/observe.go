package worker

import (
	"math"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
)

// SampleEvery is the time between two samples. A backlog rises and falls with the batches of client and broker. Its floor,
// which shows whether it grows, is seen only if there are several samples for each batch.
const SampleEvery = 20 * time.Millisecond

// maxKept bounds the samples that are kept, of 150 bytes each: all samples of 20 minutes, every second one of 40 minutes, and so
// on.
const maxKept = 60_000

// depth says how much is done with a sample; each includes what those above it do.
type depth int

const (
	countersOnly  depth = iota // read the counters and keep the sample
	observed                   // pass it on to Load.Observe, and ask Load.Hopeless
	withLatencies              // read the latencies first, and see whether the warm-up has settled
)

// Reading the latencies costs more than reading the counters, so most samples do without. latenciesEverySample is a multiple of
// observedEvery.
const (
	observedEvery        = 5  // samples: ten times a second
	latenciesEverySample = 25 // samples: twice a second
)

// depthOf returns the depth of sample n.
func depthOf(n int) depth {
	switch {
	case n%latenciesEverySample == 0:
		return withLatencies
	case n%observedEvery == 0:
		return observed
	}
	return countersOnly
}

// observer samples a running trial and, with an automatic warm-up, decides when it has settled.
type observer struct {
	trial     *trial
	samples   Thinned[Sample]
	delivered silence       // of deliveries
	confirmed silence       // of confirmations
	histogram hist.Snapshot // the latencies so far, when they were last read
	quantiles Quantiles     // of the latencies between the last two readings
	fromSend  Totals
	backlog   int64 // the largest since the measured phase began
	settling  *Settling
	agenda    agenda // what is due by the schedule; its main is nil if messages have no times
	hopeless  bool   // Load.Hopeless has ended the measured phase
}

func newObserver(t *trial, p *Plan) *observer {
	o := &observer{trial: t, samples: Thinned[Sample]{Limit: maxKept}, settling: NewSettling(t.load.Warmup)}
	if t.load.Messages == 0 {
		o.agenda = t.course().agenda(p)
	}
	return o
}

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
	now := clock.Now()
	if d >= withLatencies {
		o.readLatency()
	}
	s := o.sample(now)
	o.keep(s, t.measure.MeasuredSince(), t.measuredUntil.Load())
	if t.load.Warmup.Auto && t.measure.MeasuredSince() == measure.Undecided {
		if from := o.measureFrom(s, d); from != 0 {
			t.beginMeasuring(from)
		}
	}
	if d < observed {
		return
	}
	if s.Sending && s.Phase == measure.Measured && !o.hopeless && t.load.Hopeless != nil && t.load.Hopeless(o.samples.Values()) {
		o.hopeless = true
		t.measuredUntil.Store(min(now, t.measuredUntil.Load()))
	}
	if t.load.Observe != nil {
		if d >= withLatencies { // not in the samples that are kept: over hours, histograms would fill the memory
			s.Latency = &Latency{o.histogram, t.measure.Service()}
		}
		t.load.Observe(s)
	}
}

// measureFrom returns when the measured phase begins, ns on the clock's axis; 0 if that is still open. With Warmup.Coordinated somebody
// else decides; otherwise it begins when the warm-up has settled, which only a sample with latencies can show.
func (o *observer) measureFrom(s Sample, d depth) int64 {
	t := o.trial
	if t.load.Warmup.Coordinated {
		from := t.load.MeasureFrom()
		if from != 0 && from < s.At+int64(announced) {
			t.learnedLate.Store(true)
			t.halt()
		}
		return from
	}
	if d >= withLatencies && o.settling.Settled(time.Duration(s.At-t.startedAt), s) {
		return s.At + int64(announced)
	}
	return 0
}

// announced is how long before its beginning the measured phase is decided: by then producers and consumers must know of it.
const announced = 10 * time.Millisecond

// readLatency reads the quantiles of the latencies that came since it was last called.
func (o *observer) readLatency() {
	h := o.trial.measure.EndToEnd()
	since := h.Sub(o.histogram)
	o.quantiles = quantilesOf(since)
	o.histogram = h
	o.fromSend.Count, o.fromSend.Sum = o.trial.measure.FromSend()
}

// sample reads the counters. The trial goes on meanwhile, so a count may be a moment older than the next.
func (o *observer) sample(now int64) Sample {
	t := o.trial
	c := t.measure.Count()
	s := Sample{At: now, Count: c, EndToEnd: o.quantiles, FromSend: o.fromSend, Sending: !t.sendingDone.Load()}
	s.Due = c.Sent
	if o.agenda.main != nil {
		s.Due = o.agenda.due(t.measure.MeasuredSince(), t.startedAt, min(now, t.measuredUntil.Load()))
	}
	s.Unconfirmed = max(0, s.Due-c.Failed-c.Acked)
	s.Undelivered = (s.Due-c.Failed)*int64(t.measure.Subscriptions()) - c.Received
	if t.load.CountAll == nil { // else less than none is what others have sent, and only their sum means something
		s.Undelivered = max(0, s.Undelivered)
	}
	s.Backlog = max(s.Unconfirmed, s.Undelivered)
	if now >= t.measure.MeasuredSince() {
		s.Phase = measure.Measured
		o.backlog = max(o.backlog, s.Backlog)
	}
	return s
}

// keep keeps a sample and looks for silences. The measured phase is [from, until).
func (o *observer) keep(s Sample, from, until int64) {
	o.samples.Add(s)
	o.delivered.look(from, until, s.At, s.Count.Received, s.Undelivered)
	o.confirmed.look(from, until, s.At, s.Count.Acked, s.Unconfirmed)
}

// Settling decides when a warm-up has settled: when rate and median latency were steady over the last three half seconds.
type Settling struct {
	shortest, longest time.Duration       // bounds of the warm-up
	rates             [steadySpan]float64 // confirmed per second in each of the last half seconds; a ring
	medians           [steadySpan]float64 // latency in ns, likewise
	n                 int                 // how many samples were looked at
	last              Sample
}

const (
	steadySpan  = 3    // half seconds
	steadyShare = 0.1  // how far each value may be off the mean of all
	medianSlack = 50e3 // ns: by so much a short latency varies anyway
)

// NewSettling returns what decides about an automatic warm-up.
func NewSettling(w Warmup) *Settling { return &Settling{shortest: w.For, longest: w.Max} }

// Settled reports whether a warm-up that has lasted for since may end. Call it about every half second.
func (w *Settling) Settled(since time.Duration, s Sample) bool {
	if w.n > 0 {
		seconds := float64(s.At-w.last.At) / 1e9
		w.rates[w.n%steadySpan] = float64(s.Count.Acked-w.last.Count.Acked) / seconds
		w.medians[w.n%steadySpan] = float64(s.EndToEnd.P50)
	}
	w.n++
	w.last = s
	if since >= w.longest {
		return true
	}
	return since >= w.shortest && w.n > steadySpan && steady(w.rates, 0) && steady(w.medians, medianSlack)
}

// steady reports whether each value is off the mean of all by at most steadyShare of it, or by at most slack. If all are 0,
// nothing has come, and that is not steady.
func steady(values [steadySpan]float64, slack float64) bool {
	var mean float64
	for _, v := range values {
		mean += v
	}
	mean /= steadySpan
	for _, v := range values {
		if off := math.Abs(v - mean); off > steadyShare*mean && off > slack {
			return false
		}
	}
	return mean > 0
}
