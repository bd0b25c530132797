package study

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
)

// place is the position at which something was written.
type place struct {
	file    string
	line    int  // 0: it has none, such as a flag
	foreign bool // it has no line and is of a document all the same
}

// decoder turns YAML nodes into typed values and collects the errors in them.
type decoder struct {
	*problems
	file string
	flag bool // file is a flag as written, or of a document whose lines aren't known

	foreign bool // what a flag gives is of a document

	metrics *[]named // the metrics that a study names
}

func (d decoder) at(n *yaml.Node) place {
	if d.flag || n == nil {
		return place{file: d.file, foreign: d.foreign}
	}
	return place{file: d.file, line: n.Line}
}

// isNull reports whether the value is empty: "payloadFile:" or ~.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// isScalar reports whether the value is a single one: a text, a number, true or false.
func isScalar(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && !isNull(n) }

// into decodes n into the target of a pointer, and reports whether there was no error.
func (d decoder) into(n *yaml.Node, path string, target any) bool {
	return d.value(n, path, reflect.ValueOf(target).Elem(), nil)
}

// value decodes n into v, which is settable; allowed is a closed set of words or nil. It reports whether there was no error.
func (d decoder) value(n *yaml.Node, path string, v reflect.Value, allowed []string) bool {
	n = resolve(n)
	switch v.Type() {
	case reflect.TypeFor[Sizes]():
		return d.sizes(n, path, v)
	case reflect.TypeFor[Consumers]():
		return d.consumers(n, path, v)
	case reflect.TypeFor[map[string]any]():
		d.add(d.at(n), path, "%s is not a mapping of native settings", Seen(n))
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, path, v.Elem(), allowed)
	case reflect.Slice:
		return d.list(n, path, v)
	case reflect.Struct:
		return d.mapping(n, path, v)
	case reflect.Interface:
		return d.native(n, path, v)
	}
	if !isScalar(n) {
		hint := either(n.Kind == yaml.SequenceNode, "; several values belong under axes", "")
		d.add(d.at(n), path, "%s is not %s%s", Seen(n), expected(v.Type(), allowed), hint)
		return false
	}
	var err error
	text := strings.TrimSpace(n.Value)
	if rate, isNumber := v.Addr().Interface().(*float64); isNumber && isRate(path) {
		*rate, err = ParseRate(text)
	} else {
		err = scalar(text, v, allowed)
	}
	if err != nil {
		d.add(d.at(n), path, "%v", err)
	}
	return err == nil
}

func (d decoder) sizes(n *yaml.Node, path string, v reflect.Value) bool {
	if n.Kind != yaml.SequenceNode {
		var one Size
		ok := d.into(n, path, &one)
		v.Set(reflect.ValueOf(Sizes{{one, 1}}))
		return ok
	}
	if len(n.Content) > 0 && resolve(n.Content[0]).Kind == yaml.ScalarNode {
		d.add(d.at(n), path, "a list of plain sizes; allowed: a size, or a list of {size, weight}; several values belong under axes")
		return false
	}
	var list []WeightedSize
	ok := d.list(n, path, reflect.ValueOf(&list).Elem())
	v.Set(reflect.ValueOf(Sizes(list)))
	return ok
}

func (d decoder) list(n *yaml.Node, path string, v reflect.Value) bool {
	elem := v.Type().Elem()
	if n.Kind == yaml.MappingNode && elem.Kind() == reflect.Float64 {
		values, ok := d.span(n, path)
		v.Set(reflect.ValueOf(values))
		return ok
	}
	if isScalar(n) && elem.Kind() == reflect.String {
		var one string
		ok := d.into(n, path, &one)
		v.Set(reflect.ValueOf([]string{one}))
		return ok
	}
	if n.Kind != yaml.SequenceNode {
		hint := ""
		if isScalar(n) && elem.Kind() == reflect.Float64 {
			hint = fmt.Sprintf("; allowed: such as [%s]", strings.Trim(n.Value, "[] "))
		}
		d.add(d.at(n), path, "%s is not a %s%s", Seen(n), typeText(v.Type()), hint)
		return false
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	ok := true
	for i, c := range n.Content {
		ok = d.value(c, element(path, i), out.Index(i), nil) && ok
	}
	v.Set(out)
	return ok
}

// mapping decodes an element of a list: a step, a fault, a weighted size.
func (d decoder) mapping(n *yaml.Node, path string, v reflect.Value) bool {
	var names []string
	byName := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		byName[name] = v.FieldByIndex(f.Index)
	}
	if !d.isMapping(n, path, " with "+strings.Join(names, ", ")) {
		return false
	}
	ok := true
	for _, p := range d.pairs(n, path) {
		field, known := byName[p.key]
		if !known {
			d.unknownKey(p, path+"."+p.key, names...)
			ok = false
			continue
		}
		ok = d.value(p.value, path+"."+p.key, field, elementWords[v.Type().Name()+"."+p.key]) && ok
	}
	return ok
}

// elementWords are the closed sets inside list elements.
var elementWords = map[string][]string{"Fault.do": {"pause", "resume", "kill", "restart"}}

