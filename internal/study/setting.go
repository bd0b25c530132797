package study

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/usual"
)

// setting is one decoded value for one path, and its position.
type setting struct {
	path  string // canonical: a leaf of Spec, or server.NAME and the like
	value any    // of the leaf's type
	at    place
	as    string // the path as written
	// soft settings are dropped if they have no effect, instead of being refused: an OpenMessaging Benchmark file has
	// testDurationMinutes for any measurement.
	soft bool
}

// layer is a set of settings given together; a later layer overrides an earlier one.
type layer []setting

func (l layer) index(path string) int {
	return slices.IndexFunc(l, func(s setting) bool { return s.path == path })
}

func (l layer) find(path string) (setting, bool) {
	if i := l.index(path); i >= 0 {
		return l[i], true
	}
	return setting{}, false
}

// weight is the number of settings, where a long one, or a list, counts as several.
func (l layer) weight() (settings int) {
	for _, s := range l {
		text, _ := s.value.(string)
		settings += weight(s.path + text)
		if list := reflect.ValueOf(s.value); list.Kind() == reflect.Slice {
			settings += list.Len()
		}
	}
	return settings
}

// put adds s or replaces l's value at its path.
func (l layer) put(s setting) layer {
	if i := l.index(s.path); i >= 0 {
		l[i] = s
		return l
	}
	return append(l, s)
}

// places are the indices of the settings of l by their paths.
func (l layer) places() map[string]int {
	at := map[string]int{}
	for i, s := range l {
		at[s.path] = i
	}
	return at
}

// clash returns the first setting of more whose path l already has; at are the places of l's settings. An implied measure never clashes.
func clash(at map[string]int, l layer, more []setting) (first, second setting, twice bool) {
	for _, s := range more {
		if i, there := at[s.path]; there && s.path != impliedMeasure {
			return l[i], s, true
		}
	}
	return setting{}, setting{}, false
}

func onLine(at place) string {
	if at.line == 0 {
		return ""
	}
	return fmt.Sprintf(" at line %d", at.line)
}

// impliedMeasure is the pseudo path of a measure that an alias implies: the file's own measure takes precedence.
const impliedMeasure = "(measure)"

// versionByBroker is the pseudo path of versions that depend on the broker: version: {kafka: 2.2.0, rabbitmq: 3.10.8}.
const versionByBroker = "(version)"

// versionsOf decodes a mapping of brokers to versions.
func (d decoder) versionsOf(key, n *yaml.Node, full string) []setting {
	of := map[string]string{}
	for _, p := range d.pairs(n, full) {
		of[p.key] = d.text(p.value, join(full, p.key))
	}
	return []setting{{path: versionByBroker, value: of, at: d.at(key), as: "version"}}
}

// layer decodes a mapping of settings; prefix is the path of the mapping ("" = a whole spec) and shown the path to print before
// it. It skips the keys in skip.
func (d decoder) layer(n *yaml.Node, prefix, shown string, skip []string) layer {
	var out layer
	at := map[string]int{} // in out, by path
	for _, p := range d.pairs(n, join(shown, prefix)) {
		if prefix == "" && slices.Contains(skip, p.key) {
			continue
		}
		given := d.settings(p.keyNode, p.value, join(prefix, p.key), shown, skip)
		if first, s, twice := clash(at, out, given); twice {
			d.add(s.at, join(shown, s.as), "given twice: %q%s means the same", first.as, onLine(first.at))
			continue
		}
		for _, s := range given {
			if i, there := at[s.path]; there {
				out[i] = s
				continue
			}
			at[s.path] = len(out)
			out = append(out, s)
		}
	}
	return out
}

// settings decodes one key: one setting, or several if it is a group or a short form.
func (d decoder) settings(key, n *yaml.Node, path, shown string, also []string) []setting {
	full := join(shown, path)
	at := d.at(key)
	p := layout()
	names, isGroup := p.groups[path]
	if isGroup && n.Kind == yaml.MappingNode {
		return d.layer(n, path, shown, nil)
	}
	if o, ok := otherName(path); ok {
		if o.settings != nil {
			return o.settings(d, written{n, at, path, full})
		}
		return d.renamed(d.settings(key, n, o.path, shown, also), path, o.path)
	}
	if path == "version" && n.Kind == yaml.MappingNode {
		return d.versionsOf(key, n, full)
	}
	l, isLeaf := p.leaves[path]
	_, isNative := p.native[groupOf(path)]
	switch {
	case isNative && isLeaf:
		return d.natives(n, l, path, full)
	case isNative:
		return d.one(key, n, path, full, reflect.TypeFor[any](), nil)
	case isLeaf:
		return d.one(key, n, path, full, l.typ, aboutOf[path].allowed)
	case !isGroup:
		d.unknown(at, path, shown, also)
	case !isNull(n):
		d.add(at, full, "%s is not a mapping; allowed: %s", Seen(n), strings.Join(names, ", "))
	}
	return nil
}

