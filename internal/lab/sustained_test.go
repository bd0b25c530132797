package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestTheGeneratorIsTheBottleneckIfItWasSaturatedBetweenTheBounds(t *testing.T) {
	h := &rateSearch{
		goals: []search.Goal{{}}, tried: map[float64]attempts{2000: {saturated: "it was late"}},
		bench: &bench{lab: &lab{machine: store.Host{Cores: 2}}},
	}
	for _, c := range []struct {
		found search.Bounds
		want  string
	}{
		{search.Bounds{Low: 1000, Void: "at 2000/s it was late"}, "generator"},
		{search.Bounds{Low: 1000, High: 3000, Void: "at 2000/s it was late"}, "generator"},
		{search.Bounds{Low: 1000, High: 1050}, ""},                                 // it was in the way far above
		{search.Bounds{Low: 2500, High: 2600}, ""},                                 // and below
		{search.Bounds{Low: 2500, Void: "at 2600/s other processes ran"}, ""},      // somebody else's
		{search.Bounds{Low: 500, High: 900, Void: "at 800/s other processes"}, ""}, // likewise
	} {
		if got := h.limits(c.found).Cause(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.found, got, c.want)
		}
	}
}

func TestSaturationIsReportedOfTheLowestRate(t *testing.T) {
	tried := map[float64]attempts{}
	for _, rate := range []float64{1000, 2000, 3000, 4000, 5000} {
		tried[rate] = attempts{saturated: fmt.Sprintf("late at %g/s", rate)}
	}
	for range 50 { // maps are walked in random order
		if got := (&rateSearch{tried: tried}).saturatedBetween(1000, 0); got != "late at 2000/s" {
			t.Fatalf("above 1000/s the generator was %q", got)
		}
	}
}

func TestTheClientIsTheBottleneckIfItsProducersWaitOrSend(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: study.Defaults()}
	tr := &trial{
		Outcome:   worker.Outcome{Start: 0, From: 1e9, Until: 3e9, LastSent: 3e9, Producers: 2, Blocked: 4 * time.Second},
		trialCost: trialCost{Window: 32 * time.Second, Cost: store.Cost{Shares: &store.Shares{Seconds: 2}}},
	}
	tr.Scheduled = true
	h := &rateSearch{bench: b, goals: goals(b.spec), tried: map[float64]attempts{1000: {failed: tr}}}
	if l := h.limits(search.Bounds{High: 1000}).Cause(); l != "client-window" {
		t.Error(l)
	}
	tr.Blocked, tr.Sending = 0, 5*time.Second
	if l := h.limits(search.Bounds{High: 1000}).Cause(); l != "client-send" {
		t.Error(l)
	}
}

func TestTheLatencyBoundIsTheBottleneckAlsoWithoutSubscribers(t *testing.T) {
	slow := hist.New()
	slow.Record(int64(time.Second))
	h := &rateSearch{
		bench: &bench{lab: &lab{machine: store.Host{Cores: 2}}}, goals: []search.Goal{{Latency: 100 * time.Millisecond, Quantile: 0.99}},
		tried: map[float64]attempts{1000: {failed: &trial{Outcome: worker.Outcome{Histograms: measure.Histograms{Publish: slow.Snapshot()}}}}},
	}
	if l := h.limits(search.Bounds{High: 1000}).Cause(); l != "latency" {
		t.Error(l)
	}
	h.bench.spec.SubscriptionsPerTopic = 1 // then only what was delivered has the latency that is bounded
	if l := h.limits(search.Bounds{High: 1000}).Cause(); l != "" {
		t.Error(l)
	}
}

// The agents meter a broker on a machine of its own. Its cores are not this machine's.
func TestCoresOfABrokerElsewhereAreNoBottleneckHere(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: study.Defaults()}
	tr := &trial{trialCost: trialCost{Cost: store.Cost{BrokerKnown: true, Shares: &store.Shares{Seconds: 2, Broker: 7.5, BrokerSystem: 3, Generator: 0.5}}}}
	h := &rateSearch{bench: b, goals: goals(b.spec), tried: map[float64]attempts{1000: {failed: tr}}}
	elsewhere := "the broker used 7.5 cores elsewhere (3.0 of it in the kernel) and the generator 0.5 of 2 cores"
	here := "the broker used 7.5 (3.0 of it in the kernel) and the generator 0.5 of 2 cores"
	for name, c := range map[string]struct {
		local       brokerMeter
		remote      remoteMeters
		limit, used string
	}{
		"elsewhere": {nil, remoteMeters{fakeMeter{name: "a"}}, "", elsewhere},
		"here":      {noMeter{}, nil, "cpu", here},
	} {
		b.meters.local, b.meters.remote = c.local, c.remote
		if l := h.limits(search.Bounds{High: 1000}).Cause(); l != c.limit {
			t.Errorf("%s: %s, want %s", name, l, c.limit)
		}
		if words := b.coresUsed(*tr).Text; words != c.used {
			t.Errorf("%s: %q, want %q", name, words, c.used)
		}
	}
}

// noMeter is a meter of processes on this machine that use nothing.
type noMeter struct{}

func (noMeter) Sample() provision.Usage { return provision.Usage{} }
func (noMeter) Roots() []int            { return nil }
func (noMeter) PIDs() []int             { return nil }

func TestARateThatNoTrialConfirmedIsAnInternalError(t *testing.T) {
	s := &rateSearch{tried: map[float64]attempts{1000: {failed: &trial{}}}}
	if err := s.noRateError(search.Bounds{Low: 1000}); err == nil || !strings.HasPrefix(err.Error(), "internal error") {
		t.Error(err)
	}
	s.tried[1000] = attempts{passed: &trial{}}
	if err := s.noRateError(search.Bounds{Low: 1000}); err != nil {
		t.Error(err)
	}
}
