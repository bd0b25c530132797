package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
)

// noted is what a driver saw of itself, ns on the clock's axis: each call with when it began and ended.
type noted struct {
	sync.Mutex
	sends, acks, deliveries []Interval
	spent                   int64 // in Send, over all producers
}

// notes is a driver that takes a while for each Send and notes what it does.
func notes(n *noted, takes time.Duration) *script {
	timed := func(into *[]Interval, do func()) {
		s := Interval{From: clock.Now()}
		do()
		s.To = clock.Now()
		n.Lock()
		*into = append(*into, s)
		n.Unlock()
	}
	return &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		timed(&n.sends, func() {
			time.Sleep(takes)
			timed(&n.deliveries, func() { p.deliver(batch) })
			timed(&n.acks, func() { p.done(batch, nil) })
		})
		n.Lock()
		last := n.sends[len(n.sends)-1]
		n.spent += last.To - last.From
		n.Unlock()
		return nil
	}}
}

func TestTheTimesOfAnOutcomeAreThoseThatTheDriverSaw(t *testing.T) {
	for name, load := range map[string]Load{
		"at a rate": {Schedule: constant(t, 50), Duration: 180 * time.Millisecond},
		"a count":   {Messages: 9},
	} {
		t.Run(name, func(t *testing.T) {
			var n noted
			plan := simple(3, 2)
			plan.InFlight = 1 // several Sends of each producer
			w := ready(t, notes(&n, 10*time.Millisecond), plan)
			began := clock.Now()
			load.Drain = 20 * time.Second
			out := w.Run(t.Context(), load)
			ended := clock.Now()
			if out.Err != nil || out.Measured.Sent != 9 || out.Producers != 3 {
				t.Fatalf("%+v, %v", out.Measured, out.Err)
			}
			within := func(what string, at int64, s Interval) {
				t.Helper()
				if at < s.From || at > s.To {
					t.Errorf("%s at %d, want from %d to %d", what, at, s.From, s.To)
				}
			}
			latest := func(list []Interval) Interval {
				return slices.MaxFunc(list, func(a, b Interval) int { return int(a.To - b.To) })
			}
			first, last := n.sends[0].From, n.sends[0].From
			for _, s := range n.sends {
				first, last = min(first, s.From), max(last, s.From)
			}
			within("first sent", out.FirstSent, Interval{out.Start, first})
			within("last sent", out.LastSent, Interval{first, last})
			within("last acknowledged", out.LastAcked, latest(n.acks))
			within("last received", out.LastReceived, latest(n.deliveries))
			if out.Sending < time.Duration(n.spent) || out.Sending > time.Duration(3*(ended-began)) {
				t.Errorf("%v inside the client, which counts %v", out.Sending, time.Duration(n.spent))
			}
			if load.Messages > 0 && out.Until != out.LastSent {
				t.Errorf("a count ends at %d, and sends last at %d", out.Until, out.LastSent)
			}
			if load.Schedule != nil && out.Start < began+int64(runUp) {
				t.Errorf("the schedule begins after %v of %v for goroutines to get going", time.Duration(out.Start-began), runUp)
			}
		})
	}
}

func TestProducersWithNothingToSendDoNotSayWhenSendingBegan(t *testing.T) {
	var n noted
	out := ready(t, notes(&n, 0), simple(5, 1)).Run(t.Context(), Load{Messages: 3, Drain: 20 * time.Second})
	if out.FirstSent < out.Start || out.FirstSent > out.LastSent || out.LastAcked < out.FirstSent || out.Measured.Sent != 3 {
		t.Errorf("first sent %d, last sent %d, last acknowledged %d of a trial from %d on: %+v", out.FirstSent, out.LastSent, out.LastAcked, out.Start, out.Measured)
	}
}

// receive books one delivery to a subscription.
func receive(c *consumer, p *client, slot uint32, after int64) {
	s := &p.slots[slot]
	h := headerOf(driver.Message{Payload: s.payload})
	c.recorder.Received(&h, s.intended+after)
	c.recorder.Commit()
}

