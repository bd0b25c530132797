package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// judgedStatus returns how a repetition with this trial ends, on a machine of two cores of which the generator used so many.
func judgedStatus(t *testing.T, o worker.Outcome, cores float64) (store.Status, string) {
	t.Helper()
	return disturbedStatus(t, o, cores, 0)
}

// disturbedStatus is judgedStatus if other processes used so many cores.
func disturbedStatus(t *testing.T, o worker.Outcome, cores, others float64) (store.Status, string) {
	t.Helper()
	spec := study.Defaults()
	spec.Broker, spec.Delivery, spec.Ordering, spec.Drain = "kafka", "exactly-once", "ordered", study.Duration(10*time.Second)
	l := &lab{}
	l.machine.Cores = 2
	b := &bench{lab: l, spec: spec, record: &store.Record{}}
	tr := trial{Outcome: o, trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 10, Generator: cores, Others: others}}}}
	status, why := ending(context.Background(), b.judge(tr, 5000))
	return status, why.Text
}

var sent = measure.Books{Sent: 1000, Acked: 1000, Expected: 1000, Received: 1000}

// outcomeWith returns a drained trial of 1,000 messages with changed books.
func outcomeWith(change func(*measure.Books)) worker.Outcome {
	b := sent
	change(&b)
	return worker.Outcome{Measured: b, Drained: true}
}

func TestAtMostOnceFailsIfNoMessageArrived(t *testing.T) {
	b := &bench{lab: &lab{}, spec: study.Defaults(), record: &store.Record{}}
	b.lab.machine.Cores, b.spec.Delivery, b.spec.Ordering = 2, "at-most-once", "unordered"
	for received, want := range map[int64]string{0: "none of 1000 messages that were sent arrived", 1: "", 1000: ""} {
		o := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = received, 1000-received, 1000-received })
		if got := errorText(b.judge(trial{Outcome: o}, 5000)); got != want {
			t.Errorf("%d of 1000 arrived: %q, want %q", received, got, want)
		}
	}
}

func TestASaturatedGeneratorIsNeverTheBrokersFailure(t *testing.T) {
	late := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 900, 100, 100 })
	late.Drained, late.Arriving = false, true
	stopped := outcomeWith(func(b *measure.Books) { b.Acked, b.Unresolved = 400, 600 })
	stopped.Drained, stopped.Err = false, errors.New("the broker stopped answering")
	dry := outcomeWith(func(*measure.Books) {})
	dry.Err = worker.ErrRanDry
	timedOut := outcomeWith(func(b *measure.Books) { b.Acked, b.Failed = 900, 100 })
	timedOut.SendErr = fmt.Errorf("publish: %w", context.DeadlineExceeded)
	for name, o := range map[string]worker.Outcome{
		"confirmed messages came too late": late,
		"nothing was confirmed":            outcomeWith(func(b *measure.Books) { b.Acked, b.Unresolved = 0, 1000 }),
		"nothing could be sent":            outcomeWith(func(b *measure.Books) { *b = measure.Books{} }),
		"sends were given up on":           timedOut,
		"sends had no outcome":             outcomeWith(func(b *measure.Books) { b.Acked, b.Unresolved, b.Resent = 900, 100, 7 }),
		"the trial broke off":              stopped,
		"the backlog stopped draining":     dry,
	} {
		if status, why := judgedStatus(t, o, 0.5); status != store.Failed {
			t.Errorf("%s, and the generator was idle: %s: %s", name, status, why)
		}
		_, blame := judgedStatus(t, o, 0.5)
		if status, why := judgedStatus(t, o, 1.99); status != store.Void || !strings.Contains(why, "the generator used 2.0 of 2 cores") || !strings.Contains(why, blame) {
			t.Errorf("%s, and the generator used every core: %s: %s", name, status, why)
		}
		if status, why := disturbedStatus(t, o, 0.5, 0.3); status != store.Void || !strings.HasSuffix(why, " of the 2 cores meanwhile, and "+blame) {
			t.Errorf("%s, and others used more than a tenth of the cores: %s: %s", name, status, why)
		}
	}
}

func TestWhatTheBrokerSaysOrTheSpecSetsIsNotBlamedOnTheMachine(t *testing.T) {
	nothing := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 0, 1000, 1000 })
	nothing.Drained, nothing.Arriving = false, true
	slow, held := nothing, nothing
	slow.Working = 0.97
	held.From, held.Until, held.Held, held.HeldWhy = 0, int64(10*time.Second), 9*time.Second, "ProducerBlockedQuotaExceededError"
	for cause, o := range map[string]worker.Outcome{
		"the busiest consumer worked on its messages for 97 % of the time":                                slow,
		"the broker itself held a producer back for 90 % of the time (ProducerBlockedQuotaExceededError)": held,
	} {
		if status, why := disturbedStatus(t, o, 0.5, 1.4); status != store.Failed || why != "none of 1000 messages that were sent arrived; "+cause {
			t.Errorf("%s: %s", status, why)
		}
	}
}

