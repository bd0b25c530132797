package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/busiest"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// onMachine returns a bench on a machine of so many cores, with a broker there, and a trial of 10 s in which the generator used some of them
// and a goroutine of it a share of one.
func onMachine(cores int, generator, broker, serial float64, o worker.Outcome) (*bench, trial) {
	b := &bench{lab: &lab{machine: store.Host{Cores: cores}}, spec: study.Defaults(), record: &store.Record{}}
	b.spec.Broker, b.spec.Delivery, b.spec.Acks, b.spec.Drain = "kafka", "at-least-once", "leader", study.Duration(10*time.Second)
	b.meters.local = noMeter{}
	o.Start, o.From, o.Until, o.Producers = 1, 1, 1+10e9, 1
	o.Busiest = busiest.Goroutine{Name: "kgo.(*brokerCxn).handleResps of consumer 0", Share: serial}
	return b, trial{Outcome: o, trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 10, Generator: generator, Broker: broker}}}}
}

func TestATrialThatFailsWhileAGoroutineUsesItsOnlyCoreIsVoid(t *testing.T) {
	late := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 900, 100, 100 })
	late.Drained, late.Arriving = false, true
	for name, c := range map[string]struct {
		outcome                   worker.Outcome
		cores                     int
		generator, broker, serial float64
		want                      store.Status
	}{
		"16 cores, one goroutine at its limit":        {late, 16, 1.4, 2, 0.97, store.Void},
		"16 cores, no goroutine at its limit":         {late, 16, 1.4, 2, 0.85, store.Failed},
		"16 cores, all in use":                        {late, 16, 1.4, 14, 0.97, store.Failed},
		"2 cores, the broker leaves some idle":        {late, 2, 1.1, 0.3, 0.97, store.Void},
		"2 cores, both in use":                        {late, 2, 1.1, 0.85, 0.97, store.Failed},
		"16 cores, at its limit, and all came":        {outcomeWith(func(*measure.Books) {}), 16, 1.4, 2, 0.97, store.OK},
		"16 cores, at its limit, and a promise broke": {outcomeWith(func(b *measure.Books) { b.Corrupted = 1 }), 16, 1.4, 2, 0.97, store.Failed},
	} {
		b, tr := onMachine(c.cores, c.generator, c.broker, c.serial, c.outcome)
		status, why := ending(t.Context(), b.judge(tr, 5000))
		if status != c.want {
			t.Errorf("%s: %s (%s), want %s", name, status, why.Text, c.want)
		}
		if status == store.Void && !strings.Contains(why.Text, "handleResps of consumer 0 of the generator used 0.97 of a core") {
			t.Errorf("%s: %q doesn't name the goroutine", name, why.Text)
		}
	}
}

func TestASearchIsVoidByTheSameRule(t *testing.T) {
	b, tr := onMachine(16, 1.4, 2, 0.97, outcomeWith(func(*measure.Books) {}))
	tr.Drained = false
	e := b.evidence(tr, 100)
	if got := rule(b.spec).Judge(e, search.Goal{}); got.Verdict != search.Void || !strings.Contains(got.Reason.Text, "0.97 of a core") {
		t.Errorf("%+v", got)
	}
	tr.Scheduled, tr.Rate = true, 100
	if why, limited := b.generatorLimit(tr, 100); !limited {
		t.Errorf("no more agents are asked for: %q", why.Text)
	}
	tr.Busiest.Share = 0.5
	e = b.evidence(tr, 100)
	if got := rule(b.spec).Judge(e, search.Goal{}); got.Verdict != search.Fail {
		t.Errorf("%+v", got)
	}
}

func TestAClosedLoopThatHardlyEverWaitsIsLimitedByItsClient(t *testing.T) {
	for name, c := range map[string]struct {
		cores           int
		broker, serial  float64
		blocked         time.Duration
		delivery, limit string
	}{
		"never waited":                               {16, 2, 0.5, 0, "at-least-once", limitClient},
		"waited for 9 % of the time":                 {16, 2, 0.5, 900 * time.Millisecond, "at-least-once", limitClient},
		"waited for 11 %":                            {16, 2, 0.5, 1100 * time.Millisecond, "at-least-once", ""},
		"waited for 80 %":                            {16, 2, 0.5, 8 * time.Second, "at-least-once", limitClientWindow},
		"waited for 80 %, for a saturated goroutine": {16, 2, 0.96, 8 * time.Second, "at-least-once", limitClient},
		"no core was left":                           {2, 1, 0.96, 0, "at-least-once", limitCPU},
		"at most once nothing makes it wait":         {16, 2, 0.5, 0, "at-most-once", ""},
		"at most once, with a saturated goroutine":   {16, 2, 0.96, 0, "at-most-once", limitClient},
	} {
		o := outcomeWith(func(*measure.Books) {})
		o.Blocked = c.blocked
		b, tr := onMachine(c.cores, 1, c.broker, c.serial, o)
		b.spec.Delivery = c.delivery
		r := &store.Result{}
		b.setLimits(r, tr)
		doubted := len(b.record.Doubts) == 1 && b.record.Doubts[0].Code == "generator-bound"
		if r.Limits.Cause() != c.limit || doubted != (c.limit == limitClient) {
			t.Errorf("%s: %s, %v; want %s", name, r.Limits, b.record.Doubts, c.limit)
		}
	}
}

func TestWhatTheClientDroppedIsNotTheBrokersLoss(t *testing.T) {
	for delivery, lost := range map[string]int64{"at-most-once": 375, "at-least-once": 375, "exactly-once": 375} {
		o := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked, b.Dropped = 1000-lost, lost, lost, 375 })
		o.Dropped = 375
		b, tr := onMachine(16, 1, 1, 0.1, o)
		b.spec.Delivery, b.spec.Broker = delivery, "no such broker"
		status, why := ending(t.Context(), b.judge(tr, 5000))
		want := "the client library dropped 375 deliveries in the generator's process (the library's own limit)"
		if status != store.Void || why.Text != want {
			t.Errorf("%s: %s %q, want void %q", delivery, status, why.Text, want)
		}
		if got := rule(b.spec).Judge(b.evidence(tr, 5000), search.Goal{}); got.Verdict != search.Void {
			t.Errorf("%s: a search says %+v", delivery, got)
		}
		for _, d := range b.doubtsAbout(tr) {
			if d.Code == "loss" {
				t.Errorf("%s: %s", delivery, d.Text)
			}
		}
	}
	o := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked, b.Dropped = 600, 400, 400, 375 })
	b, tr := onMachine(16, 1, 1, 0.1, o)
	if status, why := ending(t.Context(), b.judge(tr, 5000)); status != store.Failed || !strings.Contains(why.Text, "25 messages were lost") {
		t.Errorf("25 more than the client dropped: %s %q", status, why.Text)
	}
}
