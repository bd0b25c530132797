package worker

import (
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
)

// SampleEvery is the distance of samples. A backlog breathes with the batches of client and broker; its floor, which
// tells whether it grows, shows only when it is looked at several times per breath.
const SampleEvery = 20 * time.Millisecond

// maxKept bounds the samples that are kept, 150 bytes each: all of 20 minutes, every second one of 40, and so on.
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
	delivered silence
	confirmed silence
	histogram hist.Snapshot
	quantiles Quantiles
	fromSend  Totals
	backlog   int64 // the largest since the measured phase began
	settling  settling
	agenda    agenda // without a schedule: closed loop
	hopeless  bool   // Load.Hopeless has said so
}

func newObserver(t *trial, p *Plan) *observer {
	o := &observer{trial: t, samples: Thinned[Sample]{Limit: maxKept}, settling: settling{shortest: t.load.Warmup.For, longest: t.load.Warmup.Max}}
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

// look takes a sample, keeps it, and acts on it: it ends an automatic warm-up that has settled, gives up a hopeless load, and
// where tell is set passes the sample on.
func (o *observer) look(latency, tell bool) {
	t := o.trial
	now := clock.Now()
	if latency {
		o.readLatency()
	}
	s := o.sample(now)
	o.keep(s, t.measure.MeasuredSince(), t.until.Load())
	if latency && t.load.Warmup.Auto && t.measure.MeasuredSince() == measure.Undecided &&
		o.settling.settled(time.Duration(now-t.start), s) {
		t.decide(now + int64(10*time.Millisecond))
	}
	if !tell {
		return
	}
	if s.Sending && s.Phase == measure.Measured && !o.hopeless && t.load.Hopeless != nil && t.load.Hopeless(o.samples.Values()) {
		o.hopeless = true
		t.until.Store(min(now, t.until.Load()))
	}
	if t.load.Observe != nil {
		if latency { // not in the samples that are kept: in hours they would add up
			s.Latency = &Latency{o.histogram, t.measure.Service()}
		}
		t.load.Observe(s)
	}
}

// readLatency reads the quantiles of the latencies that came since it did so last.
func (o *observer) readLatency() {
	h := o.trial.measure.EndToEnd()
	since := h.Sub(o.histogram)
	o.quantiles = Quantiles{since.Count(), since.Quantile(0.5), since.Quantile(0.99)}
	o.histogram = h
	o.fromSend.Count, o.fromSend.Sum = o.trial.measure.FromSend()
}

// sample reads the counters.
func (o *observer) sample(now int64) Sample {
	t := o.trial
	c := t.measure.Count()
	s := Sample{At: now, Count: c, EndToEnd: o.quantiles, FromSend: o.fromSend, Sending: !t.sent.Load()}
	s.Due = c.Sent
	if o.agenda.main != nil {
		s.Due = o.agenda.due(t.measure.MeasuredSince(), t.start, min(now, t.until.Load()))
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

func (o *observer) keep(s Sample, from, until int64) {
	o.samples.Add(s)
	o.delivered.look(from, until, s.At, s.Count.Received, s.Undelivered)
	o.confirmed.look(from, until, s.At, s.Count.Acked, s.Unconfirmed)
}

// settling decides when a warm-up has settled: in each of the last three half seconds the rate was within a tenth of the mean
// of the three, and so was the median latency, or within 50 µs, by which a small latency varies anyway.
type settling struct {
	shortest, longest time.Duration
	rates, medians    [3]float64
	n                 int
	last              Sample
}

func (w *settling) settled(since time.Duration, s Sample) bool {
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

// steady tells whether no value is further from their mean than share of it, or than slack.
func steady(v [3]float64, share, slack float64) bool {
	mean := (v[0] + v[1] + v[2]) / 3
	for _, x := range v {
		if d := max(x-mean, mean-x); d > share*mean && d > slack {
			return false
		}
	}
	return mean > 0
}
