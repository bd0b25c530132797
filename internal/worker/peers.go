package worker

import (
	"errors"
	"fmt"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

// Peers describes workers that share streams: the producers of one send to the consumers of another one, on this host or
// elsewhere. For example, worker 0 sends 1,000 messages and has no consumers, and worker 1 receives 999 of them. Neither can tell
// alone which message was lost. So the Outcome of each holds a Shard with everything that it sent and received, and Plan.Joined
// computes the books from all shards.
type Peers struct {
	Producers int // of all these workers together, the plan's own included; their IDs are 0 to Producers-1, and each is in one worker
}

// PeerProducers describes the producers of another worker in a trial. Consumers here tell by it which messages belong to the
// trial and to its measured phase: if producer 3's FirstMessage is 500, its message 499 is of the trial before.
type PeerProducers struct {
	Axis      clock.Line // converts times of that worker's clock to this one's
	From      int64      // when their measured phase begins, ns on their clock
	Producers []FirstMessage
}

// FirstMessage is the sequence number of a producer's first message in a trial: 0 in the first trial, then one past the last one
// of the trial before (Base + End of its measure.Sent in the Shard).
type FirstMessage struct {
	Producer int
	Seq      uint64
}

// checkForSharing refuses a plan that is not for a worker that shares streams.
func (p *Plan) checkForSharing() error {
	switch {
	case p.Peers == nil:
		return errors.New("prepare a worker that shares streams: the plan doesn't say with which workers (Peers)")
	case p.Lagging != Lagging{}:
		return errors.New("a backlog can't be drained by several workers that share its streams")
	}
	for _, producer := range p.Producers {
		if producer.ID < 0 || producer.ID >= p.Peers.Producers {
			return fmt.Errorf("producer %d is none of the %d that all workers have together", producer.ID, p.Peers.Producers)
		}
	}
	return nil
}

// checkHeaders refuses payloads that are too short for a header, where consumers in another process read when a message was sent.
func (b *bodies) checkHeaders() error {
	if !b.untimed() {
		return nil
	}
	return fmt.Errorf("payloads of %d bytes can't carry their times to consumers in another process; at least %d are needed",
		b.smallest, wire.HeaderSize)
}

// checkLoad refuses a load that doesn't fit the streams that the plan shares with other workers.
func (p *Plan) checkLoad(l Load) error {
	switch {
	case p.Peers == nil && (len(l.Peers) > 0 || l.CountAll != nil):
		return errors.New("the load names producers or counts of other workers, but this worker shares no streams")
	case p.Peers == nil:
		return nil
	case l.Warmup.Auto:
		return errors.New("workers that share streams can't each decide when the warm-up is over; give it a time")
	}
	own := make([]bool, p.Peers.Producers)
	for _, producer := range p.Producers {
		own[producer.ID] = true
	}
	for _, peer := range l.Peers {
		for _, first := range peer.Producers {
			id := first.Producer
			if unknown := id < 0 || id >= len(own); unknown || own[id] {
				return fmt.Errorf("producer %d can't be another worker's, of %d that all of them have together", id, len(own))
			}
		}
	}
	return nil
}

// expectPeers lets the trial receive the messages of other workers' producers.
func (t *trial) expectPeers(peers []PeerProducers) {
	for _, peer := range peers {
		host := measure.NewHost(peer.Axis)
		host.MeasureFrom(peer.From)
		for _, first := range peer.Producers {
			t.recording.books.SetHost(first.Producer, first.Seq, host)
		}
	}
}

// checkStart returns an ErrLate if the consumers of a worker that shares streams began to listen after the trial's start.
// Messages that other workers sent before would count as lost.
func (w *Worker) checkStart(l Load) error {
	receivesOfPeers := w.plan.Peers != nil && len(w.plan.Consumers) > 0
	if receivesOfPeers && l.Start != 0 && clock.Now() > l.Start {
		return wordedError{
			text: "the consumers listened only after the start that all workers were given, when messages may have been sent already", kind: ErrLate,
		}
	}
	return nil
}

// count returns the counts of all workers that share the trial's streams, and whether another one still sends.
func (t *trial) count() (c measure.Count, othersSend bool) {
	c = t.recording.books.Count()
	if t.load.CountAll == nil {
		return c, false
	}
	return t.load.CountAll(c)
}
