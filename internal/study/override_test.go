package study

import (
	"slices"
	"strings"
	"testing"
)

func TestABadFlagIsNamedAndChangesNothing(t *testing.T) {
	const doc = `
axes:
  guarantee:
  - {name: loose, set: {broker: nats}}
  - {name: safe, set: {broker: kafka}}
  topics: [1, 2]
`
	for name, c := range map[string]struct {
		path   string
		values []string // nil: Set(path)
		want   string
	}{
		"no value":         {"topics", nil, `--set 'topics': not a setting; allowed: path=value, such as load.rate=1000`},
		"no path":          {"=5", nil, `--set '=5': not a setting; allowed: path=value, such as load.rate=1000`},
		"unknown":          {"producerRat=5", nil, `--set 'producerRat=5': producerRat: unknown key "producerRat"; did you mean "producerRate"?`},
		"unknown nested":   {"load.rat=5", nil, `--set 'load.rat=5': load.rat: unknown key "rat"; allowed: shape, rate, to, steps, repeat, burst; did you mean "rate"?`},
		"unknown level":    {"laod.rate=5", nil, `--set 'laod.rate=5': laod.rate: unknown key "laod.rate"; did you mean "load.rate"?`},
		"ill-typed":        {"topics=many", nil, `--set 'topics=many': topics: "many" is not a whole number`},
		"no unit":          {"duration=5", nil, `--set 'duration=5': duration: "5" has no unit; allowed: a time such as 5s, 500ms, 1.5m`},
		"empty":            {"topics=", nil, `--set 'topics=': topics: "" is not a whole number`},
		"repeats":          {"repeats=-1", nil, `--set 'repeats=-1': repeats: -1 is out of range; allowed: 1 to 10000`},
		"repeats by words": {"repeats=few", nil, `--set 'repeats=few': repeats: "few" is not a whole number`},
		"no choice":        {"guarantee=saef", nil, `--set 'guarantee=saef': guarantee: "saef" is not one of loose, safe; did you mean "safe"?`},
		"no agreement":     {"broker=sim", nil, `--set 'broker=sim': broker: no choice of the axis "guarantee" agrees; it has loose, safe`},
		"axis: no values":  {"size", []string{}, `--size: no value`},
		"axis: ill-typed":  {"size", []string{"100", "big"}, `--size 100,big: messageSize: "big" is not a size; allowed: bytes such as 100, 1KiB, 1MB`},
		"axis: unknown":    {"sise", []string{"1"}, `--sise 1: sise: unknown key "sise"; did you mean "size"?`},
		"axis: no sweeps":  {"sweep", []string{"a"}, `--sweep a: sweep: unknown key "sweep"; did you mean "sweeps"?`},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, doc)
			var err error
			if c.values == nil {
				err = s.Set(c.path)
			} else {
				err = s.SetAxis("--"+c.path+" "+strings.Join(c.values, ","), c.path, c.values)
			}
			wantError(t, err, c.want)
			if got := ids(t, s); !slices.Equal(got, ids(t, parse(t, doc))) {
				t.Errorf("the study has changed to %v", got)
			}
		})
	}
}

func TestOneSettingInTwoFlagsIsRefused(t *testing.T) {
	const doc = `{rate: 5, axes: {topics: [1, 2], g: [{name: a, set: {tls: on}}, {name: b, set: {tls: off}}]}}`
	for _, c := range []struct{ first, second, path string }{
		{"broker=kafka", "broker=sim", "broker"},
		{"broker=kafka@4.3.1", "version=4.0.0", "version"},
		{"size=100", "messageSize=100", "messageSize"},
		{"client.latency=1ms", "client={latency: 2ms}", "client.latency"},
		{"warmup=2s", "warmup.auto=true", "warmup.auto"},
		{"topics=1", "topics=2", "topics"},
		{"repeats=2", "repeats=3", "repeats"},
		{"g=a", "g=b", "g"},
	} {
		s := parse(t, doc)
		if err := s.Set(c.first); err != nil {
			t.Fatal(err)
		}
		before := ids(t, s)
		name, value, _ := strings.Cut(c.second, "=")
		for range 2 { // the refusal changes nothing
			wantError(t, s.SetAxis("--it", name, []string{value}), "--it: "+c.path+": given twice: --set '"+c.first+"' gives it as well")
		}
		if got := ids(t, s); !slices.Equal(got, before) || s.Repeats == 3 {
			t.Errorf("%s: the study has changed to %v", c.second, got)
		}
	}
	s := New("x")
	for _, set := range []string{"producerRate=0", "measure=sustainable", "warmup=auto", "warmup.max=9s"} { // they agree
		if err := s.Set(set); err != nil {
			t.Error(err)
		}
	}
}

func ids(t *testing.T, s *Study) []string {
	t.Helper()
	var out []string
	for _, p := range expand(t, s) {
		out = append(out, p.ID)
	}
	return out
}

