package study

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const sized = `
name: sized
repeats: 3
base: {broker: sim, measure: peak, duration: 15s}
axes:
  when: [{name: then, set: {seed: 2}}, {name: now, set: {seed: 3}}]
sweeps:
- {name: a, axes: {client.batch.size: {from: 10, to: 50, step: 10}, topics: [1, 2, 3]}}
- {name: b, set: {measure: count, count.bytes: 1GB}, axes: {messageSize: [100, 1000]}}
scales:
  quick:
    repeats: 2
    set: {duration: 2s, warmup: 1s}
    axes: {when: [now], topics: [1, 3]}
    sweeps:
      a: {axes: {client.batch.size: [10, 50]}, exclude: [{client.batch.size: 50, topics: 3}]}
      b: {set: {count.bytes: 20MB}}
`

func at(t *testing.T, name string) (*Study, []Point) {
	t.Helper()
	s, err := Parse("f.yaml", []byte(sized))
	if err == nil {
		err = s.Scale(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	return s, points
}

func TestAScaleChangesTheStudyAndFullIsTheDocumentAsWritten(t *testing.T) {
	s, full := at(t, Full)
	if len(full) != 2*(5*3)+2*2 || s.Repeats != 3 || s.AtScale() != Full || full[0].Spec.Duration != seconds(15) {
		t.Errorf("full: %d points, %d repetitions, scale %s, %s", len(full), s.Repeats, s.AtScale(), full[0].Spec.Duration)
	}
	s, quick := at(t, "quick")
	var got []string
	for _, p := range quick {
		got = append(got, p.Label)
		if p.Axes["when"] != "now" || p.Spec.Seed != 3 {
			t.Errorf("%s: %v", p.Label, p.Axes)
		}
	}
	want := []string{
		"a client.batch.size=10 topics=1", "a client.batch.size=10 topics=3", "a client.batch.size=50 topics=1", "b messageSize=100", "b messageSize=1kB",
	}
	if !slices.Equal(got, want) || s.Repeats != 2 || s.AtScale() != "quick" {
		t.Errorf("quick: %q, %d repetitions, scale %s", got, s.Repeats, s.AtScale())
	}
	if a, b := quick[0].Spec, quick[4].Spec; a.Duration != seconds(2) || a.Warmup.For != seconds(1) || b.Count.Bytes != 20_000_000 || b.Warmup.For != 0 {
		t.Errorf("what the scale sets: %s, %s, %s, %s", a.Duration, a.Warmup.For, b.Count.Bytes, b.Warmup.For)
	}
}

func TestFlagsGoBeforeAScale(t *testing.T) {
	s, _ := at(t, "quick")
	if err := s.Only([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"duration=7s", "topics=9"} {
		if err := s.Set(set); err != nil {
			t.Fatal(err)
		}
	}
	points, err := s.Points()
	if err != nil || points[0].Spec.Duration != seconds(7) || points[0].Spec.Topics != 9 {
		t.Errorf("%v, %+v", err, points)
	}
}

func TestTheScaleIsPartOfNoIdentity(t *testing.T) {
	_, full := at(t, Full)
	s, _ := at(t, "quick")
	for _, set := range []string{"duration=15s", "warmup=5s"} {
		if err := s.Set(set); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Only([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if !slices.ContainsFunc(full, func(o Point) bool { return o.ID == p.ID }) {
			t.Errorf("%s is no point of the full study, though nothing is left of the scale", p.Label)
		}
	}
}

func TestOnlyLeavesTheNamedExperiments(t *testing.T) {
	s, _ := at(t, "quick")
	if err := s.Only([]string{"b"}); err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil || len(points) != 2 || points[0].Axes["sweep"] != "b" {
		t.Errorf("%v, %+v", err, points)
	}
}

func TestUnknownScalesAndExperimentsAreRefused(t *testing.T) {
	s, _ := at(t, Full)
	for _, c := range []struct {
		err  error
		want string
	}{
		{s.Scale("quik"), `--scale quik: sized has no such scale; allowed: full, quick; did you mean "quick"?`},
		{s.Only([]string{"b", "c"}), `--only b,c: sized has no experiment "c"; allowed: a, b`},
		{New("plain").Scale("quick"), "--scale quick: plain has no such scale; allowed: full"},
		{New("plain").Only([]string{"a"}), "plain has no experiments with names"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v\nwant %s", c.err, c.want)
		}
	}
}

func TestAScaleThatDoesNotFitTheStudyIsRefused(t *testing.T) {
	for from, c := range map[string]struct{ to, want string }{
		"  quick:\n":           {"  full:\n", "scales.full: full is the document as it is written"},
		"    repeats: 2\n":     {"    repeats: 0\n", "scales.quick.repeats: 0 is out of range"},
		"when: [now]":          {"when: [today]", `scales.quick.axes.when: "today" is not one of then, now`},
		"topics: [1, 3]":       {"partitions: [1, 3]", "scales.quick.axes.partitions: no sweep has such an axis"},
		"set: {duration: 2s":   {"set: {topics: 2", "topics is an axis of a; a scale chooses its values under axes"},
		"      b: {set":        {"      c: {set", "scales.quick.sweeps.c: no sweep has that name"},
		"a: {axes":             {"a: {axis", `scales.quick.sweeps.a.axis: unknown key "axis"; allowed: set, axes, exclude; did you mean "axes"?`},
		"batch.size: [10, 50]": {"batch.size: []", "no value is left"},
	} {
		_, err := Parse("f.yaml", []byte(strings.Replace(sized, from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.to, err, c.want)
		}
	}
}

func TestAVersionMayDependOnTheBroker(t *testing.T) {
	doc := `
measure: peak
axes:
  broker: [kafka, rabbitmq]
  when: [{name: then, set: {version: {kafka: 3.9.2, rabbitmq: 3.10.8}}}, {name: now, set: {version: {kafka: 4.3.1, rabbitmq: 4.0.5}}}]
`
	expand := func(doc string, flags ...string) (string, error) {
		s, err := Parse("f.yaml", []byte(doc))
		if err != nil {
			return "", err
		}
		for _, f := range flags {
			path, value, _ := strings.Cut(f, "=")
			if err := s.SetAxis("--"+path, path, []string{value}); err != nil {
				return "", err
			}
		}
		points, err := s.Points()
		var got []string
		for _, p := range points {
			got = append(got, p.Axes["when"]+" "+p.Spec.Broker+"@"+p.Spec.Version)
		}
		return strings.Join(got, ", "), err
	}
	if got, err := expand(doc); got != "then kafka@3.9.2, now kafka@4.3.1, then rabbitmq@3.10.8, now rabbitmq@4.0.5" {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := expand(doc, "broker=kafka"); got != "then kafka@3.9.2, now kafka@4.3.1" {
		t.Errorf("one broker: %s, %v", got, err)
	}
	if got, err := expand(doc, "when=now", "broker=kafka"); got != "now kafka@4.3.1" {
		t.Errorf("one version: %s, %v", got, err)
	}
	_, err := expand(strings.Replace(doc, "[kafka, rabbitmq]", "[kafka, nats]", 1))
	if err == nil || !strings.Contains(err.Error(), "f.yaml:5: version: none for nats; given for kafka, rabbitmq") {
		t.Errorf("a broker without a version: %v", err)
	}
}

func TestPayloadsComeWithTheStudy(t *testing.T) {
	s, err := Parse("f.yaml", []byte("{measure: peak, payloadFile: letters.txt}"))
	if err != nil {
		t.Fatal(err)
	}
	s.Files = fstest.MapFS{"letters.txt": {Data: []byte("ABCDEFGHIJKLMNOP")}}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	p := points[0]
	if p.Spec.PayloadFile != "letters.txt" || p.Spec.PayloadDigest == "" || p.Spec.MessageSize.String() != "16" || string(p.Payloads[0]) != "ABCDEFGHIJKLMNOP" {
		t.Errorf("%+v, %q", p.Spec, p.Payloads)
	}
}
