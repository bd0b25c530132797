package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// ServeConsumers runs the consumers of a worker that was prepared with the other end of conn (PrepareApart), until it has
// them closed or conn ends. open connects to the broker, where the worker has made everything.
func ServeConsumers(conn io.ReadWriter, open func(context.Context) (driver.Driver, error)) error {
	h := &host{reports: json.NewEncoder(conn), open: open, broken: newBroken(), procs: runtime.GOMAXPROCS(0), over: make(chan struct{})}
	defer h.end()
	var reporting sync.WaitGroup
	reporting.Go(h.tell)
	defer reporting.Wait()
	defer close(h.over)
	for in := json.NewDecoder(conn); ; {
		var o order
		if err := in.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r := h.obey(o)
		if r.To = o.Do; h.send(r) != nil || o.Do == doClose {
			return nil
		}
	}
}

// host has the consumers of a worker elsewhere.
type host struct {
	open   func(context.Context) (driver.Driver, error)
	driver driver.Driver // once they are started
	broken *broken
	procs  int // threads that may run Go code at once outside a trial
	over   chan struct{}

	writing sync.Mutex // one report at a time, each of a trial that is under way
	reports *json.Encoder
	plan    *away
	keys    *keys
	side    *beside
	probed  *probed
	told    []bool // of probed
	trial   *hosted
}

// hosted is a trial of a worker elsewhere.
type hosted struct {
	measure *measure.Trial
	watch   *clock.Watch
	pauses  *pauses
	until   atomic.Int64
}

func (h *host) send(r report) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	return h.reports.Encode(r)
}

// tell reports what is new, again and again.
func (h *host) tell() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	broken := h.broken.is
	for n := 1; ; n++ {
		r := report{}
		select {
		case <-h.over:
			return
		case <-broken:
			r.Broken, broken = h.broken.err.Error(), nil
		case <-tick.C:
		}
		h.writing.Lock()
		if r = h.news(r, n%latenciesEvery == 0); r.Broken != "" || r.Receipts != nil || len(r.Probed) > 0 {
			_ = h.reports.Encode(r) // whoever reads it ends with the connection
		}
		h.writing.Unlock()
	}
}

// news adds to r what was counted, or between trials who was seen; writing is held.
func (h *host) news(r report, latencies bool) report {
	switch {
	case h.trial != nil:
		s := h.side.span()
		now := h.trial.measure.Receipts(latencies)
		r.Receipts, r.Span = &now, &s
	case h.probed != nil:
		for i := range h.probed.seen {
			if !h.told[i] && h.probed.seen[i].Load() {
				h.told[i] = true
				r.Probed = append(r.Probed, i)
			}
		}
	}
	return r
}

func (h *host) obey(o order) (r report) {
	var err error
	switch {
	case o.Do == doPrepare && o.Prepare != nil && h.side == nil:
		err = h.prepare(o.Prepare)
	case h.side == nil:
		err = fmt.Errorf("%q before anything was prepared", o.Do)
	case o.Do == doStart && h.driver == nil:
		r.Registered, err = h.start(o.Within)
	case o.Do == doListen && o.Trial != nil && h.trial == nil:
		h.listen(o.Trial)
	case o.Do == doMeasure && o.Phase != nil && h.trial != nil:
		h.trial.until.Store(o.Phase.Until)
		h.trial.measure.MeasureFrom(o.Phase.From)
	case o.Do == doCollect && h.trial != nil:
		r.Accounts = h.trial.measure.Accounts()
	case o.Do == doEnd && h.trial != nil:
		r = h.finish()
	case o.Do == doClose:
		err = h.end()
	default:
		err = fmt.Errorf("%q is not what comes next", o.Do)
	}
	if errors.As(err, &r.Refused) {
		return r
	}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

func (h *host) prepare(p *away) (err error) {
	if h.keys, err = newKeys(p.Keys); err != nil {
		return err
	}
	probed := newProbed(p.Producers, p.Subscriptions)
	h.writing.Lock()
	defer h.writing.Unlock()
	h.plan, h.probed, h.told = p, probed, make([]bool, len(probed.seen))
	h.side = newBeside(nil, p.Audience, probed, h.broken)
	return nil
}

func (h *host) start(within time.Duration) (*registered, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	d, err := h.open(ctx)
	if err != nil {
		return nil, err
	}
	h.driver, h.side.driver = d, d
	r, err := h.side.start(ctx)
	return &r, err
}

func (h *host) listen(o *trialAway) {
	shape := measure.Shape{Producers: h.plan.Producers, Consumers: len(h.plan.Audience.Consumers), Subscriptions: h.plan.Subscriptions, Apart: true}
	var keyOf measure.KeyOf
	if h.plan.KeyOrdered && h.keys != nil {
		shape.Keys, keyOf = h.keys.N, h.keys.of
	}
	t := &hosted{measure: measure.NewTrial(shape)}
	for i, seq := range o.Bases {
		if i < h.plan.Producers {
			t.measure.Base(i, seq)
		}
	}
	t.until.Store(o.Phase.Until)
	t.measure.MeasureFrom(o.Phase.From)
	if o.Procs > 0 {
		runtime.GOMAXPROCS(min(o.Procs, h.procs))
	}
	t.pauses = &pauses{from: t.measure.MeasuredSince, until: t.until.Load}
	t.watch = clock.NewWatch(t.pauses.woke)
	h.side.book(t.measure, keyOf)
	h.writing.Lock()
	h.trial = t
	h.writing.Unlock()
}

// finish ends the trial and says everything of it.
func (h *host) finish() report {
	heard, _ := h.side.end(nil)
	h.trial.watch.Close()
	heard.Pauses = h.trial.pauses.outcome()
	runtime.GOMAXPROCS(h.procs)
	h.writing.Lock()
	defer h.writing.Unlock()
	r := h.news(report{Heard: &heard, Accounts: h.trial.measure.Accounts()}, true)
	h.trial = nil
	return r
}

// end ends trial and consumers and closes the driver.
func (h *host) end() error {
	if h.trial != nil {
		h.finish()
	}
	if h.side == nil {
		return nil
	}
	err := h.side.close()
	if h.driver != nil {
		err = errors.Join(err, h.driver.Close())
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	h.side, h.driver, h.probed = nil, nil, nil
	return err
}
