package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// outcome is what a mutation promises of a document that was valid.
type outcome int

const (
	anything outcome = iota // a plan or a complaint
	same                    // the plan that it was before
	refused                 // a complaint
)

// mutations change a valid document, each in its own way; nil: it has nothing that this one could change.
var mutations = []struct {
	name    string
	promise outcome
	change  func(r *rand.Rand, doc string) []byte
}{
	{"order of keys", same, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		pairs := pairsOf(root)
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		root.Content = slices.Concat(pairs...)
		return true
	})},
	{"flow style", same, onTree(func(_ *rand.Rand, root *yaml.Node) bool { root.Style = yaml.FlowStyle; return true })},
	{"comments", same, func(r *rand.Rand, doc string) []byte {
		return []byte(strings.ReplaceAll(doc, "\n", " # "+nasty[r.IntN(3)]+"\n"))
	}},
	{"ends of lines as on Windows", same, func(_ *rand.Rand, doc string) []byte { return []byte(strings.ReplaceAll(doc, "\n", "\r\n")) }},
	{"an unknown key", refused, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		root.Content = append(root.Content, scalar(fmt.Sprintf("k%x", r.Uint64())), scalar("1"))
		return true
	})},
	{"a key twice", refused, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		pair := pairsOf(root)[r.IntN(len(root.Content)/2)]
		root.Content = append(root.Content, pair...)
		return true
	})},
	{"a second document", refused, func(_ *rand.Rand, doc string) []byte { return []byte(doc + "---\n" + doc) }},
	{"no end", refused, func(_ *rand.Rand, doc string) []byte { return []byte(doc + "open: [") }},
	{"a control character", refused, func(_ *rand.Rand, doc string) []byte { return []byte(doc + "\x00") }},
	{"a value", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		*pick(r, root, nil) = *anyValue(r)
		return true
	})},
	{"a scalar", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		n := pick(r, root, func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode })
		if n == nil {
			return false
		}
		*n = *scalar(nasty[r.IntN(len(nasty))])
		return true
	})},
	{"a number", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		n := pick(r, root, func(n *yaml.Node) bool {
			return n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, "0123456789")
		})
		if n == nil {
			return false
		}
		at := strings.IndexAny(n.Value, "0123456789")
		n.Value = n.Value[:at] + numbers[r.IntN(len(numbers))] + n.Value[at+1:]
		return true
	})},
	{"a part gone", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		n := pick(r, root, func(n *yaml.Node) bool { return len(n.Content) > 0 })
		at := r.IntN(len(n.Content))
		n.Content = slices.Delete(n.Content, at&^1, min(at&^1+2, len(n.Content)))
		return true
	})},
	{"a part elsewhere", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		from, to := pick(r, root, nil), pick(r, root, func(n *yaml.Node) bool { return n.Kind == yaml.MappingNode })
		if to == nil {
			return false
		}
		to.Content = append(to.Content, scalar(words[r.IntN(len(words))]), copied(from))
		return true
	})},
	{"a list of copies", anything, onTree(func(r *rand.Rand, root *yaml.Node) bool {
		n := pick(r, root, nil)
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for range 1 + r.IntN(30) {
			list.Content = append(list.Content, copied(n))
		}
		*n = *list
		return true
	})},
	{"aliases", anything, func(r *rand.Rand, doc string) []byte {
		return []byte("x0: &x0 [1]\n" + strings.Join(slices.Collect(func(yield func(string) bool) {
			for i := range 2 + r.IntN(20) {
				_ = yield(fmt.Sprintf("x%d: &x%d [*x%d, *x%d, *x%d]", i+1, i+1, i, i, i))
			}
		}), "\n") + "\n" + doc)
	}},
	{"bytes", anything, func(r *rand.Rand, doc string) []byte {
		text := []byte(doc)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(text))
			switch r.IntN(4) {
			case 0:
				text[at] = byte(r.IntN(256))
			case 1:
				text = slices.Delete(text, at, min(at+1+r.IntN(8), len(text)-1))
			case 2:
				text = slices.Insert(text, at, punctuation[r.IntN(len(punctuation))])
			case 3:
				text = slices.Insert(text, at, text[at:min(at+1+r.IntN(40), len(text))]...)
			}
		}
		return text
	}},
	{"cut off", anything, func(r *rand.Rand, doc string) []byte { return []byte(doc[:r.IntN(len(doc))]) }},
}

