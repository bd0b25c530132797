package lab

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

func TestTheTimeToConnectGrowsWithTheTopology(t *testing.T) {
	for topics, want := range map[int]time.Duration{
		1:         time.Minute + 30*time.Millisecond,
		1000:      90 * time.Second,
		10_000:    6 * time.Minute,
		1_000_000: time.Hour,
	} {
		spec := study.Defaults()
		spec.Topics = topics
		b := &bench{spec: spec, record: &store.Record{PointID: "0123456789abcdef"}}
		if got := b.plan().Connect; got != want {
			t.Errorf("%d topics: %s, want %s", topics, got, want)
		}
	}
}
