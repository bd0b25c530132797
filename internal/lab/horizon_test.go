package lab

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestARateWhoseWritesFitIntoThePageCacheIsDoubted(t *testing.T) {
	room := pageCacheRoom()
	if room <= 0 {
		testkit.Lacks(t, "the kernel doesn't say how much may wait to be written")
	}
	for name, c := range map[string]struct {
		persistence string
		cost        store.Cost
		want        bool
	}{
		"less than the cache takes":  {"log", store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: room / 2, Bytes: room / 3}, true},
		"more":                       {"log", store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: room + room/2, Bytes: room}, false},
		"flushed before every ack":   {"fsync", store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: room / 2, Bytes: room / 3}, false},
		"not metered":                {"log", store.Cost{BrokerDiskWriteBytes: room / 2, Bytes: room / 3}, false},
		"not known":                  {"log", store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: -1, Bytes: room / 3}, false},
		"only a log of what it does": {"memory", store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: room / 100, Bytes: room / 3}, false},
		"nothing":                    {"memory", store.Cost{BrokerKnown: true}, false},
	} {
		b := &bench{record: &store.Record{}, spec: study.Spec{Persistence: c.persistence}, meters: meters{local: noMeter{}}}
		c.cost.Seconds = 5
		b.doubtHorizon(trial{trialCost: trialCost{Cost: c.cost}})
		if got := len(b.record.Doubts) == 1 && b.record.Doubts[0].Code == "short-horizon"; got != c.want {
			t.Errorf("%s: %v", name, b.record.Doubts)
		}
		if c.want && !strings.Contains(b.record.Doubts[0].Text, " in the 5s that ") {
			t.Error(b.record.Doubts[0].Text)
		}
	}
}

// How much another machine's page cache holds is not known, so nothing is said of it.
func TestABrokerElsewhereIsNotComparedWithThePageCacheOfThisMachine(t *testing.T) {
	b := &bench{record: &store.Record{}, spec: study.Spec{Persistence: "log"}, meters: meters{remote: remoteMeters{fakeMeter{name: "a"}}}}
	b.doubtHorizon(trial{trialCost: trialCost{Cost: store.Cost{BrokerKnown: true, BrokerDiskWriteBytes: 1e6, Bytes: 1e6, Seconds: 5}}})
	if len(b.record.Doubts) > 0 {
		t.Error(b.record.Doubts)
	}
}