const punctuation = ":-[]{},&*!|>'\"%@`#?\n\t \\~."

var numbers = []string{"0", "-1", "9", "00", "1e", "99999999999999999999", "1_0", "0x", "١", "1.5", "-", " "}

// nasty are values that programs stumble over; the first three stand in comments as well.
var nasty = []string{
	"", "null", "ünïcödé 消息", "0", "-1", "1e999", "-0", ".nan", ".inf", "9223372036854775807", "9223372036854775808", "0.1", "1e-300", "true", "no", "~", "2026-02-30",
	"0x7f", "0o17", "1:30:00", "100%", "5 ms", "-5ms", "9999999h", "1ns", "1EiB", "8B", "*", "&a", "!!binary x", "!!int x", "<<", "{}", "[]", "a\nb", "a\x1bb", "../../../etc/passwd", "$HOME", "%s%n",
	"-", "--", strings.Repeat("x", 5000), strings.Repeat("9", 400), "a.b.c", ".", "a:1", "[::1]:9", "nats://h:1", "kafka@", "@4", "quick", "sim",
}

// words are keys that mean something somewhere.
var words = []string{
	"base", "axes", "sweeps", "points", "exclude", "scales", "set", "over", "name", "load", "faults", "server", "client", "topicConfig", "objectives", "measure", "broker",
	"from", "to", "step", "factor", "pipeline", "published", "exhibits", "repeats", "question", "payloadFile", "passwordFile", "attach", "warmup", "messageSize", "sustainable", "curve", "guarantee", "",
}

// onTree is a change of the document's tree.
func onTree(change func(r *rand.Rand, root *yaml.Node) bool) func(*rand.Rand, string) []byte {
	return func(r *rand.Rand, doc string) []byte {
		var tree yaml.Node
		if err := yaml.Unmarshal([]byte(doc), &tree); err != nil || len(tree.Content) == 0 || len(tree.Content[0].Content) == 0 {
			return nil
		}
		if !change(r, tree.Content[0]) {
			return nil
		}
		var out bytes.Buffer
		if err := yaml.NewEncoder(&out).Encode(&tree); err != nil {
			return nil
		}
		return out.Bytes()
	}
}

func pairsOf(mapping *yaml.Node) [][]*yaml.Node {
	return slices.Collect(slices.Chunk(mapping.Content, 2))
}

func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// pick is a random node below root, which fits; nil: there is none.
func pick(r *rand.Rand, root *yaml.Node, fits func(*yaml.Node) bool) *yaml.Node {
	var found []*yaml.Node
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if fits == nil || fits(n) {
			found = append(found, n)
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
	if len(found) == 0 {
		return nil
	}
	return found[r.IntN(len(found))]
}

func copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, inner := range n.Content {
		c.Content = append(c.Content, copied(inner))
	}
	return &c
}

// anyValue is a scalar, a list or a mapping out of nothing.
func anyValue(r *rand.Rand) *yaml.Node {
	switch r.IntN(4) {
	case 0:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for range r.IntN(4) {
			list.Content = append(list.Content, anyValue(r))
		}
		return list
	case 1:
		mapping := &yaml.Node{Kind: yaml.MappingNode}
		for range r.IntN(4) {
			mapping.Content = append(mapping.Content, scalar(words[r.IntN(len(words))]), anyValue(r))
		}
		return mapping
	}
	return scalar(nasty[r.IntN(len(nasty))])
}