func TestASampleSaysWhatIsOpenAndHowLongMessagesTook(t *testing.T) {
	const messages, slow = 100, 3 // 3 % take a hundred times as long
	w := prepared(t, 2, 100)
	tr := w.begin(Load{Messages: messages}, 1)
	defer tr.recording.watch.Close()
	var told []Sample
	tr.load.Observe = func(s Sample) { told = append(told, s) }
	o := newObserver(w, tr)
	p, consumers := w.clients[0], w.consumers.(*localConsumers).list
	o.look(withLatencies)
	n := p.freeSlots.take(p.batchSlots[:messages])
	recorder := p.recorderOf(tr, &p.streams[0])
	for i, id := range p.batchSlots[:n] {
		at := tr.startedAt + int64(i)
		p.fillSlot(i, id, &p.streams[0], stamp{uint64(i) + 1, at, at + 500_000, 0}, recorder) // after the probe
	}
	recorder.Commit()
	o.look(withLatencies)
	for i, id := range p.batchSlots[:n] {
		took := int64(time.Millisecond)
		if i < slow {
			took *= 100
		}
		receive(consumers[0], p, id, took)
	}
	p.Done(p.batchSlots[:40], nil)
	o.look(countersOnly) // nothing is reported, and the latencies are unchanged
	o.look(withLatencies)
	o.look(withLatencies) // nothing new came
	if len(told) != 4 {
		t.Fatalf("told %d times", len(told))
	}
	kept := o.samples.Values()
	if len(kept) != 5 {
		t.Fatalf("%d samples are kept", len(kept))
	}
	for _, s := range told {
		if s.Latency == nil || s.Latency.EndToEnd.Count() != s.Count.Received || s.Latency.Service.Count() != s.Count.Acked {
			t.Errorf("told without the latencies so far: %+v", s)
		}
	}
	for i, want := range []Sample{
		{},
		{Due: messages, Unconfirmed: messages, Undelivered: 2 * messages, Backlog: 2 * messages},
		{Due: messages, Unconfirmed: 60, Undelivered: messages, Backlog: messages},
		{Due: messages, Unconfirmed: 60, Undelivered: messages, Backlog: messages},
		{Due: messages, Unconfirmed: 60, Undelivered: messages, Backlog: messages},
	} {
		s := kept[i]
		if s.Due != want.Due || s.Unconfirmed != want.Unconfirmed || s.Undelivered != want.Undelivered || s.Backlog != want.Backlog || !s.Sending || s.Latency != nil {
			t.Errorf("sample %d: %+v, want %+v", i, s, want)
		}
		if i > 0 && s.Phase != measure.Measured {
			t.Errorf("sample %d is of phase %v", i, s.Phase)
		}
	}
	if q := kept[2].EndToEnd; q.Count != 0 {
		t.Errorf("latencies without a look at them: %+v", q)
	}
	near := func(got int64, want time.Duration) bool {
		return max(got-int64(want), int64(want)-got) <= int64(want)/200
	}
	if q := kept[3].EndToEnd; q.Count != messages || !near(q.P50, time.Millisecond) || !near(q.P99, 100*time.Millisecond) {
		t.Errorf("%+v, want %d, 1 ms and 100 ms", q, messages)
	}
	if q := kept[4].EndToEnd; q.Count != 0 {
		t.Errorf("messages of the half second before count again: %+v", q)
	}
	sum := int64((messages-slow)*500_000 + slow*99_500_000)
	if f := kept[3].FromSend; f.Count != messages || !near(int64(f.Sum), time.Duration(sum)) || kept[4].FromSend != f {
		t.Errorf("from the send: %+v then %+v, want %d and %d ns", f, kept[4].FromSend, messages, sum)
	}
	if o.backlogMax != 2*messages {
		t.Errorf("the largest backlog is %d, want %d", o.backlogMax, 2*messages)
	}
}

func TestTheLargestBacklogIsThatOfTheMeasuredPhase(t *testing.T) {
	const warmup, length = 300 * time.Millisecond, 300 * time.Millisecond
	var mu sync.Mutex
	var held []func()
	open := false
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		mu.Lock()
		defer mu.Unlock()
		kept := slices.Clone(batch)
		finish := func() { p.deliver(kept); p.done(kept, nil) }
		if probing(batch) || open {
			finish()
			return nil
		}
		held = append(held, finish)
		return nil
	}}
	var out Outcome
	time.AfterFunc(warmup/2, func() {
		mu.Lock()
		defer mu.Unlock()
		open = true
		for _, finish := range held {
			finish()
		}
	})
	out = ready(t, d, simple(1, 1)).Run(t.Context(), Load{Schedule: constant(t, 2000), Warmup: Warmup{For: warmup}, Duration: length, Drain: 20 * time.Second})
	var before, most int64
	for _, s := range out.Samples {
		if s.Backlog < s.Unconfirmed || s.Backlog < s.Undelivered || s.Phase == measure.Measured != (s.At >= out.From) {
			t.Errorf("%+v", s)
		}
		if s.Phase == measure.Measured {
			most = max(most, s.Backlog)
		} else {
			before = max(before, s.Backlog)
		}
	}
	if before == 0 || out.BacklogMax != most || out.Err != nil {
		t.Errorf("%d of %d in the measured phase, %d in the warm-up: %v", out.BacklogMax, most, before, out.Err)
	}
}

