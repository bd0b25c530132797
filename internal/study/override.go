package study

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
)

// Set overrides one setting of every point: "load.rate=1000", "server.num.io.threads=4". The value is parsed as YAML. It replaces
// an axis over the same path; of an axis of named choices with that path, the choices that agree remain. A setting that another
// flag gave is refused. On error (*Errors, naming the flag as --set 'x=y') nothing has changed.
func (s *Study) Set(pathEqualsValue string) error {
	flag := "--set '" + pathEqualsValue + "'"
	path, value, ok := strings.Cut(pathEqualsValue, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return refusal(flag, 0, "not a setting; allowed: path=value, such as load.rate=1000")
	}
	return s.SetAxis(flag, path, []string{value})
}

// SetAxis overrides a setting by a list of values (each parsed as YAML), with one point for each; a single value is the same as Set. For
// an axis of named choices, or "sweep", values are names. Errors name the flag as it was typed. On error nothing has changed.
func (s *Study) SetAxis(flag, path string, values []string) error {
	return s.setAxis(decoder{problems: &problems{}, file: flag, flag: true}, path, values)
}

// SetFrom overrides a setting like Set, by the value that another document gives to it. It is trusted no more than the study's own.
func (s *Study) SetFrom(file, path, value string) error {
	return s.setAxis(decoder{problems: &problems{}, file: file, flag: true, foreign: true}, path, []string{value})
}

// Narrow leaves one choice of each axis called name, and drops the others. The choice stays what it was, of the document or of a flag. It
// panics if there is no such choice.
func (s *Study) Narrow(name, label string) {
	found := false
	for i, w := range s.sweeps {
		j := indexOf(w.axes, name)
		if j < 0 {
			continue
		}
		k := slices.Index(labels(w.axes[j]), label)
		if k < 0 {
			continue
		}
		found = true
		w.axes = slices.Clone(w.axes)
		w.axes[j].values = w.axes[j].values[k : k+1]
		s.sweeps[i] = w
	}
	if !found {
		panic(fmt.Sprintf("study: no axis %q has a choice %q", name, label))
	}
}

func (s *Study) setAxis(d decoder, path string, values []string) error {
	flag := d.file
	if len(values) == 0 {
		return refusal(strings.TrimSpace(flag), 0, "no value")
	}
	if why := thousandsIn(path, values); why != "" {
		d.add(place{file: flag}, canonical(path), "%s", why)
		return d.err()
	}
	repeats := path == "repeats" && len(values) == 1
	paths := []string{path} // repeats and choices are no paths of a spec
	var choices []choice
	if !repeats && known(path) {
		paths = nil
		for _, v := range values {
			n := flagNode(v)
			set := d.settings(n, n, path, "", nil)
			if len(set) > 0 {
				choices = append(choices, choice{labelOf(set), set})
			}
			for _, x := range set {
				paths = append(paths, x.path)
			}
		}
	}
	for _, p := range paths {
		if other := s.flags[p]; other != "" && p != impliedMeasure {
			d.add(place{file: flag}, p, "given twice: %s gives it as well", other)
		}
	}
	err := d.err()
	switch {
	case err != nil:
	case repeats:
		d.repeats(flagNode(values[0]), path, s)
		err = d.err()
	case !known(path):
		err = s.choose(d, path, values)
	case len(choices) > 0:
		err = s.lay(d, path, choices)
	}
	if err != nil {
		return err
	}
	for _, p := range paths {
		s.flags[p] = flag
	}
	return nil
}

// lay overlays choices for path on every sweep. It drops sweeps without remaining points; it is an error if none remains.
func (s *Study) lay(d decoder, path string, choices []choice) error {
	var kept []sweep
	reason := ""
	for _, w := range s.sweeps {
		w, why := w.overridden(canonical(path), choices)
		if why != "" {
			reason = why
			continue
		}
		kept = append(kept, w)
	}
	if len(kept) == 0 {
		d.add(place{file: d.file}, path, "%s", reason)
		return d.err()
	}
	s.sweeps = kept
	if one := choices[0].set; len(choices) == 1 && one[0].path == "seed" {
		s.Seed = one[0].value.(int64)
	}
	return nil
}

