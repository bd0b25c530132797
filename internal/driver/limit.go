package driver

import (
	"fmt"
	"time"
)

// Limit is the bound beyond which a queue or stream may drop messages because of settings in a spec: more than so many messages,
// or messages older than Age. Such a loss is a result and no fault of the broker.
type Limit struct {
	Setting    string        // "topicConfig.x-max-length: 1000"; empty: no limit to the number
	Messages   int64         // it never drops a message while it holds at most this many
	AgeSetting string        // "topicConfig.x-message-ttl: 1000"; empty: no limit to the age
	Age        time.Duration // it never drops a message that has waited for less
}

// Given reports whether anything is limited.
func (l Limit) Given() bool { return l.Setting != "" || l.AgeSetting != "" }

// Least combines two limits: the stricter one of each kind.
func (l Limit) Least(o Limit) Limit {
	if l.Setting == "" || o.Setting != "" && o.Messages < l.Messages {
		l.Setting, l.Messages = o.Setting, o.Messages
	}
	if l.AgeSetting == "" || o.AgeSetting != "" && o.Age < l.Age {
		l.AgeSetting, l.Age = o.AgeSetting, o.Age
	}
	return l
}

// Fullest is the strictest of topic settings that drop messages from a full queue: each bounds units of which a message takes so many.
// A value below least is no bound.
func Fullest(topic Values, least int64, units map[string]int64) (limit Limit) {
	for name, each := range units {
		if n := topic.Int(name); n >= least {
			limit = limit.Least(Limit{Setting: fmt.Sprintf("%s: %d", TopicScope.path(name), n), Messages: n / each})
		}
	}
	return limit
}

// OldAge is the limit of a topic setting that drops messages of this age.
func OldAge(name string, value any, age time.Duration) Limit {
	return Limit{AgeSetting: fmt.Sprintf("%s: %v", TopicScope.path(name), value), Age: age}
}
