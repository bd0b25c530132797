package lab

// busyConsumers is the share of its time with consumerDelay from which the busiest consumer is the limit. The busiest, not
// the average: brokers give all messages of a partition, or of a subscription, to one of several consumers.
const busyConsumers = 0.8

// slowConsumers states that a consumer's own work was the limit.
func (b *bench) slowConsumers(t trial, d *doubts) {
	if t.Working > busyConsumers {
		d.add("consumer-bound", "the busiest consumer spent %.0f %% of the time with its consumerDelay of %s: it, not the broker, set the pace", 100*min(1, t.Working), b.spec.ConsumerDelay)
	}
}
