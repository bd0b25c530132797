package kafka

import (
	"slices"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/reach"
	"github.com/brokermark/brokermark/internal/driver"
)

// younger are topic configurations newer than Kafka 2.2.
var younger = []string{
	"compression.gzip.level", "compression.lz4.level", "compression.zstd.level", "local.retention.bytes", "local.retention.ms",
	"max.compaction.lag.ms", "message.timestamp.after.max.ms", "message.timestamp.before.max.ms", "remote.storage.enable",
}

// fitsVersion refuses settings newer than a known version. A broker before 3.0 can't be asked for the outcome of a transaction
// whose commit was not answered (DescribeTransactions).
func fitsVersion(c driver.Config) error {
	version := c.Target.Version
	if reach.Before(version, 4, 0) && c.Client.String("group.protocol") == brokerGroups {
		return driver.Unsupported("client.group.protocol: consumer", "Kafka %s has no such groups in use; 4.0 and later do", version)
	}
	if reach.Before(version, 4, 2) && shares(c.Client) {
		return driver.Unsupported("client.group.protocol: "+shareGroups, "Kafka %s has no share groups in use; 4.2 and later do", version)
	}
	if !onZooKeeper(version) {
		return nil
	}
	if c.Guarantee.Delivery == driver.ExactlyOnce {
		return driver.Unsupported("delivery: exactly-once", "Kafka %s can't report the outcome of a commit whose answer was lost; since 3.0 it can", version)
	}
	if strings.HasPrefix(version, "1.") && c.Client.String("compression.type") == "zstd" {
		return driver.Unsupported("client.compression.type: zstd", "Kafka %s doesn't know it; 2.1 and later do", version)
	}
	for name := range c.Topic {
		if c.Topic.String(name) != "" && slices.Contains(younger, name) {
			return driver.Unsupported("topicConfig."+name, "Kafka %s has no topic configuration of that name", version)
		}
	}
	return nil
}
