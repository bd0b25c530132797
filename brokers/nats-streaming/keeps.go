package natsstreaming

import (
	"fmt"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/natsio"
	"github.com/brokermark/brokermark/internal/driver"
)

// besideMessage is the most that a channel counts beside a payload: the message's subject, sequence and time.
const besideMessage = 512

// serverKeeps implements driver.Kind.ServerKeeps: a full channel drops its oldest messages, whoever has them still to get.
func serverKeeps(server map[string]any, size int64) driver.Limit {
	const limits = block + "store_limits."
	var limit driver.Limit
	for name, value := range natsio.Flatten(server) {
		setting, text := fmt.Sprintf("server.%s: %v", name, value), fmt.Sprint(value)
		switch name {
		case limits + "max_age":
			if age, err := time.ParseDuration(text); err == nil && age > 0 {
				limit = limit.Least(driver.Limit{AgeSetting: setting, Age: age})
			}
		case limits + "max_msgs", limits + "max_bytes":
			each := int64(1)
			if name == limits+"max_bytes" {
				each = size + besideMessage
			}
			if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 { // 0: no limit
				limit = limit.Least(driver.Limit{Setting: setting, Messages: n / each})
			}
		}
	}
	return limit
}
