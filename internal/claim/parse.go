package claim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// File is the name of the file in a study's folder that holds its claims.
const File = "claims.yaml"

// Parse reads the claims of a file. An error is a *study.Errors with all problems, each with its line and what is allowed.
func Parse(name string, data []byte) ([]Claim, error) {
	found := &problems{file: name}
	var doc yaml.Node
	switch err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		return nil, &study.Errors{Problems: []study.Problem{{File: name, Text: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}}}
	}
	var claims []Claim
	for _, list := range newValue(found, doc.Content[0], "").entries("claims") {
		for _, item := range list.items() {
			c := item.claim()
			if c.ID != "" && slices.ContainsFunc(claims, func(o Claim) bool { return o.ID == c.ID }) {
				list.at(item).problem("%q is the id of two claims", c.ID)
			}
			claims = append(claims, c)
		}
	}
	if found.list != nil {
		return nil, &study.Errors{Problems: found.list}
	}
	return claims, nil
}

// problems collects everything that is wrong with a file.
type problems struct {
	file string
	list []study.Problem
}

// value is a value of the file and the path to it: claims[2].slope.along. Its methods read it as one type or another. If it isn't of
// that type, they note the problem and return the type's zero value.
type value struct {
	found *problems // of the whole file
	node  *yaml.Node
	path  string
}

// newValue resolves aliases.
func newValue(found *problems, n *yaml.Node, path string) value {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return value{found: found, node: n, path: path}
}

// at is the value at v's path, on the line of another.
func (v value) at(line value) value {
	return value{found: v.found, node: line.node, path: v.path}
}

func (v value) problem(format string, args ...any) {
	v.found.list = append(v.found.list, study.Problem{File: v.found.file, Line: v.node.Line, Path: v.path, Text: fmt.Sprintf(format, args...)})
}

// missing notes a key that v needs.
func (v value) missing(key, format string, args ...any) {
	v.path += "." + key
	v.problem("missing: "+format, args...)
}

func (v value) isMapping() bool { return v.node.Kind == yaml.MappingNode }

// entries are the entries of a mapping, in the order of the file. Keys that aren't allowed are problems; without any, all are allowed.
func (v value) entries(allowed ...string) iter.Seq2[string, value] {
	slices.Sort(allowed)
	return func(yield func(string, value) bool) {
		if !v.isMapping() {
			v.problem("%s is not a mapping; allowed keys: %s", study.Seen(v.node), strings.Join(allowed, ", "))
			return
		}
		lines := map[string]int{}
		for pair := range slices.Chunk(v.node.Content, 2) {
			key := pair[0].Value
			here := newValue(v.found, pair[0], strings.TrimPrefix(v.path+"."+key, "."))
			if first, ok := lines[key]; ok {
				here.problem("given twice, first at line %d", first)
				continue
			}
			lines[key] = pair[0].Line
			if allowed != nil && !slices.Contains(allowed, key) {
				here.problem("unknown key %q%s; allowed: %s", key, suggest.DidYouMean(key, allowed), strings.Join(allowed, ", "))
				continue
			}
			if !yield(key, newValue(v.found, pair[1], here.path)) {
				return
			}
		}
	}
}

// items are the elements of a list.
func (v value) items() []value {
	if v.node.Kind != yaml.SequenceNode {
		v.problem("%s is not a list", study.Seen(v.node))
		return nil
	}
	var items []value
	for i, n := range v.node.Content {
		items = append(items, newValue(v.found, n, fmt.Sprintf("%s[%d]", v.path, i)))
	}
	return items
}

// text reads a scalar. If words are allowed, it has to be one of them.
func (v value) text(allowed ...string) string {
	if v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		v.problem("%s is not a text", study.Seen(v.node))
		return ""
	}
	text := strings.TrimSpace(v.node.Value)
	if allowed != nil && !slices.Contains(allowed, text) {
		v.problem("%q is not one of %s%s", text, strings.Join(allowed, ", "), suggest.DidYouMean(text, allowed))
	}
	return text
}

// texts reads one text or a list of them. They are never nil.
func (v value) texts() []string {
	if v.node.Kind != yaml.SequenceNode {
		return []string{v.text()}
	}
	texts := []string{}
	for _, n := range v.node.Content {
		texts = append(texts, newValue(v.found, n, v.path).text())
	}
	return texts
}

func (v value) metric() results.Metric {
	m, err := results.MetricByKey(v.node.Value)
	if err != nil {
		v.problem("unknown metric %q%s; known: %s", v.node.Value, suggest.DidYouMean(v.node.Value, results.MetricKeys()), strings.Join(results.MetricKeys(), ", "))
	}
	return m
}

// number reads a number in the unit of its metric: plain, a percentage as a share, a size in bytes, or a time in nanoseconds. A value
// that is none is a problem and leaves *into as it is.
func (v value) number(into *float64) {
	text := strings.TrimSpace(v.node.Value)
	n, ok := results.Magnitude(text)
	if percent, isPercent := strings.CutSuffix(text, "%"); isPercent {
		var err error
		n, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
		n, ok = n/100, err == nil
	}
	if v.node.Kind != yaml.ScalarNode || !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		v.problem("%s is not a number; allowed: such as 0.3, 30%%, 5ms, 20MiB", study.Seen(v.node))
		return
	}
	*into = n
}

// bounds reads {from, to}, or {about, within}.
func (v value) bounds() Range {
	r := anywhere
	about, within := math.NaN(), math.NaN() // not given
	numbers := map[string]*float64{"from": &r.From, "to": &r.To, "about": &about, "within": &within}
	for key, entry := range v.entries("from", "to", "about", "within") {
		entry.number(numbers[key])
	}
	hasAbout, hasWithin := !math.IsNaN(about), !math.IsNaN(within)
	switch {
	case hasAbout != hasWithin || (hasAbout && r.Given()):
		v.problem("allowed: from, to or both; or about and within, such as {about: 0.4, within: 10%%}")
	case hasAbout && within > 1:
		v.problem("within is a share of about; allowed: up to 100%%")
	case hasAbout:
		distance := math.Abs(about) * within
		r = Range{From: about - distance, To: about + distance}
	case !r.Given():
		v.problem("bounds nothing; allowed: from, to or both")
	}
	if r.From > r.To {
		v.problem("from is larger than to")
	}
	return r
}
