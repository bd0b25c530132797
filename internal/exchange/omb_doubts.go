package exchange

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/store"
)

// doubts say how the numbers of a file differ from ours, and what isn't known. data is what the file holds. A file that
// ToOMB wrote brings the record's own doubts along.
func (o OMB) doubts(name string, data []byte) []store.Doubt {
	var doubts []store.Doubt
	add := func(kind *doubt.Kind, text string) { doubts = append(doubts, store.DoubtOf(kind, text)) }
	file := fmt.Sprintf("%s (sha256 %s…)", inLine(name), digest(data))
	if own := o.Brokermark; own != nil {
		add(doubt.Imported, fmt.Sprintf("exported by brokermark from repetition %d of point %s: %s",
			own.Repetition, inLine(own.PointID), file))
	} else {
		add(doubt.Imported, "numbers of the OpenMessaging Benchmark, not measured by brokermark: "+file)
		add(doubt.OMBEndToEnd, "end-to-end latency comes from the message's own timestamp, with most drivers in whole "+
			"milliseconds, and samples of 0 are left out: every percentile is too high where many messages take less than "+
			"a millisecond")
	}
	if o.closedLoop() {
		add(doubt.OMBLatency, "latency is that of a closed loop: it says how full the client's window or the backlog was, and "+
			"is no latency under a load")
	} else {
		add(doubt.OMBLatency, "latency is counted from the actual send, so a stall is charged to the few messages that were "+
			"sent into it; latency from the intended time is unknown")
	}
	add(doubt.OMBNoLedger, "the file has no account of each message: loss, duplicates and order are unknown")
	add(doubt.OMBRebuilt, "histograms are rebuilt from the published quantile tables, their counts from the mean rates")
	add(doubt.OMBUnstated, "the file doesn't say the guarantee, subscriptions, load asked for, versions or host")
	if failed := o.failedSends(); failed > 0 && !o.Brokermark.doubts(doubt.FailedSends) {
		add(doubt.FailedSends, fmt.Sprintf("about %.0f sends failed", failed))
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

// doubts reports whether the record had a doubt of a kind. It had none if there is no record.
func (o *Origin) doubts(kind *doubt.Kind) bool {
	return o != nil && slices.ContainsFunc(o.Doubts, func(d store.Doubt) bool { return d.Is(kind) })
}
