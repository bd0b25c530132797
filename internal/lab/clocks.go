package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// doubtClocks says how far latencies between hosts may be off, and whether the order of messages is known.
func doubtClocks(t trial, d *doubts) {
	if t.Unordered > 0 {
		d.add(store.DoubtOrderUnknown, "of %d streams messages came to several agents in an order that is not known: what was reordered is the least there can have been", t.Unordered)
	}
	if t.ClockBound == 0 {
		return
	}
	d.add("clock-bound", "the clocks of the agents are known to each other to ±%s: every end-to-end latency may be off by that, and %d deliveries seem to have come before they were sent%s",
		time.Duration(t.ClockBound), t.Early.Deliveries, keptBy(t.Parts))
}

// keptBy says what the hosts' own time of day is right to, which is used for nothing.
func keptBy(parts []agent.Part) remark.Remark {
	var all []remark.Remark
	hosts := map[string]bool{}
	for _, p := range parts {
		if p.Clock == nil || hosts[p.Host] {
			continue
		}
		hosts[p.Host] = true
		all = append(all, remark.Of("%s on %s gives ±%s", p.Clock.By, p.Host, p.Clock.Bound))
	}
	if len(all) == 0 {
		return remark.Remark{}
	}
	return remark.Of(" (beside it, for the time of day: %s)", remark.List(all, ", "))
}

// impossible voids a trial whose messages came earlier than its clocks can explain.
func impossible(t trial) error {
	return void("a message seems to have come %s before it was sent, though the clocks of the hosts are known to each other to ±%s: that bound does not hold",
		time.Duration(t.Early.By), time.Duration(t.ClockBound))
}
