package rabbitmqstream

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	usualSegment = 500_000_000 // bytes, the server's default
	besideEntry  = 128         // bytes that a chunk of one entry stores beside the message
)

// keeps implements driver.Kind.Keeps. A stream drops whole segments, the oldest first, delivered or not, so that it may
// keep one segment less than the limit.
func keeps(_, topic driver.Values, size int64) driver.Limit {
	most, segment := topic.Int("max-length-bytes"), topic.Int("stream-max-segment-size-bytes")
	var limit driver.Limit
	if age := topic.Duration("max-age"); age > 0 {
		limit = driver.OldAge("max-age", age, age)
	}
	if most == unset {
		return limit
	}
	if segment == unset {
		segment = usualSegment
	}
	return limit.Least(driver.Limit{
		Setting: fmt.Sprintf("topicConfig.max-length-bytes: %d", most), Messages: max(0, most-segment) / (size + overhead + besideEntry),
	})
}
