package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// Processes that a repetition needs may die while it runs. guard ends a load when one does.

// errDied is the error of a repetition that lost a process which it needs, though no fault was aimed at it.
type errDied struct {
	process string // theBroker, or a part as faults name it: "relay", "server"
	death   provision.Death
}

// theBroker is the broker among the processes that may die.
const theBroker = "broker"

func (e errDied) Error() string { return fmt.Sprintf("the %s died: %s", e.process, e.death) }

// brokerDied reports whether err says that the broker died.
func brokerDied(err error) bool {
	var died errDied
	return errors.As(err, &died) && died.process == theBroker
}

// guard returns a context that ends when the broker or one of parts dies, unless a fault ended it on purpose. The caller calls
// unguard in the end; it returns the death as an errDied, or nil. It may be called again.
func (b *bench) guard(ctx context.Context, parts ...part) (guarded context.Context, unguard func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	var watching sync.WaitGroup
	for _, watched := range append(parts, part{name: theBroker, instance: b.broker.instance}) {
		if watched.instance == nil {
			continue
		}
		watching.Go(func() {
			select {
			case death := <-watched.instance.Deaths():
				cancel(errDied{process: watched.name, death: death})
			case <-over:
			}
		})
	}
	return ctx, sync.OnceValue(func() error {
		close(over)
		watching.Wait()
		cancel(nil)
		return deathOf(ctx)
	})
}

// deathOf returns the death that has ended a guarded context; nil if none has.
func deathOf(guarded context.Context) error {
	var died errDied
	if errors.As(context.Cause(guarded), &died) {
		return died
	}
	return nil
}

// deathDelay is how long after its connections broke the death of a process may be reported.
const deathDelay = time.Second

// explainDeath returns the broker's death instead of err, which broken connections may have caused, if the death has been reported
// or is reported within deathDelay.
func (b *bench) explainDeath(err error) error {
	if b.broker.instance == nil || errors.As(err, new(*driver.ErrUnsupported)) { // a refusal is an answer of a living broker
		return err
	}
	select {
	case death := <-b.broker.instance.Deaths():
		return errDied{process: theBroker, death: death}
	case <-time.After(deathDelay):
		return err
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
