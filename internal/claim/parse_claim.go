package claim

import (
	"fmt"
	"maps"
	"math"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
)

// keys are what a mapping may hold, and what is done with each value.
type keys = map[string]func(*yaml.Node, string)

func (p *parser) claim(n *yaml.Node, path string) Claim {
	var c Claim
	common := Statement{Take: TakeEach, Expect: anywhere, Change: anywhere}
	var all *yaml.Node
	allPath := ""
	kinds := map[Kind]*yaml.Node{}
	at := p.common(&common)
	p.kinds(at, kinds)
	maps.Copy(at, keys{
		"id": p.text(&c.ID), "says": p.text(&c.Says), "where": p.text(&c.Where), "published": p.text(&c.Published), "note": p.text(&c.Note),
		"undecidable": p.text(&c.Undecidable),
		"all":         func(n *yaml.Node, path string) { all, allPath = n, path },
	})
	p.mapping(n, path, at)
	if n.Kind != yaml.MappingNode {
		return c
	}
	for _, needed := range []struct{ key, value string }{{"id", c.ID}, {"says", c.Says}, {"where", c.Where}} {
		if needed.value == "" {
			p.add(n, path+"."+needed.key, "missing: every claim has an id, says something, and stands somewhere")
		}
	}
	switch {
	case c.Undecidable != "" && (all != nil || len(kinds) > 0):
		p.add(n, path, "undecidable, and yet there is a statement to decide")
	case c.Undecidable != "":
	case all != nil && len(kinds) > 0:
		p.add(n, path, "all, and a statement beside it; allowed: one of both")
	case all != nil:
		for i, item := range p.sequence(all, allPath) {
			c.Statements = append(c.Statements, p.entry(item, fmt.Sprintf("%s[%d]", allPath, i), common))
		}
	default:
		c.Statements = p.one(n, path, common, kinds)
	}
	return c
}

// entry is an element of all: a statement with what it has of its own.
func (p *parser) entry(n *yaml.Node, path string, s Statement) Statement {
	kinds := map[Kind]*yaml.Node{}
	at := p.common(&s)
	p.kinds(at, kinds)
	p.mapping(n, path, at)
	if one := p.one(n, path, s, kinds); len(one) == 1 {
		return one[0]
	}
	return s
}

// common are the keys that every kind of statement has.
func (p *parser) common(s *Statement) keys {
	return keys{
		"experiment": p.texts(&s.Experiments), "metric": p.metric(&s.Metric), "select": p.selector(&s.Select),
		"at":   p.text(&s.At, atEvery, atLowest, atKnee, atBelow, atAbove),
		"over": func(n *yaml.Node, path string) { s.OverGiven = true; p.texts(&s.Over)(n, path) },
		"pool": p.text(&s.Pool, "best", "max", "mean", "median", "min"),
		"take": p.text(&s.Take, TakeEach, TakeShare, "max", "mean", "median", "min"),
		"share": func(n *yaml.Node, path string) {
			s.Take = TakeShare
			p.number(&s.Share)(n, path)
		},
		"expect": p.span(&s.Expect),
		"best": func(n *yaml.Node, path string) {
			var which string
			p.text(&which, lowest, highest)(n, path)
			s.Lowest = which == lowest
		},
	}
}

// kinds are the keys that say what kind of statement it is.
func (p *parser) kinds(at keys, found map[Kind]*yaml.Node) {
	for _, k := range []Kind{Ratio, Rank, Slope, Threshold, Shape} {
		at[string(k)] = func(n *yaml.Node, _ string) { found[k] = n }
	}
}

// one is the only statement of a mapping.
func (p *parser) one(n *yaml.Node, path string, s Statement, found map[Kind]*yaml.Node) []Statement {
	if len(found) != 1 {
		p.add(n, path, "%d statements; allowed: one of ratio, rank, shape, slope and threshold, a list of several under all, or undecidable with a reason", len(found))
		return nil
	}
	for kind, at := range found {
		s.Kind = kind
		full := path + "." + string(kind)
		before := len(p.problems)
		into := p.common(&s)
		p.own(into, &s)
		p.mapping(at, full, into)
		if len(p.problems) == before {
			p.complete(at, full, &s)
		}
	}
	return []Statement{s}
}

