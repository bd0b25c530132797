// Package drops lists, of every broker, the server settings by which it drops messages that wait for consumers. A loss by a
// setting that the spec asks for is a result, not a fault of the broker. It doesn't know the limits of topics and queues,
// which the drivers declare.
package drops

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// rule is a server setting with a limit.
type rule struct {
	name  string        // as its users write it; a * stands for any text
	tick  time.Duration // for a limit of age: the unit of a plain number; 0: a limit of the queue's content
	keeps keeps         // of any other limit
	with  []string      // another setting and the beginning of its value, which dropping also needs
	topic string        // the setting of a topic that takes its place
}

// keeps is how many messages of a size a queue holds for certain whose limit is n.
type keeps func(n, size int64) int64

func messages(n, _ int64) int64 { return n }

// bytes limits a queue by payload bytes plus, for each message, at most this many bytes.
func bytes(beside int64) keeps { return func(n, size int64) int64 { return n / (size + beside) } }

// but returns the limit of a broker that also counts messages which consumers hold: received but not yet acknowledged.
func (k keeps) but(held int64) keeps {
	return func(n, size int64) int64 { return max(0, k(n, size)-held) }
}

// wholeQueues returns the limit of a server that drops queues and not single messages.
func wholeQueues(int64, int64) int64 { return 0 }

// backlog returns how much of a quota Pulsar keeps: nine tenths, entry by entry, and an entry may be a batch of up to 128 KiB.
func backlog(n, size int64) int64 { return max(0, n/10*9-128<<10) / (size + 512) }

// credit is how many unsettled messages an AMQP consumer holds by default.
const credit = 1000

var (
	rabbitmq = []rule{
		{name: "default_policies.operator.*.max_length", keeps: messages},
		{name: "default_policies.operator.*.max_length_bytes", keeps: bytes(0)},
		{name: "default_policies.operator.*.message_ttl", tick: time.Millisecond},
	}
	redis    = []rule{{name: "maxmemory", keeps: wholeQueues, with: []string{"maxmemory-policy", "allkeys-"}}}
	dropping = []string{"address-setting.address-full-policy", "DROP"}
	paging   = []string{"address-setting.page-full-message-policy", "DROP"}
	evicting = []string{"backlogQuotaDefaultRetentionPolicy", "consumer_backlog_eviction"}
)

// byBroker has every broker, also those whose servers have no such setting: they refuse messages that don't fit, or let them wait.
var byBroker = map[string][]rule{
	"activemq": nil,
	"artemis": {
		{name: "address-setting.max-size-messages", keeps: keeps(messages).but(credit), with: dropping},
		{name: "address-setting.max-size-bytes", keeps: bytes(4096).but(credit), with: dropping},
		{name: "global-max-messages", keeps: keeps(messages).but(credit), with: dropping},
		{name: "global-max-size", keeps: bytes(4096).but(credit), with: dropping},
		{name: "address-setting.page-limit-messages", keeps: messages, with: paging},
		{name: "address-setting.page-limit-bytes", keeps: bytes(4096), with: paging},
		{name: "address-setting.default-ring-size", keeps: messages, topic: "ring-size"},
		{name: "address-setting.expiry-delay", tick: time.Millisecond},
		{name: "address-setting.max-expiry-delay", tick: time.Millisecond},
	},
	"hivemq": {
		{name: "mqtt.queued-messages.max-queue-size", keeps: messages},
		{name: "mqtt.message-expiry.max-interval", tick: time.Second},
	},
	"jetstream": nil,
	"kafka": {
		{name: "log.retention.bytes", keeps: bytes(512), topic: "retention.bytes"},
		{name: "log.retention.ms", tick: time.Millisecond, topic: "retention.ms"},
		{name: "log.retention.minutes", tick: time.Minute, topic: "retention.ms"},
		{name: "log.retention.hours", tick: time.Hour, topic: "retention.ms"},
	},
	"mosquitto": {
		{name: "max_queued_messages", keeps: messages},
		{name: "max_queued_bytes", keeps: bytes(512)},
	},
	"nats": {{name: "max_pending", keeps: bytes(512)}},
	"nats-streaming": {
		{name: "streaming.store_limits.max_msgs", keeps: messages},
		{name: "streaming.store_limits.max_bytes", keeps: bytes(512)},
		{name: "streaming.store_limits.max_age", tick: time.Nanosecond},
	},
	"pulsar": {
		{name: "backlogQuotaDefaultLimitBytes", keeps: backlog, with: evicting, topic: "backlogQuota.limitSize"},
		{name: "backlogQuotaDefaultLimitGB", keeps: func(n, size int64) int64 { return backlog(n<<30, size) }, with: evicting, topic: "backlogQuota.limitSize"},
		{name: "backlogQuotaDefaultLimitSecond", tick: time.Second, with: evicting},
		{name: "ttlDurationDefaultInSeconds", tick: time.Second, topic: "messageTTLInSeconds"},
	},
	"qpid":            nil,
	"rabbitmq":        rabbitmq,
	"rabbitmq-amqp10": rabbitmq,
	"rabbitmq-mqtt":   rabbitmq,
	"rabbitmq-stream": rabbitmq,
	"redis":           redis,
	"redis-cluster":   redis,
	"redis-pubsub":    nil,
	"rocketmq":        {{name: "fileReservedTime", tick: time.Hour}},
	"sim":             nil,
}

