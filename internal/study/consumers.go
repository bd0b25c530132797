package study

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Consumers is how many consumers share each subscription of a topic: one number for all of them, or one for each.
type Consumers []int

// Of is the number of consumers that share a subscription.
func (c Consumers) Of(subscription int) int {
	switch len(c) {
	case 0:
		return 0
	case 1:
		return c[0]
	}
	return c[subscription]
}

// Largest is the number of consumers of the subscription with the most.
func (c Consumers) Largest() int {
	if len(c) == 0 {
		return 0
	}
	return slices.Max(c)
}

// Smallest is the number of consumers of the subscription with the fewest.
func (c Consumers) Smallest() int {
	if len(c) == 0 {
		return 0
	}
	return slices.Min(c)
}

// ConsumersPerTopic counts the consumers of all subscriptions of a topic.
func (s Spec) ConsumersPerTopic() (n int) {
	if len(s.ConsumerPerSubscription) == 1 {
		return s.SubscriptionsPerTopic * s.ConsumerPerSubscription[0]
	}
	for _, of := range s.ConsumerPerSubscription {
		n += of
	}
	return n
}

// String is 3, or 3+2 if subscriptions differ.
func (c Consumers) String() string { return strings.Join(texts(c, strconv.Itoa), "+") }

func (c Consumers) text() string {
	if len(c) == 1 {
		return plural(c[0], "consumer")
	}
	return c.String() + " consumers"
}

// MarshalJSON writes one number as a number, several as the string 3+2.
func (c Consumers) MarshalJSON() ([]byte, error) {
	if len(c) > 1 {
		return json.Marshal(c.String())
	}
	return json.Marshal(c.Of(0))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Consumers) UnmarshalJSON(data []byte) error {
	text, err := unquoted(data)
	if err != nil {
		return err
	}
	if *c = nil; text == "0" || text == "null" {
		return nil
	}
	return c.parse(text)
}

func (c *Consumers) parse(text string) error {
	for part := range strings.SplitSeq(text, "+") {
		n, err := wholeNumber(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*c = append(*c, int(n))
	}
	return nil
}

// consumers decodes a number, or one for each subscription: 3+2.
func (d decoder) consumers(n *yaml.Node, path string, v reflect.Value) bool {
	if !isScalar(n) {
		hint := either(n.Kind == yaml.SequenceNode, "; several values belong under axes, and the consumers of several subscriptions are written 3+2", "")
		d.add(d.at(n), path, "%s is not a whole number%s", Seen(n), hint)
		return false
	}
	text := strings.TrimSpace(n.Value)
	var c Consumers
	if err := c.parse(text); err != nil {
		if strings.Contains(text, "+") {
			err = fmt.Errorf("%q is not a number for each subscription, such as 3+2", text)
		}
		d.add(d.at(n), path, "%v", err)
		return false
	}
	v.Set(reflect.ValueOf(c))
	return true
}

// subscriptions decodes a number, or the properties of each subscription: [{consumers: 3}, {consumers: 2}].
func (d decoder) subscriptions(w written) []setting {
	if w.n.Kind != yaml.SequenceNode {
		return takes(func(_ decoder, w written, count int) []setting {
			return []setting{w.says("subscriptionsPerTopic", count)}
		})(d, w)
	}
	var each Consumers
	for i, item := range w.n.Content {
		item = resolve(item)
		if item.Kind != yaml.MappingNode {
			d.add(d.at(item), w.full, "a list with %s in it; allowed: a whole number, or a list of {consumers: 3}; several values belong under axes", Seen(item))
			return nil
		}
		one := struct {
			Consumers int `json:"consumers"`
		}{1}
		if !d.into(item, element(w.full, i), &one) {
			return nil
		}
		each = append(each, one.Consumers)
	}
	if len(each) == 0 {
		d.add(d.at(w.n), w.full, "no subscription in the list; allowed: 0 for none, or a list of {consumers: 3}")
		return nil
	}
	return []setting{
		w.says("subscriptionsPerTopic", len(each)),
		{path: "consumerPerSubscription", value: each, at: d.at(w.n.Content[0]), as: w.name},
	}
}
