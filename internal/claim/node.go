package claim

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// node is a part of claims.yaml, and the path to it: claims[2].slope.along. Its methods read it as one type or another.
// If it isn't of that type, they note the problem and return the type's zero value, or NaN for a number.
type node struct {
	found *problems // collects problems
	yaml  *yaml.Node
	path  string
}

// newNode resolves aliases.
func newNode(found *problems, y *yaml.Node, path string) node {
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	return node{found: found, yaml: y, path: path}
}

func (n node) problem(format string, args ...any) { n.found.add(n.yaml.Line, n.path, format, args...) }

// problemAt notes a problem with a key of a mapping, which may be missing.
func (n node) problemAt(key, format string, args ...any) {
	n.found.add(n.yaml.Line, n.path+"."+key, format, args...)
}

// require notes that a mapping lacks a key, unless it is given. what says what belongs there.
func (n node) require(given bool, key, what string) {
	if !given {
		n.problemAt(key, "missing: %s", what)
	}
}

func (n node) isMapping() bool { return n.yaml.Kind == yaml.MappingNode }

// entries returns the keys of a mapping and their values, in the order of the file. Keys that aren't allowed are
// problems; without any, all are allowed.
func (n node) entries(allowed ...string) iter.Seq2[string, node] {
	allowed = slices.Sorted(slices.Values(allowed))
	return func(yield func(string, node) bool) {
		if !n.isMapping() {
			n.problem("%s is not a mapping; allowed keys: %s", study.Seen(n.yaml), strings.Join(allowed, ", "))
			return
		}
		lines := map[string]int{} // of the keys so far
		for pair := range slices.Chunk(n.yaml.Content, 2) {
			name := pair[0].Value
			key := newNode(n.found, pair[0], strings.TrimPrefix(n.path+"."+name, "."))
			if first, ok := lines[name]; ok {
				key.problem("given twice, first at line %d", first)
				continue
			}
			lines[name] = pair[0].Line
			if len(allowed) > 0 && !slices.Contains(allowed, name) {
				key.problem("%s", suggest.UnknownKey(name, allowed))
				continue
			}
			if !yield(name, newNode(n.found, pair[1], key.path)) {
				return
			}
		}
	}
}

// child returns the value of a key of a mapping; false without one.
func (n node) child(key string) (node, bool) {
	if n.isMapping() {
		for pair := range slices.Chunk(n.yaml.Content, 2) {
			if pair[0].Value == key {
				return newNode(n.found, pair[1], n.path+"."+key), true
			}
		}
	}
	return node{}, false
}

// items returns the elements of a list.
func (n node) items() []node {
	if n.yaml.Kind != yaml.SequenceNode {
		n.problem("%s is not a list", study.Seen(n.yaml))
		return nil
	}
	var items []node
	for i, y := range n.yaml.Content {
		items = append(items, newNode(n.found, y, fmt.Sprintf("%s[%d]", n.path, i)))
	}
	return items
}

// text reads a scalar. If words are allowed, it has to be one of them.
func (n node) text(allowed ...string) string {
	if n.yaml.Kind != yaml.ScalarNode || n.yaml.Tag == "!!null" {
		n.problem("%s is not a text", study.Seen(n.yaml))
		return ""
	}
	text := strings.TrimSpace(n.yaml.Value)
	if len(allowed) > 0 && !slices.Contains(allowed, text) {
		n.problem("%q is not one of %s%s", text, strings.Join(allowed, ", "), suggest.DidYouMean(text, allowed))
	}
	return text
}

// texts reads one text or a list of them. The result is never nil, which distinguishes an empty list from no list.
func (n node) texts() []string {
	if n.yaml.Kind != yaml.SequenceNode {
		return []string{n.text()}
	}
	texts := []string{}
	for _, item := range n.items() {
		texts = append(texts, item.text())
	}
	return texts
}

// axis reads the name of an axis, which may be short, and returns the full one.
func (n node) axis() string { return study.AxisName(n.text()) }

// axes reads the name of one axis or a list of them. They are never nil.
func (n node) axes() []string {
	names := n.texts()
	for i, name := range names {
		names[i] = study.AxisName(name)
	}
	return names
}

func (n node) metric() results.Metric {
	m, err := results.MetricByKey(n.yaml.Value)
	if err != nil && !n.found.enough() {
		n.problem("%v", err)
	}
	return m
}

// number reads a finite number: a plain one, a percentage as a share, a size in bytes, or a time in nanoseconds. It is
// NaN if the value is none. As NaN is neither below nor above anything, no second problem follows from it.
func (n node) number() float64 {
	if number, ok := parseNumber(n.yaml.Value); ok && n.yaml.Kind == yaml.ScalarNode {
		return number
	}
	n.problem("%s is not a number; allowed: such as 0.3, 30%%, 5ms, 20MiB", study.Seen(n.yaml))
	return math.NaN()
}

func parseNumber(text string) (number float64, ok bool) {
	text = strings.TrimSpace(text)
	if percent, isPercent := strings.CutSuffix(text, "%"); isPercent {
		percentage, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		number, ok = percentage/100, err == nil
	} else {
		number, ok = results.Magnitude(text)
	}
	return number, ok && !math.IsNaN(number) && !math.IsInf(number, 0)
}

// positive reads a whole number above 0. It is 0 if the value is none.
func (n node) positive() int {
	if number, err := strconv.Atoi(n.yaml.Value); err == nil && number > 0 && n.yaml.Kind == yaml.ScalarNode {
		return number
	}
	n.problem("%s is out of range; allowed: a whole number of 1 or more", study.Seen(n.yaml))
	return 0
}

func (n node) flag() bool { return n.text("true", "false") == "true" }

// share reads a number from 0 to 1.
func (n node) share() float64 {
	share := n.number()
	if share < 0 || share > 1 {
		n.problem("%v is out of range; allowed: 0 to 1", share)
	}
	return share
}

// bounds reads {from, to}, of which one may be missing, or {about, within}: about 4ms, within 50% is from 2ms to 6ms.
func (n node) bounds() Range {
	r := anywhere
	var about, within float64
	for key, entry := range n.entries("from", "to", "about", "within") {
		switch number := entry.number(); key {
		case "from":
			r.From = number
		case "to":
			r.To = number
		case "about":
			about = number
		case "within":
			within = number
		}
	}
	_, hasAbout := n.child("about")
	_, hasWithin := n.child("within")
	switch {
	case hasAbout != hasWithin || (hasAbout && r.Given()):
		n.problem("allowed: from, to or both; or about and within, such as {about: 0.4, within: 10%%}")
	case hasAbout && within > 1:
		n.problem("within is a share of about; allowed: up to 100%%")
	case hasAbout:
		distance := math.Abs(about) * within
		r = Range{From: about - distance, To: about + distance}
	case !r.Given():
		n.problem("bounds nothing; allowed: from, to or both")
	}
	if r.From > r.To {
		n.problem("from is larger than to")
	}
	return r
}
