package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/brokermark/brokermark/internal/testkit"
)

// modelAxis is an axis as a document writes it and what its values are called.
type modelAxis struct {
	name   string
	values []string
	named  bool // choices of producers
}

// modelSweep is one cross product with the combinations that it leaves out.
type modelSweep struct {
	name    string
	set     map[string]string
	axes    []modelAxis
	exclude []map[string][]string // axis: values
}

func (a modelAxis) yaml() string {
	if !a.named {
		return fmt.Sprintf("%s: [%s]", a.name, strings.Join(a.values, ", "))
	}
	var choices []string
	for _, v := range a.values {
		choices = append(choices, fmt.Sprintf("{name: %s, set: {producersPerTopic: %s}}", v, strings.TrimPrefix(v, "c")))
	}
	return fmt.Sprintf("%s: [%s]", a.name, strings.Join(choices, ", "))
}

func inBraces[T any](list []T, yaml func(T) string) string {
	var out []string
	for _, e := range list {
		out = append(out, yaml(e))
	}
	return strings.Join(out, ", ")
}

func rulesOf(rules []map[string][]string) string {
	return "[" + inBraces(rules, func(r map[string][]string) string {
		return "{" + inBraces(slices.Sorted(maps.Keys(r)), func(name string) string {
			if len(r[name]) == 1 {
				return name + ": " + r[name][0]
			}
			return fmt.Sprintf("%s: [%s]", name, strings.Join(r[name], ", "))
		}) + "}"
	}) + "]"
}

var axisPool = []modelAxis{
	{"topics", []string{"1", "2", "3"}, false},
	{"partitionsPerTopic", []string{"4", "5"}, false},
	{"messageSize", []string{"10", "1kB", "1KiB"}, false},
	{"delivery", []string{"at-most-once", "at-least-once"}, false},
	{"client.batch", []string{"1", "x", "0.5"}, false},
	{"how", []string{"c7", "c8", "c9"}, true},
}

func drawAxes(t *rapid.T, most int) []modelAxis {
	var axes []modelAxis
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(axisPool)-1), 0, most, rapid.ID[int]).Draw(t, "axes") {
		a := axisPool[i]
		a.values = slices.Clone(a.values[:rapid.IntRange(1, len(a.values)).Draw(t, "values")])
		axes = append(axes, a)
	}
	return axes
}

func drawRules(t *rapid.T, axes []modelAxis) []map[string][]string {
	var rules []map[string][]string
	if len(axes) == 0 {
		return nil
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		r := map[string][]string{}
		for _, a := range axes[:rapid.IntRange(1, len(axes)).Draw(t, "conditions")] {
			r[a.name] = a.values[:rapid.IntRange(1, len(a.values)).Draw(t, "of")]
		}
		rules = append(rules, r)
	}
	return rules
}

// cell is what a point has to be: its axes, and the values that make it what it is.
type cell struct {
	label string
	axes  map[string]string
}

// cells are the points of the sweep in order, the last axis turning fastest.
func (w modelSweep) cells(several bool) (out []cell) {
	combinations := []map[string]string{{}}
	for _, a := range w.axes {
		var more []map[string]string
		for _, c := range combinations {
			for _, v := range a.values {
				c := maps.Clone(c)
				c[a.name] = v
				more = append(more, c)
			}
		}
		combinations = more
	}
	for _, c := range combinations {
		dropped := slices.ContainsFunc(w.exclude, func(r map[string][]string) bool {
			for name, values := range r {
				if !slices.Contains(values, c[name]) {
					return false
				}
			}
			return true
		})
		if dropped {
			continue
		}
		var words []string
		if several {
			words = append(words, w.name)
		}
		for _, a := range w.axes {
			switch {
			case len(a.values) == 1:
			case a.named:
				words = append(words, c[a.name])
			default:
				words = append(words, a.name+"="+c[a.name])
			}
		}
		if w.name != "" {
			c["sweep"] = w.name
		}
		label := strings.Join(words, " ")
		if label == "" {
			label = "kafka@4 sustainable"
		}
		out = append(out, cell{label, c})
	}
	return out
}

func drawStudy(t *rapid.T) (doc string, sweeps []modelSweep) {
	common := drawAxes(t, 2)
	rules := drawRules(t, common)
	lines := []string{"broker: kafka@4", "axes: {" + inBraces(common, modelAxis.yaml) + "}", "exclude: " + rulesOf(rules)}
	n := rapid.IntRange(0, 3).Draw(t, "sweeps")
	if n == 0 {
		return strings.Join(lines, "\n"), []modelSweep{{axes: common, exclude: rules}}
	}
	lines = append(lines, "sweeps:")
	for i := range n {
		w := modelSweep{name: fmt.Sprintf("s%d", i), set: map[string]string{"consumers": fmt.Sprint(i + 1)}}
		own := drawAxes(t, 2)
		ownRules := drawRules(t, own)
		for _, a := range common {
			if !slices.ContainsFunc(own, func(o modelAxis) bool { return o.name == a.name }) {
				w.axes = append(w.axes, a)
			}
		}
		w.axes, w.exclude = append(w.axes, own...), append(slices.Clone(rules), ownRules...)
		sweeps = append(sweeps, w)
		lines = append(lines, fmt.Sprintf("- {name: %s, set: {consumers: %d}, axes: {%s}, exclude: %s}", w.name, i+1, inBraces(own, modelAxis.yaml), rulesOf(ownRules)))
	}
	return strings.Join(lines, "\n"), sweeps
}