// longest is the length of the longest of several times.
func longest(stops []Interval) (most time.Duration) {
	for _, s := range stops {
		most = max(most, time.Duration(s.To-s.From))
	}
	return most
}

func TestOutagesOfDeliveriesAndOfConfirmationsAreToldApart(t *testing.T) {
	const outage = 500 * time.Millisecond
	for _, held := range []string{"deliveries", "confirmations"} {
		d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			kept, late := slices.Clone(batch), time.Duration(0)
			if p.sent >= 200 && p.sent < 400 {
				late = outage
			}
			if held == "confirmations" || late == 0 {
				p.deliver(kept)
			}
			if held == "deliveries" || late == 0 {
				p.done(kept, nil)
			}
			if late > 0 {
				p.later(kept, func(batch []driver.Message) {
					time.Sleep(late)
					if held == "deliveries" {
						p.deliver(batch)
					} else {
						p.done(batch, nil)
					}
				})
			}
			return nil
		}}
		out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Schedule: constant(t, 400), Duration: time.Second, Drain: 20 * time.Second})
		undelivered, unconfirmed := longest(out.DeliverySilences), longest(out.ConfirmationSilences)
		of := undelivered
		if held == "confirmations" {
			of = unconfirmed
		}
		if of < outage/2 || out.Err != nil {
			t.Errorf("%s stood still for %v: undelivered %v, unconfirmed %v; %v", held, outage, undelivered, unconfirmed, out.Err)
		}
	}
}

func TestEveryFifthSampleIsPassedOnAndEveryFifthOfTheseWithLatencies(t *testing.T) {
	var told []Sample
	out := prepared(t, 1, 100).Run(t.Context(), Load{
		Schedule: constant(t, 1000), Duration: 1300 * time.Millisecond, Drain: time.Second, Hooks: Hooks{Observe: func(s Sample) { told = append(told, s) }},
	})
	all, last := out.Samples, len(told)-1
	if len(all) < 20 || len(told) != len(all)/5+1 && len(told) != len(all)/5 {
		t.Fatalf("%d samples, told %d times", len(all), len(told))
	}
	for i, s := range told[:last] {
		if s.At != all[5*i+4].At || (s.Latency != nil) != (i%5 == 4) {
			t.Errorf("told %d: at %d, with latencies %v; want sample %d, at %d", i, s.At, s.Latency != nil, 5*i+5, all[5*i+4].At)
		}
	}
	if told[last].At != all[len(all)-1].At || told[last].Latency == nil {
		t.Errorf("the last word is of %d, not of %d", told[last].At, all[len(all)-1].At)
	}
}

func TestABusyConsumerWorksAllTheTime(t *testing.T) {
	plan := simple(1, 2)
	plan.Delay = Delay{Mean: 5 * time.Millisecond}
	d := &script{}
	d.send = func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.done(batch, nil)
		p.later(batch, func(batch []driver.Message) { p.deliver(batch) })
		return nil
	}
	out := ready(t, d, plan).Run(t.Context(), Load{Messages: 40, Drain: 20 * time.Second})
	if out.Measured.Received != 80 || out.Working < 0.2 || out.Working > 1.01 {
		t.Errorf("%d received; working %.2f of the time", out.Measured.Received, out.Working)
	}
}

// brokenEnd fails when a trial ends.
type brokenEnd struct {
	consumers
	err error
}

func (c brokenEnd) end(t *trial) (consumerStats, error) {
	report, _ := c.consumers.end(t)
	return report, c.err
}

func TestATrialThatEndedEarlyAlsoSaysWhatFailedAtItsEnd(t *testing.T) {
	w := prepared(t, 1, 100)
	failed := errors.New("the ledgers were not reported")
	for name, c := range map[string]struct {
		atEnd error
		text  string
	}{
		"another error":  {failed, "context canceled\nthe ledgers were not reported"},
		"the same error": {context.Canceled, "context canceled"},
		"no error":       {nil, "context canceled"},
	} {
		w.consumers = brokenEnd{consumers: w.consumers, err: c.atEnd}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out := w.Run(ctx, Load{Schedule: constant(t, 10), Duration: time.Second, Drain: time.Second})
		if !errors.Is(out.Err, context.Canceled) || !errors.Is(out.Err, c.atEnd) && c.atEnd != nil || out.Err.Error() != c.text {
			t.Errorf("%s: %v", name, out.Err)
		}
	}
}
