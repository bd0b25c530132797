package worker

import "github.com/brokermark/brokermark/internal/measure"

// Messages that never came are booked after the trial, with the time for which they were waited for: otherwise the latencies
// would look the better the more messages the broker dropped. A message's intended time follows from the schedule, so nothing has
// to be stored for it. In a closed loop nothing is booked: its messages have no intended time.

// bookMissing books the latencies of messages that were not confirmed or did not come until ended. If workers share streams, only
// all of them together know which messages came (Plan.Joined).
func (w *Worker) bookMissing(t *trial, out *Outcome) {
	books := t.recording.books
	all := out.Warmup
	all.Add(out.Measured)
	undelivered := all.Lost > 0 && w.plan.Peers == nil
	if all.Acked == all.Sent && !undelivered {
		return
	}
	for _, c := range w.clients {
		eachSent(c.segments, len(c.streams), func(stream int, n uint64, intended int64) {
			producer := c.streams[stream].producer.ID
			books.BookUnconfirmed(producer, n, intended, out.Ended)
			if undelivered {
				books.BookUndelivered(producer, n, intended, out.Ended)
			}
		})
	}
}

// eachSent calls visit for the messages that one client has sent of its segments, in order, unless they have no schedule. visit
// gets the stream's index in the client, the message's number in that stream since the trial began, and its intended time. For
// example, a client with two streams has sent messages 0, 1 and 2 of a segment: number 0 of stream 0, 0 of stream 1 and 1 of
// stream 0.
func eachSent(segments []*segment, streams int, visit func(stream int, n uint64, intended int64)) {
	sent := make([]uint64, streams)
	for _, s := range segments {
		for i := range s.next {
			stream := s.turns.Of(i)
			if s.share != nil {
				visit(stream, sent[stream], s.at(i))
			}
			sent[stream]++
		}
	}
}

// bookUndelivered books in t, the trial of all workers, the end-to-end latencies of messages that did not come. It rebuilds the
// segments of each client, because the worker's shard says what the client sent.
func (p Plan) bookUndelivered(t *measure.Trial, load Load, outcomes []Outcome) {
	var ended int64
	for _, o := range outcomes {
		ended = earliest(ended, o.Ended)
	}
	for client := range p.clients() {
		streams := p.streamsOf(client)
		begun, measured, sent := p.sentBy(streams, outcomes)
		if sent == 0 {
			continue
		}
		main := p.newSegment(load.Schedule, client, begun.Start, nil)
		main.next = sent
		segments := []*segment{main}
		if load.Before != nil {
			warmup := p.newSegment(load.Before, client, begun.Start, nil)
			warmup.next = sent - measured
			main.next, main.start = measured, begun.From
			segments = []*segment{warmup, main}
		}
		eachSent(segments, len(streams), func(stream int, n uint64, intended int64) {
			t.BookUndelivered(streams[stream].producer.ID, n, intended, ended)
		})
	}
}

// sentBy returns how many messages the streams of a client have sent, how many of these in the measured phase, and the outcome of the
// worker that sent them.
func (p Plan) sentBy(streams []stream, outcomes []Outcome) (of Outcome, measured, sent int64) {
	own := map[int]bool{}
	for _, s := range streams {
		own[s.producer.ID] = true
	}
	for _, o := range outcomes {
		for _, s := range o.Shard.Sent {
			if own[s.Producer] {
				of, measured, sent = o, measured+int64(s.End-s.Measured), sent+int64(s.End)
			}
		}
	}
	return of, measured, sent
}