func TestFlagsOverrideAStudy(t *testing.T) {
	type axisFlag struct {
		path   string
		values []string
	}
	for name, c := range map[string]struct {
		doc  string
		set  []string
		axes []axisFlag
		want []string // labels
	}{
		"axes from flags": {"", nil, []axisFlag{{"broker", []string{"kafka", "rabbitmq@4"}}, {"size", []string{"100", "1KiB"}}}, []string{
			"kafka messageSize=100", "kafka messageSize=1KiB", "rabbitmq@4 messageSize=100", "rabbitmq@4 messageSize=1KiB",
		}},
		"one value is no axis":       {"", nil, []axisFlag{{"broker", []string{"kafka"}}}, []string{"kafka sustainable"}},
		"an axis replaced":           {"axes: {topics: [1, 2]}", nil, []axisFlag{{"topics", []string{"3", "4"}}}, []string{"topics=3", "topics=4"}},
		"an axis fixed":              {"axes: {topics: [1, 2], tls: [off, on]}", []string{"topics=9"}, nil, []string{"tls=off", "tls=on"}},
		"an axis by its other name":  {"axes: {size: [10, 20]}", nil, []axisFlag{{"messageSize", []string{"30", "40"}}}, []string{"messageSize=30", "messageSize=40"}},
		"choices by name":            {"axes: {g: [{name: a, set: {topics: 1}}, {name: b, set: {topics: 2}}, {name: c, set: {topics: 3}}]}", []string{}, []axisFlag{{"g", []string{"a", "c"}}}, []string{"a", "c"}},
		"choices by what they set":   {"axes: {g: [{name: a, set: {broker: nats}}, {name: b, set: {broker: kafka}}], topics: [1, 2]}", []string{"broker=kafka"}, nil, []string{"topics=1", "topics=2"}},
		"choices named as a setting": {"axes: {acks: [{name: none, set: {delivery: at-most-once}}, {name: quorum, set: {topics: 2}}], size: [8, 9]}", []string{"acks=none"}, nil, []string{"messageSize=8", "messageSize=9"}},
		"sweeps by broker":           {"sweeps: [{name: a, set: {broker: nats}}, {name: b, set: {broker: kafka}, axes: {topics: [1, 2]}}]", []string{"broker=kafka"}, nil, []string{"topics=1", "topics=2"}},
		"sweeps by name":             {"sweeps: [{name: a}, {name: b, set: {topics: 2}}, {name: c, set: {topics: 3}}]", nil, []axisFlag{{"sweep", []string{"a", "c"}}}, []string{"a", "c"}},
		"native names have dots":     {"", nil, []axisFlag{{"server.num.io.threads", []string{"4", "8"}}}, []string{"server.num.io.threads=4", "server.num.io.threads=8"}},
		"another spelling of topics": {"", nil, []axisFlag{{"topic.queue", []string{"classic", "quorum"}}}, []string{"topicConfig.queue=classic", "topicConfig.queue=quorum"}},
		"on and off":                 {"", nil, []axisFlag{{"tls", []string{"off", "on"}}}, []string{"tls=off", "tls=on"}},
		"search or rate":             {"", nil, []axisFlag{{"producerRate", []string{"0", "500"}}}, []string{"load.rate=sustainable", "load.rate=500"}},
		"warm-ups":                   {"rate: 5", nil, []axisFlag{{"warmup", []string{"auto", "3s"}}}, []string{"warmup=auto", "warmup=3s"}},
		"measures over one rate":     {"rate: 5\nduration: 3s", nil, []axisFlag{{"measure", []string{"rate", "peak", "sustainable"}}}, []string{"rate", "peak", "sustainable"}},
		"a whole list":               {"", []string{"rate=5", "faults=[{at: 1s, do: pause, for: 3s}]", "server.x=a=b", "label=mine"}, nil, []string{"mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("x")
			if c.doc != "" {
				s = parse(t, c.doc)
			}
			for _, x := range c.set {
				if err := s.Set(x); err != nil {
					t.Fatal(err)
				}
			}
			for _, a := range c.axes {
				if err := s.SetAxis("--"+a.path, a.path, a.values); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, p := range expand(t, s) {
				got = append(got, p.Label)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRepeatsAndSeedCanBeOverridden(t *testing.T) {
	s := parse(t, "repeats: 2\nseed: 3")
	for _, x := range []string{"repeats=5", "seed=9"} {
		if err := s.Set(x); err != nil {
			t.Fatal(err)
		}
	}
	if p := expand(t, s)[0]; s.Repeats != 5 || s.Seed != 9 || p.Spec.Seed != 9 {
		t.Errorf("got %d repeats, seeds %d and %d", s.Repeats, s.Seed, p.Spec.Seed)
	}
}
