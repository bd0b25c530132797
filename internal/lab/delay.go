package lab

import "time"

// busyConsumers is the share of their time that consumers spend with consumerDelay from which they are the limit.
const busyConsumers = 0.8

// delayed is the share of its time that the average consumer spent with consumerDelay, while it was sent to or while a
// backlog drained; 0: there is none.
func (b *bench) delayed(t trial) float64 {
	s := b.spec
	_, received, _ := t.flow()
	if d := t.Backlog; d.To > d.From {
		received = float64(d.Received) / seconds(d.From, d.To)
	}
	n := len(consumers(s))
	if n == 0 {
		return 0
	}
	return received * time.Duration(s.ConsumerDelay).Seconds() / float64(n)
}

// slowConsumers states that the consumers' own work was the limit.
func (b *bench) slowConsumers(t trial, d *doubts) {
	if share := b.delayed(t); share > busyConsumers {
		d.add("consumer-bound", "the consumers spent %.0f %% of the time with their consumerDelay of %s: they, not the broker, set the pace", 100*min(1, share), b.spec.ConsumerDelay)
	}
}
