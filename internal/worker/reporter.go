package worker

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
)

// reporter sends reports from the process of the consumers to their worker: answers to its orders, and news every reportEvery.
// One goroutine answers, another one runs the reporter.
type reporter struct {
	failure *failure // why a consumer ended by itself, if one did

	mu        sync.Mutex // held while a report is made and sent, so that no receipts of a trial follow the answer that ends it
	out       *json.Encoder
	probes    *Probes         // that the consumers have seen; nil before setProbes
	reported  []bool          // by index in probes.seen: the worker knows of it
	trial     *measure.Trial  // nil between trials
	consumers *localConsumers // of the trial
}

func (r *reporter) setProbes(p *Probes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes, r.reported = p, make([]bool, len(p.seen))
}

// beginTrial makes r report the receipts of a trial.
func (r *reporter) beginTrial(trial *measure.Trial, consumers *localConsumers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trial, r.consumers = trial, consumers
}

// endTrial ends what beginTrial began and returns a report with all receipts of the trial.
func (r *reporter) endTrial() report {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.news(true)
	r.trial, r.consumers = nil, nil
	return last
}

func (r *reporter) send(answer report) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Encode(answer)
}

// run sends a report every reportEvery if there is news, and at once when a consumer has ended by itself. It returns when over is
// closed or the connection has ended.
func (r *reporter) run(over <-chan struct{}) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	failed := r.failure.happened
	for n := 1; ; n++ {
		broken := ""
		select {
		case <-over:
			return
		case <-failed:
			broken = r.failure.err.Error()
			failed = nil // never ready again: a failure is reported once
		case <-tick.C:
		}
		if err := r.sendNews(broken, n%latenciesEvery == 0); err != nil {
			return // carryOutAll finds as well that the connection has ended
		}
	}
}

// sendNews sends what is new and why a consumer has ended, unless both are empty.
func (r *reporter) sendNews(broken string, withLatencies bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.news(withLatencies)
	news.Broken = broken
	if broken == "" && news.Receipts == nil && len(news.Probed) == 0 {
		return nil
	}
	return r.out.Encode(news)
}

// news returns the receipts of the trial so far; between trials, the probes that came since the last report. The caller holds mu.
func (r *reporter) news(withLatencies bool) report {
	var news report
	switch {
	case r.trial != nil:
		receipts, came := r.trial.Receipts(withLatencies), r.consumers.span()
		news.Receipts, news.Span = &receipts, &came
	case r.probes != nil:
		for i := range r.probes.seen {
			if !r.reported[i] && r.probes.seen[i].Load() {
				r.reported[i] = true
				news.Probed = append(news.Probed, i)
			}
		}
	}
	return news
}
