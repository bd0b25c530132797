package qpid

import (
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// besideMessage is the most that a queue counts beside a payload: the message's header and properties.
const besideMessage = 512

// keeps implements driver.Kind.Keeps. A full queue drops its oldest messages only as a RING; other policies refuse, or make
// producers wait.
func keeps(_, topic driver.Values, size int64) driver.Limit {
	var limit driver.Limit
	if n := topic.Int("maximumMessageTtl"); n != unset {
		limit = driver.OldAge("maximumMessageTtl", n, time.Duration(n)*time.Millisecond)
	}
	if topic.String("overflowPolicy") != "RING" {
		return limit
	}
	return limit.Least(driver.Fullest(topic, 0, map[string]int64{"maximumQueueDepthMessages": 1, "maximumQueueDepthBytes": size + besideMessage}))
}
