package exchange

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/store"
)

// doubts say how the numbers of a file differ from ours, and what isn't known. data is what the file holds. A file that
// ToOMB wrote brings the record's own doubts along.
func (o OMB) doubts(name string, data []byte) []store.Doubt {
	var doubts []store.Doubt
	add := func(code, text string) { doubts = append(doubts, store.Doubt{Code: code, Text: text}) }
	file := fmt.Sprintf("%s (sha256 %s…)", inLine(name), digest(data))
	if own := o.Brokermark; own != nil {
		add("imported", fmt.Sprintf("exported by brokermark from repetition %d of point %s: %s",
			own.Repetition, inLine(own.PointID), file))
	} else {
		add("imported", "numbers of the OpenMessaging Benchmark, not measured by brokermark: "+file)
		add("omb-end-to-end", "end-to-end latency comes from the message's own timestamp, with most drivers in whole "+
			"milliseconds, and samples of 0 are left out: every percentile is too high where many messages take less than "+
			"a millisecond")
	}
	if o.closedLoop() {
		add("omb-latency", "latency is that of a closed loop: it says how full the client's window or the backlog was, and "+
			"is no latency under a load")
	} else {
		add("omb-latency", "latency is counted from the actual send, so a stall is charged to the few messages that were "+
			"sent into it; latency from the intended time is unknown")
	}
	add("omb-no-ledger", "the file has no account of each message: loss, duplicates and order are unknown")
	add("omb-rebuilt", "histograms are rebuilt from the published quantile tables, their counts from the mean rates")
	add("omb-unstated", "the file doesn't say the guarantee, subscriptions, load asked for, versions or host")
	if failed := o.failedSends(); failed > 0 && !o.Brokermark.doubts("failed-sends") {
		add("failed-sends", fmt.Sprintf("about %.0f sends failed", failed))
	}
	if o.Brokermark != nil {
		for _, d := range o.Brokermark.Doubts {
			if !slices.ContainsFunc(doubts, func(known store.Doubt) bool { return known.Code == d.Code }) {
				doubts = append(doubts, d)
			}
		}
	}
	return doubts
}

// doubts tells whether the record had a doubt with a code. It had none if there is no record.
func (o *Origin) doubts(code string) bool {
	return o != nil && slices.ContainsFunc(o.Doubts, func(d store.Doubt) bool { return d.Code == code })
}
