package study

import (
	"strings"
	"testing"
)

// What is attached has one version. So points that differ in it stay apart, and say by what the lab tells whether they are about what is attached.
func TestPointsOfSeveralVersionsStayApartWhereABrokerIsAttached(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		set  []string
		want string
	}{
		"the major versions":     {"broker: kafka\naxes: {when: [{name: then, set: {version: 1.1.1}}, {name: now, set: {version: 4.3.1}}]}", []string{"attach=[a:1]"}, "then=1 now=4"},
		"by broker":              {"broker: rabbitmq\naxes: {when: [{name: then, set: {version: {kafka: 2.2.0, rabbitmq: 3.10.8}}}, {name: now, set: {version: {kafka: 4.3.1, rabbitmq: 4.0.5}}}]}", []string{"attach=[a:1]"}, "then=3 now=4"},
		"before a first release": {"broker: nats-streaming\naxes: {when: [{name: then, set: {version: 0.17.0}}, {name: now, set: {version: 0.25.6}}]}", []string{"attach=[a:1]"}, "then=0.17 now=0.25"},
		"as they were written":   {"broker: kafka\nattach: [a:1]\naxes: {when: [{name: then, set: {version: 1.1.1}}, {name: now, set: {version: 4.3}}]}", nil, "then=1.1.1 now=4.3"},
		"one of all":             {"broker: kafka\nversion: 4.3.1\naxes: {when: [{name: then, set: {topics: 1}}, {name: now, set: {topics: 2}}]}", []string{"attach=[a:1]"}, "then= now="},
		"of a flag":              {"broker: kafka\naxes: {when: [{name: then, set: {topics: 1}}, {name: now, set: {topics: 2}}]}", []string{"attach=[a:1]", "version=4.1"}, "then=4.1 now=4.1"},
	} {
		s, err := Parse("f.yaml", []byte(c.doc))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, set := range c.set {
			if err := s.Set(set); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		points, err := s.Points()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, p := range points {
			got = append(got, p.Axes["when"]+"="+p.Spec.Version)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