// own are the keys of a kind.
func (p *parser) own(at keys, s *Statement) {
	switch s.Kind {
	case Ratio:
		at["of"], at["to"] = p.side(&s.Of), p.side(&s.To)
	case Rank:
		at["by"], at["order"] = p.text(&s.By), p.texts(&s.Order)
		place := func(place int) func(*yaml.Node, string) {
			return func(n *yaml.Node, path string) { s.Place = place; p.text(&s.Who)(n, path) }
		}
		at["first"], at["second"], at["last"] = place(1), place(2), place(-1)
	case Slope:
		at["along"], at["r2"], at["change"] = p.text(&s.Along), p.number(&s.R2), p.span(&s.Change)
		at["sign"] = func(n *yaml.Node, path string) {
			var word string
			p.text(&word, rising, falling)(n, path)
			s.Sign = map[string]int{rising: 1, falling: -1}[word]
		}
	case Shape:
		at["along"], at["form"], at["within"] = p.text(&s.Along), p.text(&s.Form, forms...), p.number(&s.Within)
	}
}

// side reads one side of a ratio: what it selects, by axis, and what it has of its own.
func (p *parser) side(into *Side) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind != yaml.MappingNode {
			p.add(n, path, "%s is not a selection such as {mode: at-least-once}", study.Seen(n))
			return
		}
		into.Select = Selector{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			switch full := path + "." + key; key {
			case "experiment":
				p.texts(&into.Experiments)(value, full)
			case "metric":
				p.metric(&into.Metric)(value, full)
			case "at":
				p.text(&into.At, atEvery, atLowest, atKnee, atBelow, atAbove)(value, full)
			default:
				into.Select[study.AxisName(key)] = p.values(value, full)
			}
		}
	}
}

func (p *parser) selector(into *Selector) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if n.Kind != yaml.MappingNode {
			p.add(n, path, "%s is not a selection such as {mode: at-least-once}", study.Seen(n))
			return
		}
		*into = Selector{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			(*into)[study.AxisName(n.Content[i].Value)] = p.values(n.Content[i+1], path+"."+n.Content[i].Value)
		}
	}
}

// values reads the values of an axis: one, a list, lowest, highest, {from, to} or {not}.
func (p *parser) values(n *yaml.Node, path string) Values {
	v := Values{From: math.NaN(), To: math.NaN()}
	if n.Kind == yaml.MappingNode {
		p.mapping(n, path, keys{"from": p.number(&v.From), "to": p.number(&v.To), "not": p.texts(&v.Not)})
		return v
	}
	var texts []string
	p.texts(&texts)(n, path)
	if len(texts) == 1 && n.Kind == yaml.ScalarNode {
		switch texts[0] {
		case lowest:
			v.End = -1
			return v
		case highest:
			v.End = 1
			return v
		}
	}
	v.Any = texts
	return v
}

// complete checks what a statement needs, and gives sides what they don't have of their own.
func (p *parser) complete(n *yaml.Node, path string, s *Statement) {
	need := func(given bool, key, what string) {
		if !given {
			p.add(n, path+"."+key, "missing: %s", what)
		}
	}
	s.By, s.Along = study.AxisName(s.By), study.AxisName(s.Along)
	for i, axis := range s.Over {
		s.Over[i] = study.AxisName(axis)
	}
	for _, side := range []*Side{&s.Of, &s.To} {
		if side.Metric.Key == "" {
			side.Metric = s.Metric
		}
		if side.Experiments == nil {
			side.Experiments = s.Experiments
		}
		if side.At == "" {
			side.At = s.At
		}
	}
	switch s.Kind {
	case Ratio:
		need(s.Of.Select != nil && s.To.Select != nil, "of", "a ratio needs of and to")
		need(s.Of.Metric.Key != "" && s.To.Metric.Key != "", "metric", "what the ratio is of")
		need(s.Expect.Given(), "expect", "a ratio needs bounds, such as {from: 0.3, to: 0.45}")
	case Threshold:
		need(s.Expect.Given(), "expect", "a threshold needs bounds, such as {from: 250000}")
	case Rank:
		need(s.By != "", "by", "the axis of those that are ranked")
		need((s.Place != 0) != (len(s.Order) > 1), "first", "a rank needs one of first, second, last and order")
	case Slope, Shape:
		need(s.Along != "", "along", "the axis it goes along")
	}
	if s.Kind == Slope {
		need(s.Sign != 0 || s.R2 > 0 || s.Change.Given(), "sign", "a slope needs one of sign, r2 and change")
	}
	if s.Kind == Shape {
		need(s.Form != "", "form", "one of "+strings.Join(forms, ", "))
	}
	if s.Kind != Ratio {
		need(s.Metric.Key != "", "metric", "what it is about; known: "+strings.Join(results.MetricKeys(), ", "))
	}
	if _, combines := ways[s.Take]; combines && s.Kind != Ratio && s.Kind != Threshold {
		p.add(n, path+".take", "%q has no meaning here; allowed: %s", s.Take, strings.Join([]string{TakeEach, TakeShare}, ", "))
	}
	if s.Take == TakeShare && !(s.Share > 0 && s.Share <= 1) {
		p.add(n, path+".share", "%v is no share of the places; allowed: above 0 and up to 1", s.Share)
	}
}