// flagNode parses a flag's value as YAML; other values are texts.
func flagNode(value string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value), &doc); err == nil && len(doc.Content) == 1 {
		return resolve(doc.Content[0])
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// overridden overlays choices for the axis called name on the sweep; why is not empty if none of its points remains.
func (w sweep) overridden(name string, choices []choice) (_ sweep, why string) {
	w.axes = slices.Clone(w.axes)
	set := choices[0].set // those of the others have the same paths
	for i, a := range w.axes {
		setsIt := slices.ContainsFunc(set, func(s setting) bool { return a.sets(s.path) })
		if a.named && (a.name == name || setsIt) {
			if w.axes[i].values = a.agreeing(name, choices); len(w.axes[i].values) == 0 {
				why = fmt.Sprintf("no choice of the axis %q agrees; it has %s", a.name, strings.Join(labels(a), ", "))
			}
			return w, why
		}
	}
	if _, given := w.set.find(name); name == "broker" && given {
		if !agrees(w.set, choices) {
			why = "no point of the study has that broker"
		}
		return w, why
	}
	w.over = slices.DeleteFunc(slices.Clone(w.over), func(o setting) bool { return set.index(o.path) >= 0 })
	at := indexOf(w.axes, name)
	switch {
	case len(choices) == 1:
		if at >= 0 {
			w.axes = slices.Delete(w.axes, at, at+1)
		}
		w.over = append(w.over, set...)
	case at >= 0:
		w.axes[at].values, w.axes[at].rank = choices, rankFlags
	default:
		w.axes = append(w.axes, axis{name: name, at: set[0].at, values: choices, rank: rankFlags})
	}
	return w, ""
}

// agreeing are the named choices of an axis that choices name or agree with.
func (a axis) agreeing(name string, choices []choice) []choice {
	return slices.DeleteFunc(slices.Clone(a.values), func(c choice) bool {
		byName := a.name == name && slices.ContainsFunc(choices, func(o choice) bool { return o.label == c.label })
		return !byName && !agrees(c.set, choices)
	})
}

// agrees reports whether l agrees with one of the choices on all paths that both have.
func agrees(l layer, choices []choice) bool {
	return slices.ContainsFunc(choices, func(c choice) bool {
		both := 0
		for _, s := range c.set {
			if own, ok := l.find(s.path); ok {
				both++
				if text(reflect.ValueOf(own.value)) != text(reflect.ValueOf(s.value)) {
					return false
				}
			}
		}
		return both > 0
	})
}

func labels(a axis) []string { return texts(a.values, func(c choice) string { return c.label }) }

// choose keeps the choices, or sweeps, named in values.
func (s *Study) choose(d decoder, name string, values []string) error {
	var there []string
	found := false
	kept := slices.Clone(s.sweeps)
	if name == "sweep" {
		for _, w := range s.sweeps {
			there = append(there, w.name)
		}
		found = len(there) > 1
		kept = slices.DeleteFunc(kept, func(w sweep) bool { return !slices.Contains(values, w.name) })
	}
	for i := range kept {
		for j, a := range kept[i].axes {
			if a.named && a.name == name {
				found = true
				there = append(there, labels(a)...)
				kept[i].axes = slices.Clone(kept[i].axes)
				kept[i].axes[j].values = slices.DeleteFunc(slices.Clone(a.values), func(c choice) bool { return !slices.Contains(values, c.label) })
			}
		}
	}
	kept = slices.DeleteFunc(kept, func(w sweep) bool {
		return slices.ContainsFunc(w.axes, func(a axis) bool { return len(a.values) == 0 })
	})
	if !found {
		d.unknown(place{file: d.file}, name, "", append(slices.Clone(studyKeys), s.choiceNames()...))
		return d.err()
	}
	for _, v := range values {
		if !slices.Contains(there, v) {
			d.add(place{file: d.file}, name, "%q is not one of %s%s", v, strings.Join(there, ", "), suggest.DidYouMean(v, there))
		}
	}
	if err := d.err(); err != nil {
		return err
	}
	s.sweeps = kept
	return nil
}

func (s *Study) choiceNames() []string {
	var out []string
	for _, w := range s.sweeps {
		for _, a := range w.axes {
			if a.named && !slices.Contains(out, a.name) {
				out = append(out, a.name)
			}
		}
	}
	return out
}
