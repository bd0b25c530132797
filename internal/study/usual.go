package study

import (
	"fmt"
	"strings"

	"github.com/brokermark/brokermark/internal/usual"
)

func usualDelivery() string {
	return atMostOnce + " for " + names(func(d usual.Defaults) bool { return d.NoCopy }) + ", else " + atLeastOnce
}

func usualPersistence() string {
	return memory + " for " + names(func(d usual.Defaults) bool { return d.Persistence == usual.Memory }) +
		", and at most once where there is a choice; else " + log
}

func usualConnections() string {
	words := []string{fmt.Sprintf("0 up to %d topics; above:", fewTopics)}
	words = append(words, "1 for "+names(func(d usual.Defaults) bool { return d.Sharing == usual.AnyNumber })+",")
	for _, broker := range usual.BrokersWith(func(d usual.Defaults) bool { return d.Sharing > 0 && d.Sharing < usual.AnyNumber }) {
		words = append(words, fmt.Sprintf("1 per %d partitions for %s,", usual.Of(broker).Sharing, broker))
	}
	return strings.Join(append(words, "else 0"), " ")
}

// names lists the registered brokers for which are is true.
func names(are func(usual.Defaults) bool) string {
	if all := usual.BrokersWith(are); len(all) > 0 {
		return strings.Join(all, ", ")
	}
	return "none"
}
