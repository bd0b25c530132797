package driver

import (
	"fmt"
	"time"
)

// Limit is what a queue or stream may drop by settings that a spec asks for: what is beyond so many messages, or older than
// Age. Its loss is a result and no fault of the broker.
type Limit struct {
	Setting    string        // "topicConfig.x-max-length: 1000"; empty: no limit to the number
	Messages   int64         // it never drops one while it holds no more than these
	AgeSetting string        // "topicConfig.x-message-ttl: 1000"; empty: no limit to the age
	Age        time.Duration // it never drops one that has waited for less
}

// Given tells that something is limited.
func (l Limit) Given() bool { return l.Setting != "" || l.AgeSetting != "" }

// Least is the stricter of two limits, of number and of age.
func (l Limit) Least(o Limit) Limit {
	if l.Setting == "" || o.Setting != "" && o.Messages < l.Messages {
		l.Setting, l.Messages = o.Setting, o.Messages
	}
	if l.AgeSetting == "" || o.AgeSetting != "" && o.Age < l.Age {
		l.AgeSetting, l.Age = o.AgeSetting, o.Age
	}
	return l
}

// OldAge is the limit of a topic's setting that drops what has waited for so long.
func OldAge(name string, value any, age time.Duration) Limit {
	return Limit{AgeSetting: fmt.Sprintf("%s.%s: %v", TopicScope, name, value), Age: age}
}
