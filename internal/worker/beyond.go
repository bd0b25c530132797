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

// Peers describes the other workers, on this host or another one, that share streams with a worker: their producers send to its
// consumers, or its producers to theirs. No worker can tell alone which messages were lost. So the Outcome of each holds a Shard, and
// measure.Join computes the books from all of them.
type Peers struct {
	Producers int // of all these workers together; their IDs are below it, and each occurs in one worker
}

// PeerProducers describes the producers of another worker in a trial.
type PeerProducers struct {
	Axis      clock.Line // converts times of that worker's clock to this one's
	From      int64      // when their measured phase begins, ns on their clock: the same number as in their own Load
	Producers []FirstMessage
}

// FirstMessage is the sequence number of a producer's first message in a trial: 0 in the first trial, then one past its last message in the
// trial before (measure.Sent: Base + End).
type FirstMessage struct {
	Producer int
	Seq      uint64
}

// Probes connects the probing of workers that share streams: each has to know which probes the consumers of the others have seen.
type Probes struct{ probed *probesSeen }

// NewProbes makes the Probes of one worker. saw is called once for every producer and subscription of which its own consumers have
// seen a probe, to be passed to Seen of the other workers; it is called by any goroutine and must not block. made is called when the
// worker has made the topics, which one worker does for all; it may be nil.
func NewProbes(producers, subscriptions int, saw func(producer, subscription int), made func()) *Probes {
	p := newProbesSeen(producers, subscriptions)
	p.onSeen, p.onTopicsMade = saw, made
	return &Probes{p}
}

// Seen notes that another worker's consumers have seen a probe. It may be called at any time.
func (p *Probes) Seen(producer, subscription int) { p.probed.mark(producer, subscription) }

// PrepareShared is Prepare for a worker that shares streams with the workers that plan.Peers describes. All of them must be prepared
// at the same time: it blocks until each subscription, wherever its consumers are, has seen every producer of plan.
func PrepareShared(ctx context.Context, d driver.Driver, plan Plan, probes *Probes) (*Worker, error) {
	switch {
	case plan.Peers == nil:
		return nil, errors.New("a worker that shares no streams has nobody to tell of probes")
	case plan.ConsumeLater:
		return nil, errors.New("a backlog can't be drained by several workers that share its streams")
	}
	for _, p := range plan.Producers {
		if p.ID < 0 || p.ID >= plan.Peers.Producers {
			return nil, fmt.Errorf("producer %d is none of %d", p.ID, plan.Peers.Producers)
		}
	}
	return prepare(ctx, d, plan, nil, probes.probed)
}

// checkTimed refuses payloads that are too short to carry their times to consumers in another process.
func (b *bodies) checkTimed() error {
	if b.shortest() >= wire.HeaderSize {
		return nil
	}
	return fmt.Errorf("payloads of %d bytes can't carry their times to consumers in another process; at least %d are needed", b.shortest(), wire.HeaderSize)
}

// checkShared refuses a load that contradicts which streams the plan shares with other workers.
func (p *Plan) checkShared(l Load) error {
	switch {
	case p.Peers == nil && (len(l.Peers) > 0 || l.CountAll != nil):
		return errors.New("a worker that shares no streams was told of messages of others")
	case p.Peers == nil:
		return nil
	case l.Warmup.Auto:
		return errors.New("workers that share streams can't each decide when the warm-up is over; give it a time")
	}
	own := make([]bool, p.Peers.Producers)
	for _, one := range p.Producers {
		own[one.ID] = true
	}
	for _, e := range l.Peers {
		for _, b := range e.Producers {
			if b.Producer < 0 || b.Producer >= len(own) || own[b.Producer] {
				return fmt.Errorf("producer %d can't be another worker's, of %d that all of them have together", b.Producer, len(own))
			}
		}
	}
	return nil
}

// expectOthers lets the trial receive the messages of other workers' producers.
func (t *trial) expectOthers(others []PeerProducers) {
	for _, e := range others {
		host := measure.NewHost(e.Axis)
		host.MeasureFrom(e.From)
		for _, b := range e.Producers {
			t.measure.SetHost(b.Producer, b.Seq, host)
		}
	}
}

// errMissedStart ends a trial before it began.
var errMissedStart = lateError("the consumers listened only after the start that all workers were given, when messages may have been sent already")

// checkStart returns errMissedStart if the consumers of a worker that shares streams listen too late. Messages that others sent before
// would count as lost.
func (w *Worker) checkStart(l Load) error {
	if w.plan.Peers != nil && l.Start != 0 && len(w.plan.Consumers) > 0 && clock.Now() > l.Start {
		return errMissedStart
	}
	return nil
}

// count returns the counts of all workers that share the trial's streams, and whether one of them still sends.
func (t *trial) count() (c measure.Count, sending bool) {
	c = t.measure.Count()
	if t.load.CountAll == nil {
		return c, false
	}
	return t.load.CountAll(c)
}
