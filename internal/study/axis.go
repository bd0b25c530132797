package study

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// axis is a setting that varies, or a named choice of several settings.
type axis struct {
	name   string // canonical path, or the name of the choice
	named  bool   // choices have names of their own
	at     place
	values []choice
	rank   int
}

// choice is one value of an axis.
type choice struct {
	label string
	set   layer
}

// indexOf is the index of the axis of that name, or -1.
func indexOf(axes []axis, name string) int {
	return slices.IndexFunc(axes, func(a axis) bool { return a.name == name })
}

// sets reports whether any value of the axis gives path.
func (a axis) sets(path string) bool {
	return slices.ContainsFunc(a.values, func(c choice) bool {
		_, ok := c.set.find(path)
		_, byBroker := c.set.find(versionByBroker)
		return ok || path == "version" && byBroker
	})
}

// rule excludes the combinations in which all its conditions hold.
type rule []condition

type condition struct {
	name   string   // of an axis of named choices; "" where values are settings
	labels []string // of that axis
	any    []layer  // one of these
	says   sayings  // the texts of any, by their paths; labels, by ""
	at     place
	path   string
}

// known reports whether path can be set.
func known(path string) bool {
	if o, ok := otherName(path); ok {
		return o.settings != nil || known(o.path)
	}
	p := layout()
	_, isLeaf := p.leaves[path]
	_, isGroup := p.groups[path]
	_, isNative := p.native[groupOf(path)]
	return isLeaf || isGroup && path != "" || isNative && strings.Contains(path, ".")
}

// canonical is the name of the axis over path.
func canonical(path string) string {
	if o, ok := otherName(path); ok && path != "warmup" && path != "place" && o.path != "" {
		return o.path
	}
	return path
}

// AxisName is the name under which points carry the axis that a document calls path.
func AxisName(path string) string { return canonical(path) }

func (d decoder) axes(n *yaml.Node, path string) []axis {
	if isNull(n) {
		return nil
	}
	if !d.isMapping(n, path, " of settings to lists of values") {
		return nil
	}
	var out []axis
	for _, p := range d.pairs(n, path) {
		a, ok := d.axis(p, path)
		if !ok {
			continue
		}
		if i := indexOf(out, a.name); i >= 0 {
			d.add(a.at, join(path, p.key), "given twice: the axis%s means the same", onLine(out[i].at))
			continue
		}
		out = append(out, a)
	}
	return out
}

func (d decoder) axis(p pair, path string) (axis, bool) {
	full := join(path, p.key)
	a := axis{name: canonical(p.key), at: d.at(p.keyNode), rank: rankAxes}
	before := len(d.found)
	items := d.items(p.value, full)
	notChoice := func(n *yaml.Node) bool { return !isChoice(n, known(p.key)) }
	switch {
	case len(items) > 0 && !slices.ContainsFunc(items, notChoice):
		a.named = true
		a.values = d.choices(items, full)
	case len(items) > 0 && !known(p.key):
		d.unknown(a.at, p.key, path, nil)
		return a, false
	default:
		for _, item := range items {
			if set := d.settings(item, item, p.key, path, nil); len(set) > 0 {
				a.values = append(a.values, choice{labelOf(set), set})
			}
		}
	}
	if len(a.values) == 0 && len(d.found) == before {
		d.add(a.at, full, "no value; allowed: a list of values, or {from, to, step}")
	}
	return a, len(items) > 0
}

// isChoice distinguishes a {name, set} from the value of a setting; on an axis that is no setting, any mapping is taken for a choice.
func isChoice(n *yaml.Node, setting bool) bool {
	if n.Kind != yaml.MappingNode || !setting {
		return n.Kind == yaml.MappingNode
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == "set" {
			return true
		}
	}
	return false
}

// items are the nodes of an axis's values, with {from, to, step} expanded.
func (d decoder) items(n *yaml.Node, full string) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		out := make([]*yaml.Node, len(n.Content))
		for i, c := range n.Content {
			out[i] = resolve(c)
		}
		return out
	}
	if n.Kind != yaml.MappingNode {
		d.add(d.at(n), full, "%s is not a list of values, nor {from, to, step}", Seen(n))
		return nil
	}
	values, _ := d.span(n, full)
	var out []*yaml.Node
	for _, v := range values {
		tag := either(v == math.Trunc(v), "!!int", "!!float")
		out = append(out, &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: number(v), Line: n.Line})
	}
	return out
}

const maxSpan = 10_000

