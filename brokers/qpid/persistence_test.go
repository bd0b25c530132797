package qpid

import (
	"maps"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/amqp10/amqptest"
	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

func TestAGroupFlushesOnlyWhereThatWasAskedFor(t *testing.T) {
	three := func(p driver.Persistence) driver.Guarantee {
		g := livetest.Guarantee(driver.AtLeastOnce, p, driver.AcksQuorum, driver.Ordered)
		g.Replicas = 3
		return g
	}
	both := func(policy string) map[string]any { return map[string]any{localPolicy: policy, remotePolicy: policy} }
	for name, c := range map[string]struct {
		asked       driver.Guarantee
		given, want map[string]any
	}{
		"one node has no such policy": {asked: amqptest.Ordered},
		"log":                         {asked: three(driver.Log), want: both("WRITE_NO_SYNC")},
		"fsync":                       {asked: three(driver.Fsync), want: both("SYNC")},
		"what the spec says stays": {
			asked: three(driver.Log), given: map[string]any{remotePolicy: "SYNC"},
			want: map[string]any{localPolicy: "WRITE_NO_SYNC", remotePolicy: "SYNC"},
		},
	} {
		if got, err := served(c.asked, c.given); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}
