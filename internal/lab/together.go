package lab

import "github.com/brokermark/brokermark/internal/store"

// together returns a trial that stands for several at one rate: the last that passed, with the counts, latencies, pauses and costs of the
// others added. For example, of three trials of 20 s at 10,000/s, one of which failed by its latency, it has 600,000 messages in 60 s. The
// one that passed would by itself show the latency of a time in which the broker did well. Samples, series and streams are those of passed.
func together(passed trial, others []trial) trial {
	all := passed
	all.before = others
	for _, t := range others {
		all.Measured.Add(t.Measured)
		all.Histograms.Merge(t.Histograms)
		all.BacklogMax = max(all.BacklogMax, t.BacklogMax)
		all.Cost = costTogether(all.Cost, t.Cost)
	}
	return all
}

// each returns the trials whose figures t has, one by one: what disturbed one of them is a doubt about all. The first still has the counts and
// latencies of all.
func (t trial) each() []trial {
	last := t
	last.before = nil
	return append([]trial{last}, t.before...)
}

// costTogether returns what two trials used one after the other. What is not known of one is not known of both.
func costTogether(a, b store.Cost) store.Cost {
	a.BrokerKnown = a.BrokerKnown && b.BrokerKnown
	a.BrokerUserSeconds += b.BrokerUserSeconds
	a.BrokerSystemSeconds += b.BrokerSystemSeconds
	a.BrokerRSSBytes = max(a.BrokerRSSBytes, b.BrokerRSSBytes)
	a.BrokerDiskWriteBytes = sumOfKnown(a.BrokerDiskWriteBytes, b.BrokerDiskWriteBytes)
	a.BrokerDiskReadBytes = sumOfBoth(a.BrokerDiskReadBytes, b.BrokerDiskReadBytes)
	a.BrokerFlushes = sumOfBoth(a.BrokerFlushes, b.BrokerFlushes)
	a.BrokerDataGrowthBytes = sumOfKnown(a.BrokerDataGrowthBytes, b.BrokerDataGrowthBytes)
	a.GeneratorUserSeconds += b.GeneratorUserSeconds
	a.GeneratorSystemSeconds += b.GeneratorSystemSeconds
	a.GeneratorRSSBytes = max(a.GeneratorRSSBytes, b.GeneratorRSSBytes)
	a.GeneratorGCPauseNs += b.GeneratorGCPauseNs
	a.Seconds += b.Seconds
	a.Messages += b.Messages
	a.Bytes += b.Bytes
	if a.Sides != nil && b.Sides != nil {
		a.Sides = &store.Sides{Producing: sideTogether(a.Sides.Producing, b.Sides.Producing), Consuming: sideTogether(a.Sides.Consuming, b.Sides.Consuming)}
	}
	if a.Relays != nil && b.Relays != nil {
		a.Relays = new(sideTogether(*a.Relays, *b.Relays))
	}
	return a
}

func sideTogether(a, b store.Side) store.Side {
	return store.Side{UserSeconds: a.UserSeconds + b.UserSeconds, SystemSeconds: a.SystemSeconds + b.SystemSeconds, RSSBytes: max(a.RSSBytes, b.RSSBytes)}
}

// pausesTogether returns the pauses of two trials. The longest pause, and when it began, are those of one of them.
func pausesTogether(a, b store.Pauses) store.Pauses {
	longest := a
	if b.LongestNs > a.LongestNs {
		longest = b
	}
	return store.Pauses{
		Late: a.Late.Merge(b.Late), Relays: a.Relays.Merge(b.Relays),
		LongestNs: longest.LongestNs, LongestOffsetNs: longest.LongestOffsetNs,
		GCPauseNs: a.GCPauseNs + b.GCPauseNs, StolenSeconds: a.StolenSeconds + b.StolenSeconds, QueuedSeconds: a.QueuedSeconds + b.QueuedSeconds,
	}
}

// sumOfKnown returns the sum of two counts of which −1 stands for one that is not known.
func sumOfKnown(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

func sumOfBoth(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
