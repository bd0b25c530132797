package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
)

// A client that hangs until it is cut off must not hide that the messages of the warm-up and of the measured phase can't be told apart.
func TestATrialThatLearnsItsPhaseTooLateSaysSoAlsoIfAClientHangs(t *testing.T) {
	d := &script{send: func(p *scriptProducer, ctx context.Context, batch []driver.Message) error {
		if probing(batch) {
			p.deliver(batch)
			p.done(batch, nil)
			return nil
		}
		<-ctx.Done()
		p.done(batch, ctx.Err())
		return ctx.Err()
	}}
	w := ready(t, d, simple(1, 1))
	out := w.Run(t.Context(), Load{
		Schedule: constant(t, 1000), Warmup: Warmup{Auto: true, Coordinated: true}, Duration: 50 * time.Millisecond, Drain: 100 * time.Millisecond,
		Hooks: Hooks{MeasureFrom: func() int64 { return clock.Now() - 1 }},
	})
	if !errors.Is(out.Err, ErrLate) {
		t.Errorf("ended with %v; want ErrLate", out.Err)
	}
}
