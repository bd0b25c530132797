package driver

import (
	"errors"
	"testing"
)

// What a complaint is about is data, never read out of its words.
func TestAComplaintKnowsWhereItsSettingStands(t *testing.T) {
	settings := []Setting{{Scope: ClientScope, Name: "linger.ms", Default: int64(5)}, {Scope: TopicScope, Name: "max-age", Default: int64(1)}}
	decode := func(scope Scope, given map[string]any) error {
		_, err := Decode(settings, scope, given)
		return err
	}
	for want, err := range map[string]error{
		"delivery":            Unsupported("delivery: exactly-once", "no"),
		"attach":              Unsupported("attach", "no"),
		"client.linger.ms":    decode(ClientScope, map[string]any{"linger.ms": "often"}),
		"client.lingers":      decode(ClientScope, map[string]any{"lingers": 5}),
		"topicConfig.max-age": decode(TopicScope, map[string]any{"max-age": "old"}),
		"topicConfig.max.age": decode(TopicScope, map[string]any{"max.age": 5}),
		"topicConfig.a.b":     Unsupported("topic.a.b: 9", "no"),
		"client.a.b":          Unsupported("client.a.b: 9", "no"),
	} {
		var about interface{ SettingPath() string }
		if !errors.As(err, &about) || about.SettingPath() != want {
			t.Errorf("%v: about %v, want %s", err, about, want)
		}
	}
}
