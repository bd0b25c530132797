package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Processes that a repetition needs may die while it runs. guard ends a trial when one does.

// errBrokerDied is the cause of a context that guard has ended because the broker died. bench.broker.died says how.
var errBrokerDied = errors.New("the broker died")

// errRelayDied is the cause of a context that guard has ended because a relay died.
type errRelayDied struct{ provision.Death }

func (e errRelayDied) Error() string { return fmt.Sprintf("relay-%d died: %s", e.Node, e.Death) }

// guard returns a context that ends when the broker or a relay dies, unless a fault ended it on purpose. The caller calls unguard
// before it reads bench.broker.died.
func (b *bench) guard(ctx context.Context) (guarded context.Context, unguard func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var broker, relays <-chan provision.Death // nil channels never deliver
	if b.broker.instance != nil {
		broker = b.broker.instance.Deaths()
	}
	if b.clients.relays != nil {
		relays = b.clients.relays.Deaths()
	}
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case death := <-broker:
			b.broker.died = &death
			cancel(errBrokerDied)
		case death := <-relays:
			cancel(errRelayDied{death})
		case <-over:
		}
	}()
	return ctx, func() { close(over); <-watched; cancel(nil) }
}

// guardAll returns a context that ends when the broker or a part of the pipeline dies, unless a fault ends it on purpose. The
// caller calls unguard in the end. lostPart returns the death that has ended the context.
func (p *pipeline) guardAll(ctx context.Context) (guarded context.Context, unguard func()) {
	ctx, unguardBroker := p.bench.guard(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	for name, in := range p.instances() {
		if in == nil {
			continue
		}
		go func() {
			select {
			case death := <-in.Deaths():
				cancel(fmt.Errorf("the %s died: %s", name, death))
			case <-over:
			}
		}()
	}
	return ctx, func() { close(over); cancel(nil); unguardBroker() }
}

// lostPart returns the death that has ended a guarded context; nil if none has.
func lostPart(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// deathDelay is how long after its connections broke the death of a process may be reported.
const deathDelay = time.Second

// noteDeath notes the broker's death if it has been reported or is reported within deathDelay.
func (b *bench) noteDeath() {
	select {
	case death := <-b.broker.instance.Deaths():
		b.broker.died = &death
	case <-time.After(deathDelay):
	}
}

// explainLoss adds to an error of a lost consumers' process how that process died. It must be called before close, which ends
// the process itself.
func (b *bench) explainLoss(err error) error {
	if b.clients.consumers == nil || !errors.Is(err, worker.ErrConsumerProcess) {
		return err
	}
	select {
	case death := <-b.clients.consumers.Deaths():
		return fmt.Errorf("%w died: %s", worker.ErrConsumerProcess, death)
	case <-time.After(deathDelay):
		return err
	}
}
