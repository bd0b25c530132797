package mqtt

import (
	"fmt"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	sharedSetting = "shared"
	whereKept     = "auto" // shared where that keeps the guarantee
)

func sharingSettings(p *Product) []driver.Setting {
	if !p.Shares {
		return nil
	}
	s := driver.Setting{Scope: driver.TopicScope, Name: sharedSetting, Default: true, Doc: "consumers of a subscription share it ($share/subscription/topic); false: a plain subscription, which has one consumer"}
	if p.SharedQueue != nil {
		s.Default, s.Allowed = whereKept, []string{whereKept, "true", "false"}
		s.Doc += "; auto: shared where that keeps the guarantee"
	}
	return []driver.Setting{s}
}

// shared reports whether subscriptions are shared ones.
func shared(p *Product, g driver.Guarantee, topic driver.Values) bool {
	switch {
	case !p.Shares:
		return false
	case p.SharedQueue == nil:
		return topic.Bool(sharedSetting)
	case topic.String(sharedSetting) == whereKept:
		return unshared(p, g) == ""
	}
	return topic.String(sharedSetting) == "true"
}

// unshared returns why a shared subscription can't keep the guarantee, or "".
func unshared(p *Product, g driver.Guarantee) string {
	if p.SharedQueue == nil {
		return ""
	}
	return p.SharedQueue(g)
}

func (d *driving) shared() bool { return shared(d.product, d.config.Guarantee, d.config.Topic) }

// filter returns the topic filter of a subscription's consumers.
func (d *driving) filter(c driver.ConsumerConfig) string {
	if d.shared() {
		return "$share/" + d.subscriptions[c.Subscription] + "/" + d.topics[c.Topic]
	}
	return d.topics[c.Topic]
}

// share implements driver.Kind.Share.
func share(p *Product, g driver.Guarantee, topic driver.Values, consumers, partitions int) error {
	asked := fmt.Sprintf("consumerPerSubscription: %d", consumers)
	switch {
	case consumers > 1 && !p.Shares:
		return driver.Unsupported(asked, "%s has no shared subscriptions over MQTT: every consumer would get every message, so a subscription has one", p.Name)
	case consumers > 1 && unshared(p, g) != "":
		return driver.Unsupported(asked, "%s; of a plain subscription every consumer gets every message, so it has one", unshared(p, g))
	case consumers > 1 && !shared(p, g, topic):
		return driver.Unsupported(asked, "with topicConfig.shared: false every consumer gets every message, so a subscription has one")
	}
	return driver.TakeTurns(g, topic, consumers, partitions)
}