func (d decoder) one(key, n *yaml.Node, path, full string, t reflect.Type, allowed []string) []setting {
	if t.Kind() == reflect.String && isNull(n) && aboutOf[path].allowed == nil {
		return nil // an empty text is the same as none: payloadFile:
	}
	v := reflect.New(t).Elem()
	if !d.value(n, full, v, allowed) {
		return nil
	}
	return []setting{{path: path, value: v.Interface(), at: d.at(key), as: path}}
}

func (d decoder) natives(n *yaml.Node, l leaf, path, full string) []setting {
	if isNull(n) {
		return nil
	}
	of := " of native settings"
	switch path {
	case "objectives":
		of = " of metrics to bounds, such as {e2e_p99: '< 20ms'}"
	case "headers":
		of = " of names to values, such as {content-type: application/json}, or {count: 5, size: 20}"
	}
	if !d.isMapping(n, full, of) {
		return nil
	}
	var out []setting
	for _, p := range d.pairs(n, full) {
		out = append(out, d.one(p.keyNode, p.value, path+"."+p.key, full+"."+p.key, l.typ.Elem(), nil)...)
	}
	return out
}

func (d decoder) renamed(list []setting, written, path string) []setting {
	for i := range list {
		list[i].as = written + strings.TrimPrefix(list[i].as, path)
	}
	return list
}

// unknown reports an unknown path, with the nearest known one.
func (d decoder) unknown(at place, path, shown string, also []string) {
	if len(d.found) > 10*shownProblems { // nearly all errors that will be shown were found, and looking for similar names takes time
		d.add(at, join(shown, path), "unknown key")
		return
	}
	group, name := "", path
	names := append(slices.Clone(also), otherNames()...)
	if head, tail, nested := cutLast(path); nested && layout().groups[head] != nil {
		group, name, names = head, tail, nil
	}
	names = append(names, layout().groups[group]...)
	if group == "" && strings.Contains(path, ".") {
		names = slices.AppendSeq(names, maps.Keys(layout().leaves))
		slices.Sort(names)
	}
	if group != "" {
		d.add(at, join(shown, path), "%s", suggest.UnknownKey(name, names))
		return
	}
	hint := suggest.DidYouMean(name, names) // there are too many to list
	if meant := cmp.Or(suggest.Containing(path, slices.Sorted(maps.Keys(layout().leaves))), suggest.Containing(path, usual.SettingsOfAll())); hint == "" && meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	isInBase := strings.HasPrefix(join(shown, path), "base.") || strings.HasPrefix(path, "base.")
	switch {
	case hint == "" && isInBase:
		hint = "; settings of a broker stand below client, server or topicConfig; brokermark list settings shows all others"
	case hint == "":
		hint = "; brokermark list settings shows those of a spec"
	}
	d.add(at, join(shown, path), "unknown key %q%s", name, hint)
}

// unknownKey reports an unknown key of a mapping with few allowed keys.
func (d decoder) unknownKey(p pair, path string, allowed ...string) {
	d.add(d.at(p.keyNode), path, "%s", suggest.UnknownKey(p.key, allowed))
}

func cutLast(path string) (head, tail string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// element is the path of an element of a list.
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

// texts lists the text of each element of a list.
func texts[T any](list []T, of func(T) string) []string {
	all := make([]string, len(list))
	for i, one := range list {
		all[i] = of(one)
	}
	return all
}

// groupOf is the first level of a path.
func groupOf(path string) string {
	head, _, _ := strings.Cut(path, ".")
	return head
}

// apply sets the setting in spec.
func (s setting) apply(spec *Spec) {
	root := reflect.ValueOf(spec).Elem()
	p := layout()
	if l, ok := p.leaves[s.path]; ok {
		l.place(root).Set(reflect.ValueOf(s.value))
		return
	}
	name, native, _ := strings.Cut(s.path, ".")
	l, ok := p.native[name]
	if !ok {
		panic("study: no such setting: " + s.path)
	}
	m := l.in(root)
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	m.SetMapIndex(reflect.ValueOf(native), reflect.ValueOf(s.value))
}

// text formats a value as a person would write it in a spec file; equal values give equal texts.
func text(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	switch v.Kind() {
	case reflect.Float64:
		return number(v.Float())
	case reflect.Interface, reflect.Pointer:
		return text(v.Elem())
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, text(v.Index(i)))
		}
		return strings.Join(parts, ",")
	case reflect.Struct:
		var parts []string
		for _, field := range v.Fields() {
			if !field.IsZero() {
				parts = append(parts, text(field))
			}
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v.Interface())
}

// valueAt is the text of a spec's value at path, native settings included; "" if it is not set.
func valueAt(spec reflect.Value, path string) string {
	p := layout()
	if l, ok := p.leaves[path]; ok {
		return text(l.in(spec))
	}
	name, native, _ := strings.Cut(path, ".")
	if l, ok := p.native[name]; ok {
		return text(l.in(spec).MapIndex(reflect.ValueOf(native)))
	}
	return ""
}
