package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Side says to which part a Native belongs.
type Side string

// The sides, in the order in which they are listed.
const (
	ProducerSide Side = "producer"
	ConsumerSide Side = "consumer"
	TopicSide    Side = "topic" // or queue, stream, exchange
	ServerSide   Side = "server"
)

// Native is a setting by which a product implements a guarantee, under its native name.
type Native struct {
	Side  Side
	Name  string // "acks", "flush.messages", "durable"
	Value string // "all"; empty where it isn't a value but something done, such as "publisher confirms"
	// When names the words under which it is set, if a row of the matrix has several: "ordered", "replicas 3".
	When string
}

// TopicNatives are the arguments with which a topic is declared.
func TopicNatives(arguments map[string]any) (list []Native) {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		list = append(list, Native{Side: TopicSide, Name: name, Value: fmt.Sprint(arguments[name])})
	}
	return list
}

// String writes the setting as name=value: acks=all.
func (n Native) String() string {
	text := n.Name
	if n.Value != "" {
		text += "=" + n.Value
	}
	if n.When == "" {
		return text
	}
	if remarked, ok := strings.CutSuffix(text, ")"); ok {
		return remarked + "; " + n.When + ")"
	}
	return text + " (" + n.When + ")"
}

// NativeText writes settings in one line, grouped by side: "producer: acks=all, retries=0; topic: flush.messages=1".
func NativeText(list []Native) string {
	var parts []string
	for _, side := range []Side{ProducerSide, ConsumerSide, TopicSide, ServerSide} {
		var words []string
		for _, n := range list {
			if n.Side == side {
				words = append(words, n.String())
			}
		}
		if words != nil {
			parts = append(parts, string(side)+": "+strings.Join(words, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
