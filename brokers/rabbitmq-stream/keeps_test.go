package rabbitmqstream

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAStreamMayDropASegmentMoreThanItsLimit(t *testing.T) {
	each := int64(1000 + overhead + besideEntry)
	for _, c := range []struct {
		most, segment int64
		want          driver.Limit
	}{
		{unset, unset, driver.Limit{}},
		{unset, 1000, driver.Limit{}},
		{700_000_000, unset, driver.Limit{Setting: "topicConfig.max-length-bytes: 700000000", Messages: 200_000_000 / each}},
		{100_000, 40_000, driver.Limit{Setting: "topicConfig.max-length-bytes: 100000", Messages: 60_000 / each}},
		{100_000, unset, driver.Limit{Setting: "topicConfig.max-length-bytes: 100000"}},
	} {
		topic := driver.Values{"max-length-bytes": c.most, "stream-max-segment-size-bytes": c.segment, "max-age": time.Duration(0)}
		if got := keeps(nil, topic, 1000); got != c.want {
			t.Errorf("max-length-bytes %d, segments of %d: %+v, want %+v", c.most, c.segment, got, c.want)
		}
	}
}
