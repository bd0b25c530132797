package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestABacklogIsFilledWithoutConsumersAndDrained(t *testing.T) {
	const messages, subscriptions = 3000, 2
	for name, c := range map[string]struct {
		client map[string]any
		load   Load
		ratio  float64
	}{
		"all of it":  {nil, Load{}, 1},
		"half of it": {map[string]any{"latency": "1ms"}, Load{}, 0.5},
		"at a rate":  {nil, Load{Schedule: constant(t, 10_000)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simple(3, subscriptions)
			plan.Lagging = allLagging
			w := ready(t, open(t, c.client), plan)
			c.load.Messages, c.load.Drain, c.load.Backlog = messages, 20*time.Second, &Backlog{Ratio: c.ratio}
			out := w.Run(t.Context(), c.load)
			if out.Err != nil || !out.Drained {
				t.Fatalf("drained %v: %v", out.Drained, out.Err)
			}
			if m := out.Measured; m.Sent != messages || m.Received != messages*subscriptions || m.Lost+m.Duplicated+m.Reordered != 0 {
				t.Errorf("%+v", m)
			}
			b := out.Backlog
			if b.Filled != messages || b.Received <= 0 || b.Received > messages*subscriptions {
				t.Errorf("filled %d, received %d", b.Filled, b.Received)
			}
			if !(out.FirstSent <= b.FilledAt && b.FilledAt <= b.From && b.From <= b.To && b.To <= out.LastReceived+int64(time.Second)) {
				t.Errorf("out of order: first sent %d, filled %d, from %d, to %d, last received %d", out.FirstSent, b.FilledAt, b.From, b.To, out.LastReceived)
			}
			// There was no consumer while it was filled: every latency covers the wait.
			if got := out.Histograms.EndToEndService.Min(); b.FilledAt > out.FirstSent && got <= 0 {
				t.Errorf("a message was received %d ns after it was sent", got)
			}
		})
	}
}

// tardy is a driver whose consumers register late, by a time of their own, and receive nothing before.
type tardy struct {
	driver.Driver
	by func(driver.ConsumerConfig) time.Duration
}

func (s tardy) Consume(ctx context.Context, c driver.ConsumerConfig, sink driver.Sink, ready func()) error {
	time.Sleep(s.by(c))
	g := gate{sink, make(chan struct{})}
	var once sync.Once
	return s.Driver.Consume(ctx, c, g, func() { once.Do(func() { ready(); close(g.open) }) })
}

type gate struct {
	driver.Sink
	open chan struct{}
}

func (g gate) Deliver(batch []driver.Received) {
	<-g.open
	g.Sink.Deliver(batch)
}

func TestRegisteringConsumersIsNoPartOfDraining(t *testing.T) {
	const messages, slowness = 2000, 300 * time.Millisecond
	for name, c := range map[string]struct {
		by       func(driver.ConsumerConfig) time.Duration
		late     bool  // draining is timed from the last registration
		received int64 // after it; 0: as it happens
	}{
		"all of them":           {func(driver.ConsumerConfig) time.Duration { return slowness }, true, 0},
		"one of two":            {func(c driver.ConsumerConfig) time.Duration { return slowness * time.Duration(c.Subscription) }, true, messages},
		"one that isn't needed": {func(c driver.ConsumerConfig) time.Duration { return slowness * time.Duration(c.ID) }, false, 2 * messages},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simple(1, 2)
			plan.Lagging = allLagging
			plan.Consumers = append(plan.Consumers, driver.ConsumerConfig{ID: 1, Subscription: 1})
			if c.late {
				plan.Consumers = plan.Consumers[:2]
			}
			w := ready(t, tardy{open(t, nil), c.by}, plan)
			out := w.Run(t.Context(), Load{Messages: messages, Drain: 20 * time.Second, Backlog: &Backlog{Ratio: 1}})
			if out.Err != nil || out.Measured.Received != 2*messages {
				t.Fatalf("%+v, %v", out.Measured, out.Err)
			}
			b := out.Backlog
			if late := b.From-b.FilledAt >= int64(slowness); late != c.late || c.received > 0 && b.Received != c.received || b.Received < messages || b.To < b.From {
				t.Errorf("%d were drained from %v after the fill to %v", b.Received, time.Duration(b.From-b.FilledAt), time.Duration(b.To-b.FilledAt))
			}
		})
	}
}

func TestABacklogIsDrainedForATimeWhereNoShareIsAsked(t *testing.T) {
	const messages, rate, long = 10_000, 20_000, 60 * time.Millisecond
	plan := simple(1, 1)
	plan.Lagging = allLagging
	w := ready(t, open(t, nil), plan)
	// The fill takes half a second; then the producers go on for as long as the consumers drain.
	out := w.Run(t.Context(), Load{
		Messages: messages, Drain: 20 * time.Second, Schedule: constant(t, rate),
		Backlog: &Backlog{For: long, Meanwhile: constant(t, rate)},
	})
	if out.Err != nil || !out.Drained {
		t.Fatalf("drained %v: %v", out.Drained, out.Err)
	}
	b := out.Backlog
	if took := time.Duration(b.To - b.From); took < long {
		t.Errorf("drained for %s, asked for %s", took, long)
	}
	if b.Filled != messages || out.Measured.Sent <= messages {
		t.Errorf("filled %d, sent %d: nothing was sent meanwhile", b.Filled, out.Measured.Sent)
	}
}

