package driver

import (
	"strings"
	"testing"
)

func TestATopicOfSomebodyElseIsRefusedBeforeAConnection(t *testing.T) {
	fine := Kind{Name: "k", Supports: func(Guarantee) error { return nil }, Marks: "/"}
	takes := fine
	takes.Found = func(_ Config, s Shape) error {
		if s.Past {
			return Unsupported("read.from: start", "it keeps nothing")
		}
		return nil
	}
	for name, c := range map[string]struct {
		kind  Kind
		shape Shape
		want  string
	}{
		"a driver that uses none":   {fine, Shape{Topic: "orders"}, "topicName: orders is not supported: the driver of k uses only what it has made"},
		"one that does":             {takes, Shape{Topic: "orders"}, ""},
		"but not from its start":    {takes, Shape{Topic: "orders", Past: true}, "read.from: start is not supported: it keeps nothing"},
		"a prefix":                  {fine, Shape{Prefix: "mine."}, ""},
		"a prefix with its mark":    {fine, Shape{Prefix: "mine/"}, ""},
		"a prefix with other marks": {fine, Shape{Prefix: "mine:"}, `topicPrefix: mine: is not supported: a name here has no ":"`},
	} {
		err := c.kind.Refusal(Config{}, c.shape)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}
