package kafka

import (
	"fmt"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// besideRecord is the most that a log stores besides a payload: a batch of one record, with its key.
const besideRecord = 512

// keeps implements driver.Kind.Keeps. A partition's log is cut by whole segments, read or not, if the rest still holds
// retention.bytes; a batch is stored as it was sent, so compressed logs hold more messages than returned here.
func keeps(_, topic driver.Values, size int64) driver.Limit {
	var limit driver.Limit
	if ms, err := strconv.ParseInt(topic.String("retention.ms"), 10, 64); err == nil && ms >= 0 {
		limit = driver.OldAge("retention.ms", ms, time.Duration(ms)*time.Millisecond)
	}
	if n, err := strconv.ParseInt(topic.String("retention.bytes"), 10, 64); err == nil && n >= 0 {
		limit = limit.Least(driver.Limit{Setting: fmt.Sprintf("topicConfig.retention.bytes: %d", n), Messages: n / (size + besideRecord)})
	}
	return limit
}