// ruled tells whether every axis that a rule speaks of is in every sweep: else what it excludes depends on defaults.
func ruled(sweeps []modelSweep) bool {
	for _, w := range sweeps {
		for _, r := range w.exclude {
			for name := range r {
				if !slices.ContainsFunc(w.axes, func(a modelAxis) bool { return a.name == name }) {
					return false
				}
			}
		}
	}
	return true
}

func TestAStudyHasEveryCombinationThatNoRuleExcludes(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		doc, sweeps := drawStudy(t)
		if !ruled(sweeps) {
			t.Skip("a rule without its axis")
		}
		var want []cell
		for _, w := range sweeps {
			want = append(want, w.cells(len(sweeps) > 1)...)
		}
		s, err := Parse("f.yaml", []byte(doc))
		if err != nil {
			t.Fatalf("%s\n%v", doc, err)
		}
		points, err := s.Points()
		if len(want) == 0 {
			if err == nil || !strings.Contains(err.Error(), "no point is left") {
				t.Fatalf("%s\n%d points, %v", doc, len(points), err)
			}
			return
		}
		if err != nil || len(points) != len(want) {
			t.Fatalf("%s\n%d points, want %d: %v", doc, len(points), len(want), err)
		}
		for i, p := range points {
			if p.Label != want[i].label || p.Spec.Label != p.Label || !maps.Equal(p.Axes, want[i].axes) {
				t.Fatalf("%s\npoint %d is %q, %v; want %q, %v", doc, i, p.Label, p.Axes, want[i].label, want[i].axes)
			}
			for name, v := range want[i].axes {
				if name == "sweep" || name == "how" {
					continue
				}
				if got := settingOf(p, name); got != v {
					t.Fatalf("%s\npoint %d, %s: %q in the spec, want %q", doc, i, name, got, v)
				}
			}
		}
	})
}

// settingOf reads the settings of axisPool off a spec.
func settingOf(p Point, name string) string {
	switch name {
	case "topics":
		return fmt.Sprint(p.Spec.Topics)
	case "partitionsPerTopic":
		return fmt.Sprint(p.Spec.PartitionsPerTopic)
	case "messageSize":
		return p.Spec.MessageSize.String()
	case "delivery":
		return p.Spec.Delivery
	}
	return fmt.Sprint(p.Spec.Client["batch"])
}

func TestAPlanListsEveryAxisOnceWithAllItsValues(t *testing.T) {
	s := parse(t, "axes: {topics: [1, 2]}\nsweeps:\n- {name: a, axes: {size: [10, 20]}}\n- {name: b, axes: {size: [20, 30], topics: [3]}}")
	want := "[{topics [1 2 3]} {messageSize [10 20 30]}]"
	if got := fmt.Sprint(s.Axes()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestASettingIsBlamedWhereItWasWritten(t *testing.T) {
	s := parse(t, "topics: 2\naxes:\n  size: [10, 20]\nload:\n  rate: 5\n")
	if err := s.Set("producers=3"); err != nil {
		t.Fatal(err)
	}
	p := expand(t, s)[1]
	for path, want := range map[string]string{"topics": "f.yaml:1", "messageSize": "f.yaml:3", "load": "f.yaml:5", "load.rate": "f.yaml:5", "producersPerTopic": "--set 'producers=3'", "nodes": ""} {
		if got := p.Where(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	by := expand(t, parse(t, "broker: kafka\nversion: {kafka: 2.2.0, rabbitmq: 3.10.8}\n"))[0]
	if got := by.Where("version"); got != "f.yaml:2" {
		t.Errorf("a version by broker: %q, want f.yaml:2", got)
	}
	if got := (Point{}).Where("topics"); got != "" {
		t.Errorf("a point of no study: %q", got)
	}
}

func TestExplicitPointsAreToldApartByWhatTheySet(t *testing.T) {
	s := parse(t, "name: st\npoints:\n- {topics: 2, size: 1KiB}\n- {label: mine, topics: 3}\n- {name: own, producerRate: 0}\n- {broker: kafka@4}\n")
	var got []string
	for _, p := range expand(t, s) {
		got = append(got, fmt.Sprintf("%s|%s|%v", p.Spec.Name, p.Label, p.Axes))
	}
	want := []string{
		"st|topics=2 messageSize=1KiB|map[messageSize:1KiB topics:2]", "st|mine|map[topics:3]", "own|nats sustainable|map[]",
		"st|broker=kafka version=4|map[broker:kafka version:4]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
