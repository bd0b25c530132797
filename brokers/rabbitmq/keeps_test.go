package rabbitmq

import (
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAQueueMayDropWhatItsLimitsDontKeep(t *testing.T) {
	for _, c := range []struct {
		length, bytes int64
		overflow      string
		ttl           int64 // ms
		want          driver.Limit
	}{
		{unset, unset, "", unset, driver.Limit{}},
		{1000, unset, "", unset, driver.Limit{Setting: "topicConfig.x-max-length: 1000", Messages: 1000}},
		{0, unset, "drop-head", unset, driver.Limit{Setting: "topicConfig.x-max-length: 0"}},
		{1000, 5000, "", unset, driver.Limit{Setting: "topicConfig.x-max-length-bytes: 5000", Messages: 50}},
		{10, 5000, "", unset, driver.Limit{Setting: "topicConfig.x-max-length: 10", Messages: 10}},
		{1000, 5000, "reject-publish", unset, driver.Limit{}},
		{unset, unset, "reject-publish", 400, driver.OldAge("x-message-ttl", 400, 400*time.Millisecond)}, // who waited too long was not refused
	} {
		topic := driver.Values{"x-max-length": c.length, "x-max-length-bytes": c.bytes, "x-overflow": c.overflow, "x-message-ttl": c.ttl, "x-expires": unset}
		if got := keeps(nil, topic, 100); got != c.want {
			t.Errorf("x-max-length %d, x-max-length-bytes %d, x-overflow %q: %+v, want %+v", c.length, c.bytes, c.overflow, got, c.want)
		}
	}
}