// span expands {from, to, step} or {from, to, factor}; to is included if a step reaches it.
func (d decoder) span(n *yaml.Node, full string) ([]float64, bool) {
	got := map[string]float64{}
	for _, p := range d.pairs(n, full) {
		if allowed := []string{"from", "to", "step", "factor"}; !slices.Contains(allowed, p.key) {
			d.unknownKey(p, join(full, p.key), allowed...)
			return nil, false
		}
		v, err := strconv.ParseFloat(p.value.Value, 64)
		if size, sizeErr := ParseSize(p.value.Value); err != nil && sizeErr == nil {
			v, err = float64(size), nil
		}
		if err != nil || p.value.Kind != yaml.ScalarNode || math.IsNaN(v) || math.IsInf(v, 0) {
			d.add(d.at(p.value), join(full, p.key), "%s is not a number", Seen(p.value))
			return nil, false
		}
		got[p.key] = v
	}
	from, hasFrom := got["from"]
	to, hasTo := got["to"]
	step, stepped := got["step"]
	factor, scaled := got["factor"]
	count := -1.0
	switch {
	case !hasFrom || !hasTo || stepped == scaled:
		d.add(d.at(n), full, "a range needs from, to and either step or factor")
		return nil, false
	case stepped && step > 0 && to >= from:
		count = math.Floor((to-from)/step + 1e-9)
	case scaled && factor > 1 && from > 0 && to >= from:
		count = math.Floor(math.Log(to/from)/math.Log(factor) + 1e-9)
	}
	if !(count >= 0 && count < maxSpan) {
		d.add(d.at(n), full, "the range has no values or more than %d; allowed: from <= to, step > 0, factor > 1", maxSpan)
		return nil, false
	}
	if !d.spend(int(count)+1, d.at(n), full) {
		return nil, false
	}
	var out []float64
	for i := 0.0; i <= count; i++ { // from the index, never by adding up
		v := from + i*step
		if scaled {
			v = from * math.Pow(factor, i)
		}
		out = append(out, math.Round(v*1e9)/1e9)
	}
	return out, true
}

// choices decodes a list of {name, set}.
func (d decoder) choices(items []*yaml.Node, full string) []choice {
	var out []choice
	for i, item := range items {
		path := element(full, i)
		var c choice
		for _, p := range d.pairs(item, path) {
			switch p.key {
			case "name":
				d.into(p.value, path+".name", &c.label)
			case "set":
				c.set = d.set(p.value, path+".set")
			default:
				d.unknownKey(p, join(path, p.key), "name", "set")
			}
		}
		if c.label == "" || slices.ContainsFunc(out, func(o choice) bool { return o.label == c.label }) {
			d.add(d.at(item), path+".name", "%q: every choice needs a name of its own", c.label)
		}
		out = append(out, c)
	}
	return out
}

// labelOf formats an axis value for people; equal values have equal labels, however they were written.
func labelOf(set []setting) string {
	first := set[0]
	value := text(reflect.ValueOf(first.value))
	switch {
	case first.path == "broker" && len(set) == 2:
		return value + "@" + set[1].value.(string)
	case first.path == "warmup.auto" && first.value == true && len(set) == 1:
		return "auto"
	case len(set) > 1 && !slices.Contains([]string{"warmup.for", "place.deal", "backlog.bytes"}, first.path):
		return strings.Join(texts(set, func(s setting) string { return s.path + "=" + text(reflect.ValueOf(s.value)) }), " ")
	}
	return value
}

func (d decoder) rules(n *yaml.Node, path string) []rule {
	var out []rule
	const of = " of settings to values"
	for full, item := range d.mappings(n, path, "mappings"+of, of) {
		if len(item.Content) == 0 {
			if item.Kind == yaml.MappingNode {
				d.add(d.at(item), full, "empty; a rule has a condition at least, such as {topics: 1}")
			} else {
				d.add(d.at(item), full, "%s is not a mapping%s", Seen(item), of)
			}
			continue
		}
		var r rule
		for _, p := range d.pairs(item, full) {
			r = append(r, d.condition(p, full))
		}
		out = append(out, r)
	}
	return out
}

func (d decoder) condition(p pair, full string) condition {
	c := condition{at: d.at(p.keyNode), path: join(full, p.key), says: sayings{}}
	items := []*yaml.Node{p.value}
	if p.value.Kind == yaml.SequenceNode {
		items = d.items(p.value, c.path)
	}
	for _, item := range items {
		if !known(p.key) {
			c.name = p.key
			c.labels = append(c.labels, item.Value)
			c.says.add("", item.Value)
			continue
		}
		if set := d.settings(item, item, p.key, full, nil); len(set) > 0 {
			c.any = append(c.any, set)
			c.says.add(pathsAndTexts(set))
		}
	}
	return c
}

// sayings are sets of texts by the paths that they are at.
type sayings map[string]map[string]bool

func (s sayings) add(paths, texts string) {
	if s[paths] == nil {
		s[paths] = map[string]bool{}
	}
	s[paths][texts] = true
}
