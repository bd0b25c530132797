package study

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

var syntaxLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// Tree parses an untrusted document. Nothing else decodes YAML of such documents: yaml.v3 compares every key of a mapping with
// every other one if it decodes into anything but a node. Tree bounds the document, and takes time and memory in proportion to
// it. An empty document has no tree: nil.
func Tree(name string, data []byte) (*yaml.Node, error) {
	if len(data) > maxDocument {
		return nil, refusal(name, 0, "larger than %s: that is no study", Size(maxDocument))
	}
	switch values, directives := counted(data); {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, refusal(name, 0, "UTF-16; allowed: UTF-8")
	case values > maxValues:
		return nil, refusal(name, 0, "%d values or lines; allowed: %d", values, maxValues) // each takes about 500 bytes
	case directives > maxDirectives:
		return nil, refusal(name, 0, "%d lines begin with %%; allowed: %d", directives, maxDirectives)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, nil
	case err != nil:
		m := syntaxLine.FindStringSubmatch(err.Error())
		line, unsaid := strconv.Atoi(m[1])
		if unsaid != nil {
			line = unreadableLine(data)
		}
		if text, tab := indentedByTab(data); tab > 0 {
			return nil, refusal(name, tab, "not YAML: a tab indents %s; allowed: spaces", text)
		}
		return nil, refusal(name, line, "not YAML: %s", strings.TrimPrefix(err.Error(), m[0]))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, refusal(name, second.Line, "a second document; a file holds one")
	}
	root := resolve(doc.Content[0])
	switch n := spelledOut(root, map[*yaml.Node]extent{}); {
	case n.values > maxValues:
		return nil, refusal(name, 0, "more than %d values where each alias stands for its anchor; allowed: %[1]d", maxValues)
	case n.depth > maxDepth:
		return nil, refusal(name, 0, "%d levels of lists and mappings; allowed: %d", n.depth, maxDepth)
	}
	if err := crowded(name, "", root); err != nil {
		return nil, err
	}
	return root, nil
}

// maxDirectives bounds those of YAML: its parser compares each with every other one, and with every tag.
const maxDirectives = 100

// counted counts the commas and lines of a document, and its lines that may be directives. YAML ends lines by five characters.
func counted(data []byte) (values, directives int) {
	if bytes.HasPrefix(data, []byte("%")) {
		directives++
	}
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		values += bytes.Count(data, []byte(end))
		directives += bytes.Count(data, []byte(end+"%"))
	}
	return values + bytes.Count(data, []byte(",")) - bytes.Count(data, []byte("\r\n")), directives
}

// Plain returns the value of a Tree's node: scalars, lists, and mappings with string keys. Keys of a mapping are unique.
func Plain(name string, n *yaml.Node) (any, error) {
	d := decoder{problems: &problems{}, file: name}
	value := d.plain(n)
	return value, d.err()
}

func (d decoder) plain(n *yaml.Node) (value any) {
	switch n = resolve(n); n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for _, p := range d.pairs(n, "") {
			m[p.key] = d.plain(p.value)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = d.plain(item)
		}
		return list
	}
	if n.Decode(&value) != nil {
		d.add(d.at(n), "", "%s is not what its tag says", Seen(n))
	}
	return value
}

// document returns the single mapping of a document.
func document(name string, data []byte) (*yaml.Node, error) {
	root, err := Tree(name, data)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, refusal(name, 0, "empty; a study says at least what is measured, such as measure: peak")
	case root.Kind != yaml.MappingNode:
		return nil, refusal(name, root.Line, "%s is not a study; allowed: a mapping of settings", Seen(root))
	}
	return root, nil
}

// weight is the number of values that a text counts for: aliases may repeat a long one, also in many points.
func weight(text string) int { return 1 + len(text)/256 }

// extent is the number of values of a node, and of its levels.
type extent struct{ values, depth int }

// spelledOut is the extent of n with each alias expanded. values is maxValues+1 if there are more, and for a node that contains itself.
func spelledOut(n *yaml.Node, known map[*yaml.Node]extent) (e extent) {
	if there, ok := known[n]; ok {
		return there
	}
	known[n] = extent{values: maxValues + 1} // until it is known: so an anchor within itself is infinite
	switch n.Kind {
	case yaml.ScalarNode:
		e.values = weight(n.Value)
	case yaml.AliasNode:
		e = spelledOut(n.Alias, known)
	case yaml.MappingNode:
		e.values = -len(n.Content) / 2 // keys don't count as values, unless they are long
	}
	for _, c := range n.Content {
		inner := spelledOut(c, known)
		e = extent{min(e.values+inner.values, maxValues+1), max(e.depth, inner.depth+1)}
	}
	e.values = max(e.values, 1) // also of an empty list
	known[n] = e
	return e
}

// mostOf is the limit of the elements of a list or mapping, by its key; for others it is maxElements. Axes, sweeps and rules are
// multiplied with one another.
var mostOf = map[string]int{"points": maxPoints, "axes": maxParts, "sweeps": maxParts, "exclude": maxParts, "published": maxParts, "exhibits": maxParts}

const (
	maxValues   = 2 * maxPoints
	maxElements = maxSpan
	maxParts    = 200
	maxDepth    = 32
	maxKey      = 250 // bytes: the path of a value contains all keys above it
)

// crowded refuses a list or a mapping with more elements than a study can use, and keys that are too long or not a single line,
// anywhere below n, which is at key.
func crowded(name, key string, n *yaml.Node) error {
	if len(key) > maxKey {
		return refusal(name, n.Line, "a key of %d bytes; allowed: %d", len(key), maxKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return refusal(name, n.Line, "%q: a key is one line, without control characters", key)
	}
	each := 1
	if n.Kind == yaml.MappingNode {
		each = 2
	}
	if most := cmp.Or(mostOf[key], maxElements); len(n.Content)/each > most {
		return refusal(name, n.Line, "%s: %d elements; allowed: %d", cmp.Or(key, "the document"), len(n.Content)/each, most)
	}
	for i, c := range n.Content {
		inner := ""
		if each == 2 && i%2 == 1 {
			inner = n.Content[i-1].Value
		}
		if err := crowded(name, inner, c); err != nil {
			return err
		}
	}
	return nil
}

// unreadableLine finds the first line with bytes that are no YAML characters; 1 if there is none. The parser gives no line for
// those, nor for errors in the first one.
func unreadableLine(data []byte) int {
	line := 0
	for l := range bytes.Lines(data) {
		line++
		if !utf8.Valid(l) || bytes.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) }) {
			return line
		}
	}
	return 1
}

// indentedByTab finds the first line indented by a tab; 0 if there is none.
func indentedByTab(data []byte) (text string, line int) {
	for l := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(l)
		if indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]; text != "" && strings.Contains(indent, "\t") {
			return text, line
		}
	}
	return "", 0
}
