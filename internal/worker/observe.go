package worker

import (
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

// Reading the latencies costs more than reading the counters, so not every sample does it.
const (
	quantilesEvery = 25 // samples: twice a second
	observeEvery   = 5  // samples from one that Load.Observe gets to the next
)

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
			o.look(n%quantilesEvery == 0, n%observeEvery == 0)
		case <-ended:
			o.look(true, true)
			return
		}
	}
}

// look takes a sample, keeps it, and acts on it. It ends an automatic warm-up that has settled. If tell is set, it asks whether
// the load is hopeless and passes the sample on. If latency is set, it reads the latencies first.
func (o *observer) look(latency, tell bool) {
	t := o.trial
	now := clock.Now()
	if latency {
		o.readLatency()
	}
	s := o.sample(now)
	o.keep(s, t.measure.MeasuredSince(), t.measuredUntil.Load())
	if t.load.Warmup.Auto && t.measure.MeasuredSince() == measure.Undecided {
		if from := o.measureFrom(s, latency); from != 0 {
			t.beginMeasuring(from)
		}
	}
	if !tell {
		return
	}
	if s.Sending && s.Phase == measure.Measured && !o.hopeless && t.load.Hopeless != nil && t.load.Hopeless(o.samples.Values()) {
		o.hopeless = true
		t.measuredUntil.Store(min(now, t.measuredUntil.Load()))
	}
	if t.load.Observe != nil {
		if latency { // not in the samples that are kept: in hours they would add up
			s.Latency = &Latency{o.histogram, t.measure.Service()}
		}
		t.load.Observe(s)
	}
}

// measureFrom is when a measured phase begins that isn't fixed yet; 0: that isn't known. ask says that the latencies of s
// are new.
func (o *observer) measureFrom(s Sample, ask bool) int64 {
	t := o.trial
	if t.load.Warmup.Told {
		from := t.load.MeasureFrom()
		if from != 0 && from < s.At+int64(announced) {
			t.learnedLate.Store(true)
			t.halt()
		}
		return from
	}
	if ask && o.settling.Settled(time.Duration(s.At-t.startedAt), s) {
		return s.At + int64(announced)
	}
	return 0
}

// announced is how long before its beginning a measured phase is fixed: producers and consumers have to know of it by then.
const announced = 10 * time.Millisecond

// readLatency reads the quantiles of the latencies that came since it was last called.
func (o *observer) readLatency() {
	h := o.trial.measure.EndToEnd()
	since := h.Sub(o.histogram)
	o.quantiles = Quantiles{since.Count(), since.Quantile(0.5), since.Quantile(0.99)}
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
	if t.load.Everywhere == nil { // else less than none is what others have sent, and only their sum means something
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

// Settling decides when a warm-up has settled: in each of the last three half seconds the rate was within a tenth of the mean
// of the three, and so was the median latency. A median may also be within 50 µs, by which a short latency varies anyway.
type Settling struct {
	shortest, longest time.Duration
	rates, medians    [3]float64 // of the last three half seconds, in turn
	n                 int        // how many samples were looked at
	last              Sample
}

// NewSettling decides about an automatic warm-up.
func NewSettling(w Warmup) *Settling { return &Settling{shortest: w.For, longest: w.Max} }

// Settled reports whether a warm-up that has lasted for since may end. Call it about every half second.
func (w *Settling) Settled(since time.Duration, s Sample) bool {
	if w.n > 0 {
		seconds := float64(s.At-w.last.At) / 1e9
		w.rates[w.n%3] = float64(s.Count.Acked-w.last.Count.Acked) / seconds
		w.medians[w.n%3] = float64(s.EndToEnd.P50)
	}
	w.n++
	w.last = s
	if since >= w.longest {
		return true
	}
	return since >= w.shortest && w.n > 3 && steady(w.rates, 0.1, 0) && steady(w.medians, 0.1, 50e3)
}

// steady reports whether each value is within share of their mean, or within slack of it. Values of 0 are not steady: nothing
// came.
func steady(v [3]float64, share, slack float64) bool {
	mean := (v[0] + v[1] + v[2]) / 3
	for _, x := range v {
		if d := max(x-mean, mean-x); d > share*mean && d > slack {
			return false
		}
	}
	return mean > 0
}
