package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestProcessesThatMayBeTheBrokersAreNoDisturbance(t *testing.T) {
	b := &bench{lab: &lab{machine: store.Host{Cores: 2}}}
	tr := trial{trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 2, Generator: 0.3, Others: 1.2}}}}
	tr.neighbours = provision.Neighbours{Used: 2 * time.Second, Stolen: 400 * time.Millisecond, Biggest: "java", BiggestUsed: 1800 * time.Millisecond}
	said := func() string {
		var d doubts
		b.doubtCores(tr, &d)
		if len(d) != 1 || d[0].Code != "busy-machine" {
			t.Fatalf("doubts %+v", d)
		}
		return d[0].Text
	}
	if n := tr.disturbingCores(); n != 1.2 {
		t.Errorf("%v cores", n)
	}
	want := "other processes used 1.0 of the 2 cores meanwhile (java 0.9), and the hypervisor took 0.2"
	if got := said(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	used := tr.neighbours
	tr.neighbours = provision.Neighbours{Stolen: used.Stolen}
	if got := said(); got != "the hypervisor took 0.2 of the 2 cores meanwhile" {
		t.Errorf("%q", got)
	}
	tr.neighbours = used
	tr.brokerMayBeNeighbour = true
	if n := tr.disturbingCores(); n != 0.2 { // stolen time is no broker's
		t.Errorf("%v cores although they may be the broker's", n)
	}
	if got := said(); got != want+"; the attached broker may be among them" {
		t.Errorf("%q", got)
	}
	tr.Cost.Shares.Others, tr.neighbours = 0.1, provision.Neighbours{Unseen: time.Second}
	if got := said(); got != "processes that can't be seen from here used 0.5 of the 2 cores meanwhile" {
		t.Errorf("%q", got)
	}
	if n := tr.disturbingCores(); n != 0 { // it may be the kernel's work for the load
		t.Errorf("%v cores", n)
	}
}

// The trial is made up: an overloaded broker on a machine of two cores, of which others used more than half.
func TestOtherProcessesMakeAnOverloadedTrialVoid(t *testing.T) {
	spec := study.Defaults()
	spec.Broker, spec.Delivery, spec.Attach = "rabbitmq", "at-least-once", []string{"127.0.0.1:5672"}
	overloaded := trial{
		Rate:    1000,
		Outcome: worker.Outcome{From: 1e9, Until: 3e9, Measured: measure.Books{Due: 2000, Sent: 2000, Acked: 2000, Expected: 2000, Received: 2000}},
		trialCost: trialCost{
			Cost:       store.Cost{Shares: &store.Shares{Seconds: 2, Generator: 0.3, Others: 1.2}},
			neighbours: provision.Neighbours{Used: 2400 * time.Millisecond, Biggest: "beam.smp"},
		},
	}
	for i := range 100 {
		overloaded.Samples = append(overloaded.Samples, worker.Sample{At: 1e9 + int64(i)*20e6, Phase: measure.Measured, Backlog: int64(i) * 10})
	}
	for _, c := range []struct {
		brokerMayBeNeighbour bool
		want                 search.Verdict
	}{{false, search.Void}, {true, search.Fail}} {
		b := &bench{lab: &lab{machine: store.Host{Cores: 2}}, spec: spec}
		h := &rateSearch{bench: b, goals: goals(spec), tried: map[float64]attempts{}}
		tr := overloaded
		tr.brokerMayBeNeighbour = c.brokerMayBeNeighbour
		if look := h.judge(search.Request{Kind: search.Short, Rate: 1000}, tr).Judgements[0]; look.Verdict != c.want {
			t.Errorf("the broker may be among them: %v: %s, %s; want %s", c.brokerMayBeNeighbour, look.Verdict, look.Reason, c.want)
		}
	}
}

// A failed trial on a busy machine is void, so the search repeats it; all other judgements stand.
func TestOtherProcessesVoidOnlyFailuresAndOnlyAboveATenthOfTheCores(t *testing.T) {
	pass, fail := search.Judgement{Verdict: search.Pass}, search.Judgement{Verdict: search.Fail, Reason: remark.Of("late")}
	broken, void := search.Judgement{Verdict: search.Fail, Reason: remark.Of("lost"), Broken: true}, search.Judgement{Verdict: search.Void, Reason: remark.Of("own lag")}
	for _, c := range []struct {
		others, cores float64
		look, want    search.Judgement
	}{
		{0.2, 2, fail, fail},
		{0.201, 2, fail, search.Judgement{Verdict: search.Void, Reason: remark.Of("other processes used 0.2 of the 2 cores meanwhile, and late")}},
		{0.79, 8, fail, fail},
		{0.81, 8, fail, search.Judgement{Verdict: search.Void, Reason: remark.Of("other processes used 0.8 of the 8 cores meanwhile, and late")}},
		{2, 2, broken, broken},
		{2, 2, pass, pass},
		{2, 2, void, void},
	} {
		tr := trial{trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 1, Others: c.others}}, neighbours: provision.Neighbours{Used: time.Duration(c.others * 1e9)}}}
		if got := tr.voidIfDisturbed(c.look, c.cores); got.Verdict != c.want.Verdict || got.Reason.Text != c.want.Reason.Text || got.Broken != c.want.Broken {
			t.Errorf("%v of %v cores, %+v: %+v, want %+v", c.others, c.cores, c.look, got, c.want)
		}
	}
}

// Times in sentences have three digits, and none is before the measured phase.
func TestTimesInDoubtsAreWordedForPeople(t *testing.T) {
	for ns, want := range map[int64]string{0: "0s", 412: "412ns", 83_214: "83.2µs", 20_430_000: "20.4ms", 25_397_576: "25.4ms", 999_960_000: "1s", 1_911_630_000: "1.91s", 63_421_000_000: "1m3.4s"} {
		if got := told(ns).String(); got != want {
			t.Errorf("%d ns are %s, want %s", ns, got, want)
		}
	}
	coarse := trial{trialCost: trialCost{Window: 25_397_576}}
	var d doubts
	(&bench{lab: &lab{}}).doubtCores(coarse, &d)
	if len(d) != 1 || !strings.HasPrefix(d[0].Text, "it took 25.4ms, ") {
		t.Errorf("%+v", d)
	}
	begun := trial{Outcome: worker.Outcome{From: int64(time.Second), Until: int64(9 * time.Second)}}
	for from, want := range map[int64]string{979_570_000: "; the longest pause was 3s, and the measured phase began during it", 2_911_630_000: "; the longest pause was 3s, 1.91s into the measured phase"} {
		stops := []worker.Interval{{From: from, To: from + int64(3*time.Second)}}
		if got := begun.longestPause(worker.Pauses{Stops: stops}).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
