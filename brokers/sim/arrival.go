package sim

import "github.com/brokermark/brokermark/internal/driver"

// parcel is a stored payload on its way to every subscription of a topic.
type parcel struct {
	topic     *topic
	partition int
	copies    int
	chunk     *chunk
	at, n     uint32 // n is marked, see withHeaders
	held      int64  // since when it waits for the neighbour it changes places with
}

// heldAtMost bounds that wait: the last message of a stream has no later neighbour.
const heldAtMost = second

// accept takes the messages of batch for which there is room, in order, and returns their number.
func (b *broker) accept(p *producer, batch []driver.Message) (n int, err error) {
	b.mu.Lock()
	if b.isKilled() {
		b.mu.Unlock()
		return 0, errKilled
	}
	if b.cut {
		b.mu.Unlock()
		return 0, errCut
	}
	at := now()
	if b.origin == 0 {
		b.origin = at
	}
	arrival := b.freezes.broker(b.elapsed(at))
	for n < len(batch) && b.hasRoom(p, &batch[n]) {
		b.take(p, &batch[n], arrival)
		n++
	}
	p.waiting = n < len(batch)
	wake := b.server.wakeFor(b.wall(arrival + b.soonest(p)))
	b.mu.Unlock()
	if wake {
		b.server.wake()
	}
	return n, nil
}

func (b *broker) isKilled() bool {
	select {
	case <-b.killed:
		return true
	default:
		return false
	}
}

// soonest returns the least time from arrival to the server's first action for a message of p.
func (b *broker) soonest(p *producer) int64 {
	if p.atMostOnce {
		return b.delay.least()
	}
	return min(b.delay.least(), int64(b.settings.ackLatency))
}

func (b *broker) hasRoom(p *producer, m *driver.Message) bool {
	s := &b.settings
	if s.window > 0 && p.unacked >= s.window {
		return false
	}
	t := p.topics[m.Topic]
	if s.queueLimit > 0 && s.queueFull == fullBlocks && int64(t.backlog()) >= s.queueLimit {
		return false
	}
	return b.memory.fits(p.sized(m), b.waiting*entryBytes)
}

// take decides the whole fate of one message.
func (b *broker) take(p *producer, m *driver.Message, arrival int64) {
	s, t := &b.settings, p.topics[m.Topic]
	departure := b.service.serve(arrival)
	b.stats.arrived(departure)
	full := s.queueLimit > 0 && int64(t.backlog()) >= s.queueLimit
	failed := b.hit(s.fail) || full && s.queueFull == fullRejects
	if !p.atMostOnce {
		p.acks.push(ack{due: departure + int64(s.ackLatency), slot: m.Slot, failed: failed})
		p.unacked++
		b.stats.MaxUnacked = max(b.stats.MaxUnacked, p.unacked)
	}
	switch {
	case failed:
		b.stats.Failed++
		return
	case b.hit(s.loss):
		b.stats.Lost++
		return
	case full:
		b.stats.Dropped++
		return
	case len(t.subscriptions) == 0:
		return
	}
	c := parcel{topic: t, partition: t.partition(m.Key), copies: 1}
	c.chunk, c.at, c.n = p.store(m)
	if n := c.n &^ withHeaders; b.hit(s.corrupt) && n > 0 {
		c.chunk.buf[c.at+n-1] ^= 0x10
		b.stats.Corrupted++
	}
	if b.hit(s.duplicate) {
		c.copies = 2
		b.stats.Duplicated++
	}
	held, isHeld := p.held[m.Topic]
	switch {
	case isHeld && held.partition == c.partition:
		b.dispatch(&c, departure)
		b.stats.Reordered++
		b.letGo(p, m.Topic, departure)
	case !isHeld && b.hit(s.reorder):
		c.held = departure
		c.chunk.refs++
		p.held[m.Topic] = c
	default:
		b.dispatch(&c, departure)
	}
}

// hit reports whether the arriving message is an every-th one.
func (b *broker) hit(every int64) bool { return every > 0 && b.stats.Arrived%every == 0 }

// dispatch puts a parcel into the queue of every subscription.
func (b *broker) dispatch(c *parcel, departure int64) {
	for _, s := range c.topic.subscriptions {
		due := departure + b.delay.draw()
		for n := range c.copies {
			q := s.queues[(c.partition+n*c.topic.partitions)%len(s.queues)]
			q.push(entry{due: due + int64(n)*int64(b.settings.again), chunk: c.chunk, at: c.at, n: c.n})
		}
	}
	added := c.copies * len(c.topic.subscriptions)
	c.chunk.refs += added
	b.waiting += int64(added)
}

// letGo dispatches the parcel that is held of a topic.
func (b *broker) letGo(p *producer, topic int, departure int64) {
	held := p.held[topic]
	b.dispatch(&held, departure)
	b.memory.release(held.chunk)
	delete(p.held, topic)
}
