package study

import (
	"reflect"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/suggest"
)

// maxCompared bounds what the conditions of all rules are compared with: each takes some 50 ns.
const maxCompared = 50_000_000

// checkRules refuses conditions on an axis that no sweep has, or on a choice or value that no sweep's axis has: such a rule would
// silently exclude nothing. Rules that sweeps share may name an axis of one of them, or a value of the study's own axes (common)
// that every sweep replaces.
// Rules that would take more than maxCompared comparisons are refused, too.
func (d decoder) checkRules(excluding, sweeps []sweep, common []axis) {
	type said struct { // by one rule, which several sweeps may have
		at   place
		path string
	}
	work := 0 // of one condition, at most
	for _, w := range slices.Concat(sweeps, excluding) {
		for _, a := range w.axes {
			work += len(a.values)
		}
		for _, r := range w.exclude {
			work += len(r)
		}
	}
	checked := map[said]bool{}
	for _, w := range excluding {
		for _, c := range slices.Concat(w.exclude...) {
			one := said{c.at, c.path}
			if checked[one] {
				continue
			}
			checked[one] = true
			if d.compared += work; d.compared > maxCompared {
				d.add(c.at, c.path, "with this the rules are too many for so many sweeps, values and rules")
				return
			}
			if c.name != "" {
				d.checkChoices(c, sweeps)
				continue
			}
			d.checkValues(c, slices.Concat(sweeps, excluding, []sweep{{axes: common}}))
		}
	}
}

// checkValues checks a condition's values if an axis sets the path in each sweep that has the rule. Otherwise the base, a default
// or a flag may set it.
func (d decoder) checkValues(c condition, sweeps []sweep) {
	free := map[string]bool{}             // by the paths of a value: any value is possible
	there := map[string]map[string]bool{} // by the paths of a value: labels of the axes' values
	inOrder := map[string][]string{}
	for _, wanted := range c.any {
		key, _ := pathsAndTexts(wanted)
		if there[key] == nil {
			there[key] = map[string]bool{}
			inOrder[key], free[key] = c.given(wanted, sweeps)
			for _, label := range inOrder[key] {
				there[key][label] = true
			}
		}
		if !free[key] && len(there[key]) > 0 && !there[key][labelOf(wanted)] && !d.enough() {
			d.add(c.at, c.path, "%s is not one of %s", labelOf(wanted), strings.Join(inOrder[key], ", "))
		}
	}
}

// given returns the values that the sweeps' axes give to the settings in wanted, each once; free reports whether something else
// may set them.
func (c condition) given(wanted layer, sweeps []sweep) (labels []string, free bool) {
	seen := map[string]bool{}
	for _, w := range sweeps {
		i := slices.IndexFunc(w.axes, func(a axis) bool { return a.sets(wanted[0].path) })
		if i < 0 {
			if w.has(c) {
				return nil, true
			}
			continue
		}
		for _, v := range w.axes[i].values {
			var given layer
			for _, s := range wanted {
				if f, ok := v.set.find(s.path); ok {
					given = append(given, f)
				}
			}
			if len(given) < len(wanted) {
				return nil, true
			}
			if label := labelOf(given); !seen[label] {
				seen[label] = true
				labels = append(labels, label)
			}
		}
	}
	return labels, false
}

// apart separates paths, and texts, in a map's key.
const apart = "\x00"

// pathsAndTexts joins the paths of settings, and their values.
func pathsAndTexts(l layer) (paths, texts string) {
	var ps, ts []string
	for _, s := range l {
		ps, ts = append(ps, s.path), append(ts, text(reflect.ValueOf(s.value)))
	}
	return strings.Join(ps, apart), strings.Join(ts, apart)
}

// has reports whether a rule of the sweep has the condition.
func (w sweep) has(c condition) bool {
	return slices.ContainsFunc(slices.Concat(w.exclude...), func(o condition) bool { return o.at == c.at && o.path == c.path })
}

func (d decoder) checkChoices(c condition, sweeps []sweep) {
	var there []string
	for _, w := range sweeps {
		for _, a := range w.axes {
			if a.named && a.name == c.name {
				there = append(there, labels(a)...)
			}
		}
	}
	if there == nil {
		d.add(c.at, c.path, "no axis or setting %q%s", c.name, suggest.DidYouMean(c.name, append(otherNames(), layout().groups[""]...)))
		return
	}
	slices.Sort(there)
	there = slices.Compact(there)
	for _, label := range c.labels {
		if !slices.Contains(there, label) && !d.enough() {
			d.add(c.at, c.path, "%q is not one of %s%s", label, strings.Join(there, ", "), suggest.DidYouMean(label, there))
		}
	}
}
