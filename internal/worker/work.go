package worker

import "time"

// work simulates the application of one producer (Plan.ProducerDelay): a server that works on one message after the other. It
// begins when a message is due and the one before it has been handed over, and hands the message to the client library when the
// work is done. The library then holds it, in Send or because its window is full:
//
//	ready(k) = max(due(k), free(k−1)) + delay
//	free(k)  = ready(k) + held(k)
//
// In a closed loop a message is due as soon as the producer is free. These times are computed from the work alone, so that late
// timers don't add up: with 1 ms of work for each message, 1,000 are sent within a second, also if each wake-up is 0.1 ms late.
type work struct {
	freeAt   int64 // when the work on the next message can begin, ns on the clock's axis
	began    int64 // when the work on the trial's first message began
	readyAt  int64 // when the work on the last message that was sent was done
	messages int64 // that were sent
}

// done notes that the work on a message was done at ready, and that the message is sent now.
func (w *work) done(ready, delay int64) {
	if w.messages == 0 {
		w.began = ready - delay
	}
	w.freeAt, w.readyAt = ready, ready
	w.messages++
}

// busyShare returns for which share of its time a producer worked, from when the work on its first message began until that on the last one
// was done. It is 0 if it sent nothing, or without a delay.
func (w *work) busyShare(delay time.Duration) float64 {
	if w.messages == 0 || delay == 0 {
		return 0
	}
	return float64(w.messages) * float64(delay) / float64(w.readyAt-w.began)
}

// delay returns how long a producer works on each message, in ns.
func (c *client) delay() int64 { return int64(c.worker.plan.ProducerDelay) }

// readyAt returns when a message of a segment can be sent: at its intended time, or when the work on it is done.
func (c *client) readyAt(s *segment, message, intended int64) int64 {
	delay := c.delay()
	if delay == 0 {
		return intended
	}
	free := c.streams[s.turns.Of(message)].work.freeAt
	if s.share == nil {
		return free + delay
	}
	return max(intended, free) + delay
}

// ready counts the messages of a segment that can be sent now, up to most: those that are due and, if there is a delay, those of
// different producers that have been worked on.
func (c *client) ready(s *segment, now int64, most int) int {
	if c.delay() == 0 {
		return s.due(now, most)
	}
	due := s.due(now, min(most, len(c.streams)))
	for i := range due {
		message := s.next + int64(i)
		intended := now
		if s.share != nil {
			intended = s.at(message)
		}
		if c.readyAt(s, message, intended) > now {
			return i
		}
	}
	return due
}

// beginWork lets the producers begin to work when a segment starts.
func (c *client) beginWork(s *segment) {
	for i := range c.streams {
		w := &c.streams[i].work
		w.freeAt = max(w.freeAt, s.start)
	}
}

// resumeWork lets the producers of the last n messages of a segment continue. The library held these messages since they were
// ready: for h, and before that while they waited for slots. In a closed loop they make up for a late wake-up only as far as a
// timer may be late, and not for time in which the process stood still.
func (c *client) resumeWork(s *segment, n int, h hold) {
	if c.delay() == 0 {
		return
	}
	held := c.waited + h.held()
	c.waited = 0
	for message := s.next - int64(n); message < s.next; message++ {
		w := &c.streams[s.turns.Of(message)].work
		w.freeAt = min(w.freeAt+held, h.ended)
		if s.share == nil {
			w.freeAt = max(w.freeAt, h.ended-maxCatchUp)
		}
	}
}

// workLeft returns when the work could have been done on a message that was never sent and is intended at a time; before messages
// of the segment come before it.
func (c *client) workLeft(s *segment, before, intended int64) int64 {
	delay := c.delay()
	if delay == 0 {
		return intended
	}
	ready := c.readyAt(s, s.next, intended)
	return max(ready, c.streams[s.turns.Of(s.next)].work.freeAt+delay*(1+before/int64(len(c.streams))))
}
