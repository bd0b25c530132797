package measure

// Tally is a count for each phase.
type Tally [phases]int64

// negative reports whether the count of a phase is below 0, which only damaged data can show.
func (t Tally) negative() bool { return min(t[Warmup], t[Measured]) < 0 }

// Counts are the counters of a trial beside its ledgers.
type Counts struct {
	Sent, Bytes, Acked, Failed, Unsent, Resent, Received, Corrupted, Stale, Untimed Tally
}

// counts reads the counters; it may be called at any time.
func (t *Trial) counts() Counts {
	var c Counts
	for i := range t.lanes {
		l := &t.lanes[i]
		for phase := range phases {
			c.Sent[phase] += l.sent[phase].Load()
			c.Bytes[phase] += l.sentBytes[phase].Load()
			c.Acked[phase] += l.acked[phase].Load()
			c.Failed[phase] += l.failed[phase].Load()
			c.Unsent[phase] += l.unsent[phase].Load()
			c.Resent[phase] += l.resent[phase].Load()
			c.Received[phase] += l.received[phase].Load()
			c.Corrupted[phase] += l.corrupted[phase].Load()
			c.Stale[phase] += l.stale[phase].Load()
			c.Untimed[phase] += l.untimed[phase].Load()
		}
	}
	return c
}

// addCounts adds c to the counters of the lane.
func (l *lane) addCounts(c Counts) {
	for phase := range phases {
		l.sent[phase].Add(c.Sent[phase])
		l.sentBytes[phase].Add(c.Bytes[phase])
		l.acked[phase].Add(c.Acked[phase])
		l.failed[phase].Add(c.Failed[phase])
		l.unsent[phase].Add(c.Unsent[phase])
		l.resent[phase].Add(c.Resent[phase])
		l.received[phase].Add(c.Received[phase])
		l.corrupted[phase].Add(c.Corrupted[phase])
		l.stale[phase].Add(c.Stale[phase])
		l.untimed[phase].Add(c.Untimed[phase])
	}
}

// negative reports whether a counter is below 0, which only a damaged shard can show.
func (c Counts) negative() bool {
	for _, tally := range []Tally{c.Sent, c.Bytes, c.Acked, c.Failed, c.Unsent, c.Resent, c.Received, c.Corrupted, c.Stale, c.Untimed} {
		if tally.negative() {
			return true
		}
	}
	return false
}

// Count is a momentary view of the counters, all phases together.
type Count struct{ Sent, Bytes, Acked, Failed, Received int64 }

// Count reads the live counters; it may be called at any time. It reads outcomes before what was sent, so that neither Received nor
// Acked + Failed ever exceeds what the messages sent allow.
func (t *Trial) Count() Count {
	var c Count
	for i := range t.lanes {
		for phase := range phases {
			l := &t.lanes[i]
			c.Received += l.received[phase].Load()
			c.Acked += l.acked[phase].Load()
			c.Failed += l.failed[phase].Load()
		}
	}
	for i := range t.lanes {
		for phase := range phases {
			c.Sent += t.lanes[i].sent[phase].Load()
			c.Bytes += t.lanes[i].sentBytes[phase].Load()
		}
	}
	return c
}
