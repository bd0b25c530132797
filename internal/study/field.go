package study

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	yaml "go.yaml.in/yaml/v3"
)

// Field documents one setting of a Spec, for help, checks and suggestions.
type Field struct {
	Path     string   // as in a spec file, dots between levels
	Also     []string // other accepted names
	Type     string   // describes a value
	Default  string   // the value if nothing is given
	Allowed  []string // the closed set of words, nil for any value
	Measures []string // the measures that use it, nil for all
	Doc      string   // one line
}

// Fields lists every setting of a Spec in its order there. The caller owns the slice.
func Fields() []Field {
	defaults := reflect.ValueOf(Defaults())
	out := make([]Field, 0, len(abouts))
	for _, a := range abouts {
		f := Field{Path: a.path, Default: a.fallback, Allowed: slices.Clone(a.allowed), Measures: users(a.path), Doc: a.doc}
		if a.usual != nil {
			f.Default = a.usual()
		}
		l := layout().leaves[a.path]
		f.Type = typeText(l.typ)
		if f.Default == "" {
			f.Default = text(l.in(defaults))
		}
		for _, o := range others {
			if o.path == a.path && o.name != a.path {
				f.Also = append(f.Also, o.name)
			}
		}
		out = append(out, f)
	}
	return out
}

// leaf is one settable field of Spec.
type leaf struct {
	path  string
	typ   reflect.Type
	index []int // of the fields on the way, as in reflect.Value.FieldByIndex
}

// in finds the leaf in a Spec; the zero Value when a pointer on the way is nil.
func (l leaf) in(spec reflect.Value) reflect.Value {
	v, _ := spec.FieldByIndexErr(l.index) // it fails at nil pointers only
	return v
}

// place finds the leaf in an addressable Spec and allocates the pointers on the way.
func (l leaf) place(v reflect.Value) reflect.Value {
	for _, i := range l.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// outline is the shape of Spec as its users write it.
type outline struct {
	leaves map[string]leaf
	groups map[string][]string // path of a nested group ("" = the spec) -> the names in it, in order
	native map[string]leaf     // maps of settings by native and other names: server, client, topicConfig, headers, objectives
}

// computed fields are filled in by the package; a document can't give them.
var computed = map[string]bool{"payloadDigest": true}

var layout = sync.OnceValue(func() outline {
	p := outline{map[string]leaf{}, map[string][]string{}, map[string]leaf{}}
	p.walk(reflect.TypeFor[Spec](), "", nil)
	return p
})

func (p outline) walk(t reflect.Type, prefix string, index []int) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := strings.TrimPrefix(prefix+"."+name, ".")
		if computed[path] {
			continue
		}
		p.groups[prefix] = append(p.groups[prefix], name)
		l := leaf{path, f.Type, slices.Concat(index, f.Index)}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch inner.Kind() {
		case reflect.Struct:
			p.walk(inner, path, l.index)
		case reflect.Map:
			p.native[path] = l
			p.leaves[path] = l
		default:
			p.leaves[path] = l
		}
	}
}

// typeTexts describe values of the package's own types.
var typeTexts = map[reflect.Type]string{
	reflect.TypeFor[Duration]():     "time",
	reflect.TypeFor[Size]():         "size",
	reflect.TypeFor[Sizes]():        "size, or list of {size, weight}",
	reflect.TypeFor[Consumers]():    "whole number",
	reflect.TypeFor[[]Step]():       "list of {rate, to, for}",
	reflect.TypeFor[[]SearchGoal](): "list of {latency, quantile}",
	reflect.TypeFor[Headers]():      "mapping of names to values, or {count, size}",
	reflect.TypeFor[Objectives]():   "mapping of metrics to bounds",
	reflect.TypeFor[[]Fault]():      "list of {at, do, node, for}",
}

func typeText(t reflect.Type) string {
	if text, ok := typeTexts[t]; ok {
		return text
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "list of " + typeText(t.Elem()) + "s"
	case reflect.Map:
		return "native settings"
	}
	return "text"
}

// Same reports whether two texts are the same value of the setting at path, as 2s and 2000ms are, or 1KiB and 1024.
func Same(path, a, b string) bool {
	if a == b {
		return true
	}
	l, ok := layout().leaves[canonical(path)]
	if !ok {
		return false // a native setting, or none: only the broker knows the meaning of its values
	}
	var read [2]string
	for i, s := range []string{a, b} {
		v, n := reflect.New(l.typ), &yaml.Node{Kind: yaml.ScalarNode, Value: s}
		if !(decoder{problems: new(problems)}).value(n, l.path, v.Elem(), nil) {
			return false
		}
		read[i] = text(v.Elem())
	}
	return read[0] == read[1]
}