func TestABacklogWithoutProducersDrainsNoLongerThanThereIsSomething(t *testing.T) {
	const messages = 3000
	plan := simple(1, 1)
	plan.Lagging = allLagging
	w := ready(t, open(t, nil), plan)
	out := w.Run(t.Context(), Load{Messages: messages, Drain: 20 * time.Second, Backlog: &Backlog{For: time.Hour}})
	// What had come before the last consumer was registered is left out of the backlog's rate.
	if out.Err != nil || !out.Drained || out.Measured.Received != messages || 2*out.Backlog.Received < messages {
		t.Errorf("received %d, %d of them timed, %v", out.Measured.Received, out.Backlog.Received, out.Err)
	}
}

func TestProducersGoOnWhileABacklogDrainsIfAsked(t *testing.T) {
	plan := simple(2, 1)
	plan.Lagging = allLagging
	plan.Delay.Mean = 100 * time.Microsecond // the drain takes at least 0.2 s, long enough for producers to send something meanwhile
	w := ready(t, open(t, nil), plan)
	out := w.Run(t.Context(), Load{
		Messages: 2000, Drain: 20 * time.Second, Backlog: &Backlog{Ratio: 1, Meanwhile: constant(t, 5000)},
	})
	if out.Err != nil || !out.Drained {
		t.Fatalf("drained %v: %v", out.Drained, out.Err)
	}
	if m := out.Measured; out.Backlog.Filled != 2000 || m.Sent <= 2000 || m.Received != m.Sent {
		t.Errorf("filled %d: %+v", out.Backlog.Filled, m)
	}
	// Of the schedule, only what was due until the drain ended counts: 5,000 messages in each second of it.
	if unsent, most := out.Measured.Unsent, int64(5000*time.Duration(out.Backlog.To-out.Backlog.From).Seconds())+500; unsent > most {
		t.Errorf("%d messages unsent, at most %d were due", unsent, most)
	}
}

func TestABacklogThatStopsDrainingIsAnError(t *testing.T) {
	plan := simple(1, 1)
	plan.Lagging = allLagging
	w := ready(t, open(t, map[string]any{"loss.every": 10}), plan)
	out := w.Run(t.Context(), Load{Messages: 1000, Drain: 100 * time.Millisecond, Backlog: &Backlog{Ratio: 1}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "the backlog stopped draining: 900 of 1000 deliveries, then nothing for 100ms") {
		t.Errorf("ended with %v", out.Err)
	}
	if m := out.Measured; m.Lost != 100 || m.LostAcked != 100 {
		t.Errorf("%+v", m)
	}
	if b := out.Backlog; b.To != out.LastReceived { // waiting in vain is no draining
		t.Errorf("drained until %v after the last message came", time.Duration(b.To-out.LastReceived))
	}
}

func TestACancelledBacklogEnds(t *testing.T) {
	for name, client := range map[string]map[string]any{
		"filling":  {"capacity": 100, "window": 10},
		"draining": {"latency": "1h"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simple(1, 1)
			plan.Lagging = allLagging
			ctx, cancel := context.WithCancel(t.Context())
			w := ready(t, open(t, client), plan)
			time.AfterFunc(300*time.Millisecond, cancel)
			began := time.Now()
			out := w.Run(ctx, Load{Messages: 1000, Drain: time.Hour, Backlog: &Backlog{Ratio: 1}})
			if !errors.Is(out.Err, context.Canceled) || time.Since(began) > 30*time.Second || !out.Measured.Balanced() {
				t.Errorf("after %v: %v, %+v", time.Since(began), out.Err, out.Measured)
			}
		})
	}
}

func TestABacklogThatLacksMessagesIsWaitedForInProportion(t *testing.T) {
	const allowance = 10 * time.Minute
	for _, c := range []struct {
		allowance, draining time.Duration
		begun               bool
		want                time.Duration
	}{
		{allowance, time.Hour, false, allowance}, // the first delivery may take its time
		{allowance, 4 * time.Second, true, 5 * time.Second},
		{allowance, 20 * time.Second, true, 20 * time.Second},
		{allowance, 5 * time.Minute, true, 30 * time.Second},
		{time.Second, 4 * time.Second, true, time.Second},
	} {
		if got := mostSilence(c.allowance, c.draining, c.begun); got != c.want {
			t.Errorf("after %s of draining, begun %v: %s, want %s", c.draining, c.begun, got, c.want)
		}
	}
}

func TestABacklogThatRanDryNamesOnlyAGoalThatThereIs(t *testing.T) {
	for goal, want := range map[int64]string{
		100:       "the backlog stopped draining: 7 of 100 deliveries, then nothing for 5s",
		unlimited: "the backlog stopped draining: 7 deliveries, then nothing for 5s",
	} {
		if got := ranDry(7, goal, 5*time.Second).Error(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
