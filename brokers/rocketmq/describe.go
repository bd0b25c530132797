package rocketmq

import (
	"context"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
)

// shown are the settings that matter for persistence and speed.
var shown = []string{
	flushing, offHeap, "brokerRole", "brokerClusterName", "autoCreateTopicEnable", "flushIntervalCommitLog", "groupCommitTimeout",
	"sendMessageThreadPoolNums", "defaultTopicQueueNums", "maxMessageSize", "popConsumerKVServiceEnable", "storeType",
}

// Describe implements driver.Describer. It asks the broker, since the proxy doesn't describe itself.
func (s *session) Describe(ctx context.Context) (driver.Description, error) {
	d := driver.Description{Product: "rocketmq"}
	running, err := s.admin.runtime(ctx)
	if err != nil {
		return d, err
	}
	d.Version = strings.ReplaceAll(strings.TrimPrefix(running["brokerVersionDesc"], "V"), "_", ".") // V5_5_0
	said, err := s.admin.settings(ctx)
	if err != nil {
		return d, err
	}
	d.Settings = map[string]any{}
	for _, name := range shown {
		if value, ok := said[name]; ok {
			d.Settings[name] = value
		}
	}
	return d, nil
}
