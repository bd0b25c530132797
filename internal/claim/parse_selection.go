package claim

import (
	"iter"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/study"
)

// readSelector reads which measurements are meant, by axis: {mode: a, topics: [1, 50]}.
func readSelector(n node) Selector {
	s := Selector{}
	for axis, value := range axisEntries(n) {
		s[study.AxisName(axis)] = readCriterion(value)
	}
	return s
}

// read reads the value of a key that statements and their operands have, and reports whether it is one.
func (s *Selection) read(key string, value node) bool {
	switch key {
	case "experiment":
		s.Experiments = value.texts()
	case "metric":
		s.Metric = value.metric()
	case "at":
		s.At = value.text(rateChoices...)
	default:
		return false
	}
	return true
}

// readOperand reads an operand of a ratio: a selector that may also have an experiment, a metric and rates of its own.
func readOperand(n node) Selection {
	s := Selection{Select: Selector{}}
	for key, value := range axisEntries(n) {
		if !s.read(key, value) {
			s.Select[study.AxisName(key)] = readCriterion(value)
		}
	}
	return s
}

// axisEntries are the entries of a mapping whose keys are any axes.
func axisEntries(n node) iter.Seq2[string, node] {
	if !n.isMapping() {
		n.problem("%s is not a selection such as {mode: at-least-once}", study.Seen(n.yaml))
		return func(func(string, node) bool) {}
	}
	return n.entries()
}

// readCriterion reads which values of an axis are meant: one, a list, lowest, highest, or {from, to, not}.
func readCriterion(n node) Criterion {
	if n.isMapping() {
		return readBounds(n)
	}
	isText := n.yaml.Kind == yaml.ScalarNode
	if end := End(n.yaml.Value); isText && (end == Lowest || end == Highest) {
		return Criterion{End: end}
	}
	return Criterion{Any: n.texts()}
}

// readBounds reads {from, to, not}, of which some may be missing.
func readBounds(n node) Criterion {
	c := Criterion{Bounds: anywhere}
	for key, value := range n.entries("from", "to", "not") {
		switch key {
		case "from":
			c.Bounds.From = value.number()
		case "to":
			c.Bounds.To = value.number()
		case "not":
			c.Not = value.texts()
		}
	}
	if c.Bounds.From > c.Bounds.To {
		n.problem("from is larger than to")
	}
	if !c.Bounds.Given() && c.Not == nil {
		n.problem("selects nothing; allowed: from, to and not")
	}
	return c
}
