package lab

import (
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/store"
)

// doubtClocks adds doubts if latencies between hosts are uncertain, or if the order of messages is not known.
func doubtClocks(t trial, d *doubts) {
	if t.Unordered > 0 {
		d.add(store.DoubtOrderUnknown, "of %d streams messages came to several agents in an order that is not known: what was reordered is the least there can have been", t.Unordered)
	}
	if t.ClockBound > 0 {
		d.add("clock-bound", "the clocks of the agents are known to each other to ±%s: every end-to-end latency may be off by that, and %d deliveries seem to have come before they were sent%s",
			time.Duration(t.ClockBound), t.Early.Deliveries, timeOfDay(t.Parts))
	}
}

// timeOfDay returns a clause about how exactly each host keeps its time of day. No figure depends on it; it shows beside the bound
// what synchronized clocks alone would give.
func timeOfDay(parts []agent.Part) remark.Remark {
	var hosts []remark.Remark
	seen := map[string]bool{}
	for _, p := range parts {
		if p.Clock == nil || seen[p.Host] {
			continue
		}
		seen[p.Host] = true
		hosts = append(hosts, remark.Of("%s on %s gives ±%s", p.Clock.By, p.Host, p.Clock.Bound))
	}
	if len(hosts) == 0 {
		return remark.Remark{}
	}
	return remark.Of(" (beside it, for the time of day: %s)", remark.List(hosts, ", "))
}

// impossible returns the error that voids a trial in which a message arrived earlier than the uncertainty of the clocks can explain.
func impossible(t trial) error {
	return void("a message seems to have come %s before it was sent, though the clocks of the hosts are known to each other to ±%s: that bound does not hold",
		time.Duration(t.Early.By), time.Duration(t.ClockBound))
}
