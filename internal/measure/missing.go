package measure

// A message that never came has a latency, too: at least the time from when it was intended to the end of the wait for it. The methods
// below book that, as censored values. Call them for each message with a schedule, once, when nothing is sent or received any more. For
// example, messages were intended at 1 s and at 2 s, and the wait for them ended at 9 s. If neither came, their latencies are at least 8
// and 7 s.

// BookUnconfirmed books a publish latency for message n of a producer, counted from the first of the trial, if it failed or has no
// outcome. It was intended at a time and waited for until end, ns on the clock's axis.
func (t *Trial) BookUnconfirmed(producer int, n uint64, intended, end int64) {
	if s := &t.streams[producer]; s.unconfirmed.has(n) {
		t.countersOf(producer).publish[s.phase(n)].RecordCensored(end-intended, 1)
	}
}

// BookUndelivered books an end-to-end latency for message n of a producer for each subscription that has not received it, likewise.
func (t *Trial) BookUndelivered(producer int, n uint64, intended, end int64) {
	s := &t.streams[producer]
	for i := range s.ledgers {
		l := &s.ledgers[i]
		if l.seen.has(n) {
			continue
		}
		c := t.countersOf(producer)
		h := &c.endToEnd
		if l.lags {
			h = &c.endToEndLagging
		}
		h[s.phase(n)].RecordCensored(end-intended, 1)
	}
}
