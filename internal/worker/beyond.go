package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// Beyond is what a worker has to know of others, on this host or another one, that share streams with it: their producers
// send to its consumers, or its producers to their consumers. None of them can tell alone what was lost: its Outcome holds a
// Shard, and measure.Join tells by the shards of all.
type Beyond struct {
	Producers int // of all these workers together; their IDs are below it, and each occurs in one worker
}

// Elsewhere are the producers of another worker in a trial.
type Elsewhere struct {
	Axis      clock.Line // where that worker's clock lies on this one's
	From      int64      // when their measured phase begins, ns on their clock: the same number as in their own Load
	Producers []Base
}

// Base is the number of a producer's first message in a trial: 0 in its first one, then one past the last of the trial before
// (measure.Sent: Base + End).
type Base struct {
	ID  int
	Seq uint64
}

// Shared divides a plan into n whose workers share its streams. producing and consuming are which of them have clients of producers,
// and consumers, in turn; nil: all of them, and the consumers go on where the producers have ended, or else one further, so that a
// topic's producer and consumer are apart.
func (p Plan) Shared(n int, producing, consuming []int) ([]Plan, error) {
	if n == 1 {
		return []Plan{p}, nil
	}
	parts := make([]Plan, n)
	for k := range parts {
		parts[k] = p
		parts[k].Producers, parts[k].Consumers = nil, nil
		parts[k].Part, parts[k].Beyond = &Part{Of: p.deal()}, &Beyond{Producers: p.producers()}
		parts[k].Topology.Existing = p.Topology.Existing || k > 0
	}
	turn := func(list []int, i, first int) *Plan {
		if list == nil {
			return &parts[(first+i)%n]
		}
		return &parts[list[i%len(list)]]
	}
	further := p.clients() % n
	if further == 0 {
		further = 1
	}
	for i, one := range p.Producers {
		part := turn(producing, i%p.clients(), 0)
		if i < p.clients() {
			part.Part.Clients = append(part.Part.Clients, i)
		}
		part.Producers = append(part.Producers, one)
	}
	for i, one := range p.Consumers {
		part := turn(consuming, i, further)
		part.Consumers = append(part.Consumers, one)
	}
	for k := range parts {
		parts[k].Clients = len(parts[k].Part.Clients)
		if len(parts[k].Producers)+len(parts[k].Consumers) == 0 {
			return nil, fmt.Errorf("nothing is left for one of %d agents: there are %d clients of producers and %d consumers", n, p.clients(), len(p.Consumers))
		}
	}
	return parts, nil
}

// Probes tells workers that share streams which probes the consumers of the others have seen.
type Probes struct{ probed *probed }

// NewProbes makes the Probes of one worker. saw is called once for every producer and subscription of which its own consumers
// have seen a probe, for the other workers' Seen; it comes from any goroutine and must not block. made, where it isn't nil, is called
// when the topics are there, which one of the workers makes for the others.
func NewProbes(producers, subscriptions int, saw func(producer, subscription int), made func()) *Probes {
	p := newProbed(producers, subscriptions)
	p.saw, p.made = saw, made
	return &Probes{p}
}

// Seen tells that another worker's consumers have seen a producer. It may be called at any time.
func (p *Probes) Seen(producer, subscription int) { p.probed.at(producer, subscription).Store(true) }

// PrepareShared is Prepare for a worker that shares streams with others, which plan.Beyond describes. All of them must be
// prepared at the same time: it blocks until each subscription, wherever its consumers are, has seen every producer of plan.
func PrepareShared(ctx context.Context, d driver.Driver, plan Plan, probes *Probes) (*Worker, error) {
	switch {
	case plan.Beyond == nil:
		return nil, errors.New("a worker that shares no streams has nobody to tell of probes")
	case plan.ConsumeLater:
		return nil, errors.New("a backlog can't be drained by several workers that share its streams")
	}
	for _, p := range plan.Producers {
		if p.ID < 0 || p.ID >= plan.Beyond.Producers {
			return nil, fmt.Errorf("producer %d is none of %d", p.ID, plan.Beyond.Producers)
		}
	}
	return prepare(ctx, d, plan, nil, probes.probed)
}

// sharable is why payloads are too short to be received by another worker than the one that sent them.
func sharable(b *bodies) error {
	if b.shortest() >= wire.HeaderSize {
		return nil
	}
	return fmt.Errorf("payloads of %d bytes can't carry their times to consumers in another process; at least %d are needed", b.shortest(), wire.HeaderSize)
}

// shares is why a load is none for workers that share streams as the plan says.
func (p *Plan) shares(l Load) error {
	switch {
	case p.Beyond == nil && (len(l.Elsewhere) > 0 || l.Everywhere != nil):
		return errors.New("a worker that shares no streams was told of messages of others")
	case p.Beyond == nil:
		return nil
	case l.Warmup.Auto:
		return errors.New("workers that share streams can't each decide when the warm-up is over; give it a time")
	}
	own := make([]bool, p.Beyond.Producers)
	for _, one := range p.Producers {
		own[one.ID] = true
	}
	for _, e := range l.Elsewhere {
		for _, b := range e.Producers {
			if b.ID < 0 || b.ID >= len(own) || own[b.ID] {
				return fmt.Errorf("producer %d can't be another worker's, of %d that all of them have together", b.ID, len(own))
			}
		}
	}
	return nil
}

// meet tells a trial whose messages come from other workers.
func (t *trial) meet(others []Elsewhere) {
	for _, e := range others {
		host := measure.NewHost(e.Axis)
		host.MeasureFrom(e.From)
		for _, b := range e.Producers {
			t.measure.Elsewhere(b.ID, b.Seq, host)
		}
	}
}

// missedStart ends a trial before it began. It is an ErrLate.
type missedStart struct{}

func (missedStart) Error() string {
	return "the consumers listened only after the start that all workers were given, when messages may have been sent already"
}

func (missedStart) Is(err error) bool { return err == ErrLate }

// listening is why a worker that shares streams can't take part in a trial: others may have sent before its consumers listened,
// and what they missed would count as lost.
func (w *Worker) listening(l Load) error {
	if w.plan.Beyond != nil && l.Start != 0 && len(w.plan.Consumers) > 0 && clock.Now() > l.Start {
		return missedStart{}
	}
	return nil
}

// count is what the workers that share a trial's streams have counted together, and whether one of them still sends.
func (t *trial) count() (measure.Count, bool) {
	c := t.measure.Count()
	if t.load.Everywhere == nil {
		return c, false
	}
	return t.load.Everywhere(c)
}
