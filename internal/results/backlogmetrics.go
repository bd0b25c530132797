package results

import (
	"math"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// backlogMetrics are latencies of loads in which only some consumers have a backlog. The end-to-end latency itself is that of the
// other consumers while the backlog drains.
var backlogMetrics = []Metric{
	filling.metric("e2e_filling_p50_ns", "e2e filling, p50", 0.5),
	filling.metric(KeyFillingP99, "e2e filling, p99", 0.99),
	filling.metric("e2e_filling_max_ns", "e2e filling, max", 1),
	lagging.metric("e2e_lagging_p50_ns", "e2e lagging, p50", 0.5),
	lagging.metric(KeyLaggingP99, "e2e lagging, p99", 0.99),
	lagging.metric("e2e_lagging_max_ns", "e2e lagging, max", 1),
}

// backlogLatency is an end-to-end latency beside the record's own.
type backlogLatency struct {
	doc string
	of  func(*store.Backlog) hist.Snapshot
}

var (
	filling = backlogLatency{
		"of consumers without a backlog, while that of others was filled", func(b *store.Backlog) hist.Snapshot { return b.FillingEndToEnd },
	}
	lagging = backlogLatency{
		"of consumers with a backlog: how old messages were when they came", func(b *store.Backlog) hist.Snapshot { return b.LaggingEndToEnd },
	}
)

func (l backlogLatency) metric(key, name string, q float64) Metric {
	s := quantile(q)
	of := func(r store.Record) (none hist.Snapshot) {
		if r.Result.Backlog == nil {
			return none
		}
		return l.of(r.Result.Backlog)
	}
	return Metric{
		Key: key, Name: name, Doc: l.doc, Unit: unit.Nanoseconds, Better: Lower, quantile: q, isLatency: true,
		measured: func(r store.Record) float64 { return s.least(of(r)) },
		most:     func(r store.Record) float64 { return s.most(of(r)) },
		few:      func(r store.Record) bool { return s.few(of(r)) },
	}
}

// perSubscription is a rate of deliveries per subscription; unknown if only some subscriptions have a backlog.
func perSubscription(r store.Record, rate float64) float64 {
	if r.Spec.Tails() {
		return math.NaN()
	}
	return rate / float64(r.Spec.SubscriptionsPerTopic)
}