func TestABrokenPromiseStaysAFailureWhateverTheGeneratorDid(t *testing.T) {
	lost := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 900, 100, 100 })
	lost.Drained = false
	for name, o := range map[string]worker.Outcome{
		"confirmed messages were lost": lost,
		"sends were refused":           outcomeWith(func(b *measure.Books) { b.Acked, b.Failed = 900, 100 }),
		"corrupted":                    outcomeWith(func(b *measure.Books) { b.Corrupted = 1 }),
		"delivered twice":              outcomeWith(func(b *measure.Books) { b.Duplicated = 1 }),
		"out of order":                 outcomeWith(func(b *measure.Books) { b.Reordered = 1 }),
	} {
		if status, why := disturbedStatus(t, o, 1.5, 0.49); status != store.Failed {
			t.Errorf("%s on a disturbed machine: %s: %s", name, status, why)
		}
		if status, why := judgedStatus(t, o, 1.99); status != store.Failed {
			t.Errorf("%s: %s: %s", name, status, why)
		}
	}
	refused := worker.Outcome{Measured: sent, Err: driver.Unsupported("messageSize: 9", "too large")}
	if status, why := judgedStatus(t, refused, 1.99); status != store.Refused {
		t.Errorf("refused by the broker: %s: %s", status, why)
	}
}

// docs/guarantees.md: messages in memory need not outlive the broker's process.
func TestMessagesHeldInMemoryMayBeLostWithTheProcess(t *testing.T) {
	lost := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 900, 100, 100 })
	for name, c := range map[string]struct {
		persistence string
		fault       string
		want        store.Status
	}{
		"killed":                      {"memory", "kill", store.OK},
		"restarted gracefully":        {"memory", "restart", store.OK},
		"paused":                      {"memory", "pause", store.Failed},
		"undisturbed":                 {"memory", "", store.Failed},
		"restarted, from the log":     {"log", "restart", store.Failed},
		"restarted, from the flushed": {"fsync", "restart", store.Failed},
	} {
		spec := study.Defaults()
		spec.Broker, spec.Delivery, spec.Persistence, spec.Ordering = "kafka", "at-least-once", c.persistence, "ordered"
		if c.fault != "" {
			spec.Faults = []study.Fault{{Do: c.fault, Node: "1"}}
		}
		l := &lab{}
		l.machine.Cores = 2
		b := &bench{lab: l, spec: spec, record: &store.Record{}}
		status, why := ending(t.Context(), b.judge(trial{Outcome: lost, trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 10}}}}, 5000))
		if status != c.want {
			t.Errorf("%s: %s (%s), want %s", name, status, why.Text, c.want)
		}
	}
}

// With acks: leader, a failover may lose messages, and that is no failure.
func TestMessagesThatOnlyTheLeaderHadMayBeLostWithIt(t *testing.T) {
	lost := outcomeWith(func(b *measure.Books) { b.Received, b.Lost, b.LostAcked = 900, 100, 100 })
	for name, c := range map[string]struct {
		acks     string
		failover bool
		want     store.Status
	}{
		"the leader had it, and others took over":  {"leader", true, store.OK},
		"the leader had it, and came back with it": {"leader", false, store.Failed},
		"a quorum had it":                          {"quorum", true, store.Failed},
	} {
		spec := study.Defaults()
		spec.Broker, spec.Delivery, spec.Persistence, spec.Acks, spec.Replicas, spec.Nodes = "kafka", "at-least-once", "log", c.acks, 3, 3
		spec.Faults = []study.Fault{{Do: "kill", Node: "leader"}}
		l := &lab{}
		l.machine.Cores = 2
		b := &bench{lab: l, spec: spec, record: &store.Record{Failover: c.failover}}
		status, why := ending(t.Context(), b.judge(trial{Outcome: lost, trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 10}}}}, 5000))
		if status != c.want {
			t.Errorf("%s: %s (%s), want %s", name, status, why.Text, c.want)
		}
	}
}

func TestADuplicateBreaksAtMostOnce(t *testing.T) {
	twice := outcomeWith(func(b *measure.Books) { b.Duplicated = 2 })
	for delivery, want := range map[string]store.Status{"at-most-once": store.Failed, "at-least-once": store.OK, "exactly-once": store.Failed} {
		spec := study.Defaults()
		spec.Broker, spec.Delivery = "kafka", delivery
		l := &lab{}
		l.machine.Cores = 2
		b := &bench{lab: l, spec: spec, record: &store.Record{}}
		status, why := ending(t.Context(), b.judge(trial{Outcome: twice, trialCost: trialCost{Cost: store.Cost{Shares: &store.Shares{Seconds: 10}}}}, 5000))
		if status != want {
			t.Errorf("%s: %s (%s), want %s", delivery, status, why.Text, want)
		}
	}
}
