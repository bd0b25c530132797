package worker

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// Sixty messages come one by one, long after a drain allowance of 100 ms.
func TestWhatIsOverdueIsWaitedForOnlyBeyondTheDrainAllowance(t *testing.T) {
	const messages, drain = 60, 100 * time.Millisecond
	for _, settle := range []time.Duration{0, drain, 20 * time.Second} {
		d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
			p.done(batch, nil)
			if probing(batch) {
				p.deliver(batch)
				return nil
			}
			late := p.sent
			p.later(batch, func(batch []driver.Message) {
				time.Sleep(time.Duration(late) * 10 * time.Millisecond)
				for i := range batch {
					time.Sleep(10 * time.Millisecond)
					p.deliver(batch[i : i+1])
				}
			})
			return nil
		}}
		out := ready(t, d, simple(1, 1)).Run(t.Context(), Load{Messages: messages, Drain: drain, Settle: settle})
		m := out.Measured
		if out.Drained || out.Err != nil || m.Sent != messages || !m.Balanced() {
			t.Errorf("settling for %v: drained %v, %v, %+v", settle, out.Drained, out.Err, m)
		}
		if settle > drain {
			if m.Lost != 0 || out.Overdue <= 0 || out.Overdue > messages {
				t.Errorf("settling for %v: %d were overdue, %+v", settle, out.Overdue, m)
			}
			continue
		}
		if m.Lost == 0 || out.Overdue != 0 || !out.Arriving {
			t.Errorf("settling for %v: %d were overdue, arriving %v, %+v", settle, out.Overdue, out.Arriving, m)
		}
	}
}
