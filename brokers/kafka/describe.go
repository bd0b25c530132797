package kafka

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/internal/driver"
)

// Describe implements driver.Describer. The protocol has no request for a server's version: it is inferred from the requests that
// the server supports. Settings are those that differ from their defaults and are not secret.
func (k *kafka) Describe(ctx context.Context) (driver.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	cluster, err := k.admin.BrokerMetadata(ctx)
	if err != nil {
		return driver.Description{}, fmt.Errorf("asking for the cluster: %w", err)
	}
	d := driver.Description{Product: productOf(cluster.Cluster)}
	if all, err := k.admin.ApiVersions(ctx); err == nil {
		for _, v := range all.Sorted() {
			if v.Err == nil {
				d.Version = cmp.Or(d.Version, versionOf(v.VersionGuess()))
			}
		}
	}
	described, err := k.admin.DescribeBrokerConfigs(ctx, cluster.Brokers.NodeIDs()...)
	if err != nil {
		return d, fmt.Errorf("asking for the brokers' settings: %w", err)
	}
	d.Settings = given(described)
	return d, nil
}

// productOf returns the product by its cluster's name: Redpanda begins it with its own name for this purpose. Other servers with
// Kafka's protocol don't identify themselves.
func productOf(cluster string) string {
	if strings.HasPrefix(cluster, "redpanda.") {
		return "Redpanda"
	}
	return ""
}

// versionOf is the version of Kafka with the same requests: "4.1" or "at least 4.1"; "" if no version has them.
func versionOf(guess string) string {
	return strings.TrimSpace(strings.TrimPrefix(numbers.ReplaceAllString(guess, "$1"), "unknown custom version"))
}

var numbers = regexp.MustCompile(`\bv(\d)`)

// given are the explicitly set settings of the first broker that returns them.
func given(described kadm.ResourceConfigs) map[string]any {
	for _, broker := range described {
		if broker.Err != nil {
			continue
		}
		settings := map[string]any{}
		for _, c := range broker.Configs {
			if c.Value != nil && !c.Sensitive && c.Source != kmsg.ConfigSourceDefaultConfig {
				settings[c.Key] = *c.Value
			}
		}
		return settings
	}
	return nil
}
