package worker

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// A broker that never got an acknowledgement delivers the message again, here 300 ms after everything has come.
func TestWhatComesAgainAfterTheDrainIsSeenOnlyByListeningOn(t *testing.T) {
	const messages, again = 20, 300 * time.Millisecond
	for _, listen := range []time.Duration{0, again / 3, 3 * again} {
		d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			p.done(batch, nil)
			p.deliver(batch)
			if !probing(batch) {
				p.later(batch, func(batch []driver.Message) {
					time.Sleep(again)
					p.deliver(batch)
				})
			}
			return nil
		}}
		drained := 0
		load := Load{Messages: messages, Drain: 5 * time.Second, Listen: listen, Hooks: Hooks{Drained: func() { drained++ }}}
		out := ready(t, d, simple(1, 1)).Run(t.Context(), load)
		want := int64(0)
		if listen > again {
			want = messages
		}
		if m := out.Measured; out.Err != nil || !out.Drained || m.Received != messages || m.Duplicated != want || out.Listened != listen {
			t.Errorf("listening for %v: %v, for %v, %+v; want %d duplicates", listen, out.Err, out.Listened, m, want)
		}
		if wantCalls := min(1, int(listen)); drained != wantCalls {
			t.Errorf("listening for %v: %d calls of Drained, want %d", listen, drained, wantCalls)
		}
	}
}

// What comes while a trial listens on is late, and not lost.
func TestWhatComesForTheFirstTimeWhileATrialListensOnIsOverdue(t *testing.T) {
	const messages, late = 20, 300 * time.Millisecond
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.done(batch, nil)
		if probing(batch) {
			p.deliver(batch)
			return nil
		}
		p.later(batch, func(batch []driver.Message) {
			time.Sleep(late)
			p.deliver(batch)
		})
		return nil
	}}
	out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: messages, Drain: late / 3, Listen: 3 * late})
	if m := out.Measured; out.Err != nil || out.Drained || m.Lost != 0 || out.Overdue == 0 {
		t.Errorf("%v, drained %v, %d overdue, %+v", out.Err, out.Drained, out.Overdue, m)
	}
}

func TestATrialThatIsInterruptedWhileItListensEnds(t *testing.T) {
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		p.done(batch, nil)
		p.deliver(batch)
		return nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	load := Load{Messages: 1, Drain: time.Second, Listen: time.Hour, Hooks: Hooks{Drained: cancel}}
	if out := ready(t, d, simple(1, 1)).Run(ctx, load); out.Err == nil || out.Listened > time.Minute || out.Measured.Received != 1 {
		t.Errorf("%v after %v, %+v", out.Err, out.Listened, out.Measured)
	}
}