// By returns driver.Kind.ServerKeeps of a broker. It panics if the list lacks the broker.
func By(broker string) func(server, topic map[string]any, size int64) driver.Limit {
	rules, ok := byBroker[broker]
	if !ok {
		panic("drops: nothing is said of " + broker)
	}
	return func(server, topic map[string]any, size int64) (limit driver.Limit) {
		asked := driver.Flatten(server)
		for name, value := range asked {
			i := slices.IndexFunc(rules, func(r rule) bool { match, _ := path.Match(r.name, name); return match })
			if i < 0 {
				continue
			}
			if _, replaced := topic[rules[i].topic]; !replaced && rules[i].drops(asked) {
				limit = limit.Least(rules[i].limit(name, value, size))
			}
		}
		return limit
	}
}

// drops reports whether the server drops anything by the rule, with the settings asked for.
func (r rule) drops(asked map[string]any) bool {
	return r.with == nil || asked[r.with[0]] != nil && strings.HasPrefix(fmt.Sprint(asked[r.with[0]]), r.with[1])
}

// limit returns the limit that a value sets; none for 0, a negative number and text that is no number.
func (r rule) limit(name string, value any, size int64) driver.Limit {
	setting, text := fmt.Sprintf("server.%s: %v", name, value), strings.TrimSpace(fmt.Sprint(value))
	if r.tick == 0 {
		if n := amount(text); n > 0 {
			return driver.Limit{Setting: setting, Messages: r.keeps(n, size)}
		}
		return driver.Limit{}
	}
	age, err := time.ParseDuration(text)
	if n, whole := strconv.ParseInt(text, 10, 64); whole == nil {
		age, err = time.Duration(n)*r.tick, nil
	}
	if err != nil || age <= 0 {
		return driver.Limit{}
	}
	return driver.Limit{AgeSetting: setting, Age: age}
}

// amount reads a number that may have a unit, such as 10M or 64MB, whose thousands may be 1000 to one broker and 1024 to another: the
// queue holds as much for certain as the smaller one says. It is 0 if it is none.
func amount(text string) int64 {
	digits := strings.TrimRight(text, "kKmMgGiIbB ")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	switch unit := strings.ToLower(strings.TrimSpace(text[len(digits):])); {
	case strings.HasPrefix(unit, "k"):
		n *= 1e3
	case strings.HasPrefix(unit, "m"):
		n *= 1e6
	case strings.HasPrefix(unit, "g"):
		n *= 1e9
	}
	return int64(n)
}