// native keeps a native setting's value as the scalar that YAML makes of it.
func (d decoder) native(n *yaml.Node, path string, v reflect.Value) bool {
	var value any
	if !isScalar(n) || n.Decode(&value) != nil {
		parent := path[:max(0, strings.LastIndexByte(path, '.'))]
		what := either(parent == "headers" || strings.HasSuffix(parent, ".headers"), "headers", "native settings")
		of := either(parent == "objectives" || strings.HasSuffix(parent, ".objectives"), "bound; allowed: the worst that is allowed, or a comparison such as '< 20ms'",
			"single value: "+what+" are texts, numbers, true or false")
		d.add(d.at(n), path, "%s is not a %s", Seen(n), of)
		return false
	}
	switch value.(type) {
	case string, bool, int, int64, uint64, float64:
	default: // for example a timestamp: the broker gets it as it is written
		value = n.Value
	}
	v.Set(reflect.ValueOf(value))
	return true
}

// scalar parses text into v.
func scalar(text string, v reflect.Value, allowed []string) (err error) {
	switch p := v.Addr().Interface().(type) {
	case *Duration:
		*p, err = ParseDuration(text)
	case *Size:
		*p, err = ParseSize(text)
	case *bool:
		var ok bool
		if *p, ok = switchWord(text); !ok {
			err = fmt.Errorf("%q is not true or false", text)
		}
	case *float64:
		if *p, err = strconv.ParseFloat(yamlSpecials.Replace(text), 64); err != nil {
			err = fmt.Errorf("%q is not a number", text)
		}
	case *string:
		*p, err = word(text, allowed)
	default: // int, int64
		var i int64
		i, err = wholeNumber(text)
		v.SetInt(i)
	}
	return err
}

// yamlSpecials rewrites YAML's .nan and .inf for strconv, so that validation can name them.
var yamlSpecials = strings.NewReplacer(".nan", "nan", ".NaN", "nan", ".inf", "inf", ".Inf", "inf")

func wholeNumber(text string) (int64, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if f > 1<<53 || f < -1<<53 { // also if it is too large for a float64
		return 0, fmt.Errorf("%q is too large", text)
	}
	if err != nil || f != float64(int64(f)) {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return int64(f), nil
}

// word checks a text against a closed set; on and off may be written as YAML's booleans.
func word(text string, allowed []string) (string, error) {
	if slices.Contains(allowed, TLSOff) {
		if on, ok := switchWord(text); ok {
			text = either(on, TLSOn, TLSOff)
		}
	}
	if allowed != nil && !slices.Contains(allowed, text) {
		meant := text
		if ours := foreign[strings.ToLower(text)]; slices.Contains(allowed, ours) {
			meant = ours
		}
		return "", fmt.Errorf("%q is not one of %s%s", text, strings.Join(allowed, ", "), suggest.DidYouMean(meant, allowed))
	}
	return text, nil
}

// foreign are brokers' words for which a spec has others, such as those of Kafka's acks.
var foreign = map[string]string{"all": acksQuorum, "-1": acksQuorum, "majority": acksQuorum, "1": acksLeader, "0": acksNone, "throughput": MeasurePeak, "latency": MeasureRate}

func switchWord(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "y":
		return true, true
	case "false", "off", "no", "n":
		return false, true
	}
	return false, false
}

// pair is one key of a mapping and its value.
type pair struct {
	key            string
	keyNode, value *yaml.Node
}

// pairs reads a mapping; a key given twice is an error and counts once.
func (d decoder) pairs(n *yaml.Node, path string) []pair {
	var out []pair
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		full := strings.TrimPrefix(path+"."+k.Value, ".")
		if k.Kind != yaml.ScalarNode {
			d.add(d.at(k), path, "%s is not a key", Seen(k))
			continue
		}
		if line, dup := first[k.Value]; dup {
			d.add(d.at(k), full, "given twice, first at line %d", line)
			continue
		}
		first[k.Value] = k.Line
		out = append(out, pair{k.Value, k, resolve(n.Content[i+1])})
	}
	return out
}

// isMapping reports whether n is a mapping, and reports an error if not; of completes the error, such as " of settings".
func (d decoder) isMapping(n *yaml.Node, path, of string) bool {
	if n.Kind != yaml.MappingNode {
		d.add(d.at(n), path, "%s is not a mapping%s", Seen(n), of)
		return false
	}
	return true
}

// mappings are the mappings in a list, each with its path. each and of complete the errors "… is not a list of" and "… is not a mapping".
func (d decoder) mappings(n *yaml.Node, path, each, of string) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n.Kind != yaml.SequenceNode {
			d.add(d.at(n), path, "%s is not a list of %s", Seen(n), each)
			return
		}
		for i, item := range n.Content {
			full, item := element(path, i), resolve(item)
			if d.isMapping(item, full, of) && !yield(full, item) {
				return
			}
		}
	}
}

// resolve follows a YAML alias to its anchor.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// Seen describes a node in errors.
func Seen(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// expected describes the allowed values of a scalar of type t.
func expected(t reflect.Type, allowed []string) string {
	if allowed != nil {
		return "one of " + strings.Join(allowed, ", ")
	}
	if t.Kind() == reflect.Bool {
		return typeText(t)
	}
	return "a " + typeText(t)
}
