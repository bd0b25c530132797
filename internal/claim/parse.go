package claim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// File is the name of the file in a study's folder that holds its claims.
const File = "claims.yaml"

// Parse reads claims. name is used in complaints. Everything that is wrong comes together, as *study.Errors.
func Parse(name string, data []byte) ([]Claim, error) {
	p := &parser{file: name}
	var doc yaml.Node
	switch err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		return nil, &study.Errors{Problems: []study.Problem{{File: name, Text: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}}}
	}
	var out []Claim
	p.mapping(doc.Content[0], "", map[string]func(*yaml.Node, string){
		"claims": func(n *yaml.Node, path string) {
			for i, item := range p.sequence(n, path) {
				c := p.claim(item, fmt.Sprintf("%s[%d]", path, i))
				if c.ID != "" && slices.ContainsFunc(out, func(o Claim) bool { return o.ID == c.ID }) {
					p.add(item, path, "%q is the id of two claims", c.ID)
				}
				out = append(out, c)
			}
		},
	})
	if p.problems != nil {
		return nil, &study.Errors{Problems: p.problems}
	}
	return out, nil
}

// parser collects what is wrong.
type parser struct {
	file     string
	problems []study.Problem
}

func (p *parser) add(n *yaml.Node, path, format string, args ...any) {
	p.problems = append(p.problems, study.Problem{File: p.file, Line: n.Line, Path: path, Text: fmt.Sprintf(format, args...)})
}

// mapping gives each value of a mapping to the function of its key.
func (p *parser) mapping(n *yaml.Node, path string, keys map[string]func(*yaml.Node, string)) {
	if n.Kind != yaml.MappingNode {
		p.add(n, path, "%s is not a mapping; allowed keys: %s", study.Seen(n), strings.Join(names(keys), ", "))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		full := strings.TrimPrefix(path+"."+key.Value, ".")
		if line, twice := first[key.Value]; twice {
			p.add(key, full, "given twice, first at line %d", line)
			continue
		}
		first[key.Value] = key.Line
		if take := keys[key.Value]; take != nil {
			take(value, full)
			continue
		}
		p.add(key, full, "unknown key %q%s; allowed: %s", key.Value, suggest.DidYouMean(key.Value, names(keys)), strings.Join(names(keys), ", "))
	}
}

func (p *parser) sequence(n *yaml.Node, path string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		p.add(n, path, "%s is not a list", study.Seen(n))
		return nil
	}
	return n.Content
}

// text reads a scalar, one of the allowed words where there are any.
func (p *parser) text(into *string, allowed ...string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			p.add(n, path, "%s is not a text", study.Seen(n))
			return
		}
		*into = strings.TrimSpace(n.Value)
		if allowed != nil && !slices.Contains(allowed, *into) {
			p.add(n, path, "%q is not one of %s%s", *into, strings.Join(allowed, ", "), suggest.DidYouMean(*into, allowed))
		}
	}
}

// texts reads one text, or a list of them.
func (p *parser) texts(into *[]string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		*into = []string{}
		items := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			items = n.Content
		}
		for _, item := range items {
			var one string
			p.text(&one)(item, path)
			*into = append(*into, one)
		}
	}
}

func (p *parser) metric(into *results.Metric) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		m, err := results.MetricByKey(n.Value)
		if err != nil {
			p.add(n, path, "unknown metric %q%s; known: %s", n.Value, suggest.DidYouMean(n.Value, results.MetricKeys()), strings.Join(results.MetricKeys(), ", "))
		}
		*into = m
	}
}

// number reads a number: plain, in per cent, a size, or a time in nanoseconds.
func (p *parser) number(into *float64) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		text := strings.TrimSpace(n.Value)
		factor := 1.0
		if share, ok := strings.CutSuffix(text, "%"); ok {
			text, factor = strings.TrimSpace(share), 0.01
		}
		v, ok := results.Magnitude(text)
		if n.Kind != yaml.ScalarNode || !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			p.add(n, path, "%s is not a number; allowed: such as 0.3, 30%%, 5ms, 20MiB", study.Seen(n))
			return
		}
		*into = v * factor
	}
}

// span reads {from, to}, or {about, within}.
func (p *parser) span(into *Range) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		*into = anywhere
		about, within := math.NaN(), math.NaN()
		p.mapping(n, path, map[string]func(*yaml.Node, string){
			"from": p.number(&into.From), "to": p.number(&into.To), "about": p.number(&about), "within": p.number(&within),
		})
		switch {
		case math.IsNaN(about) != math.IsNaN(within) || !math.IsNaN(about) && *into != anywhere:
			p.add(n, path, "allowed: from, to or both; or about and within, such as {about: 0.4, within: 10%%}")
		case !math.IsNaN(about):
			d := math.Abs(about) * within
			*into = Range{about - d, about + d}
		case *into == anywhere:
			p.add(n, path, "bounds nothing; allowed: from, to or both")
		case into.From > into.To:
			p.add(n, path, "from is larger than to")
		}
	}
}

func names[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
