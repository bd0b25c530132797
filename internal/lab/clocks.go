package lab

import "time"

// doubtClocks says how far latencies between hosts may be off.
func doubtClocks(t trial, d *doubts) {
	if t.ClockBound == 0 {
		return
	}
	d.add("clock-bound", "the clocks of the hosts are known to each other to ±%s: every end-to-end latency may be off by that, and %d deliveries seem to have come before they were sent",
		time.Duration(t.ClockBound), t.Early.Deliveries)
}

// impossible voids a trial whose messages came earlier than its clocks can explain.
func impossible(t trial) error {
	return void("a message seems to have come %s before it was sent, though the clocks of the hosts are known to each other to ±%s: that bound does not hold",
		time.Duration(t.Early.By), time.Duration(t.ClockBound))
}
