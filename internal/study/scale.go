package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/suggest"
)

// Full is the scale of every document as it is written.
const Full = "full"

// SmokeTest is the scale that only tries out a study: its figures give no verdicts.
const SmokeTest = "quick"

// scale is the study in another size: fewer values on its axes, shorter phases.
type scale struct {
	name    string
	repeats int // 0: the study's
	sweeps  []sweep
}

// part are the changes of a scale for all sweeps, or for one of them.
type part struct {
	set     layer
	axes    []scaledAxis
	exclude []rule
}

// scaledAxis are the values that a scale keeps of an axis.
type scaledAxis struct {
	name, path, full string
	at               place
	items            []*yaml.Node
}

// Scales lists the sizes in which the study can be run, Full first.
func (s *Study) Scales() []string {
	return append([]string{Full}, texts(s.scales, func(c scale) string { return c.name })...)
}

// UsualScale is the default scale: the first one in the document, so that a first run ends soon, or else Full.
func (s *Study) UsualScale() string {
	if len(s.scales) > 0 {
		return s.scales[0].name
	}
	return Full
}

// AtScale is the scale that was chosen for the study.
func (s *Study) AtScale() string { return cmp.Or(s.at, Full) }

// Scale changes the study to one of its scales. Call it before Only, Set and SetAxis, which override its settings. On error
// nothing has changed.
func (s *Study) Scale(name string) error {
	if name == Full {
		return nil
	}
	for _, c := range s.scales {
		if c.name == name {
			s.sweeps, s.at = slices.Clone(c.sweeps), name
			if c.repeats > 0 {
				s.Repeats, s.Until = c.repeats, 0
			}
			return nil
		}
	}
	return refusal("--scale "+name, 0, "%s has no such scale; allowed: %s%s",
		s.Name, strings.Join(s.Scales(), ", "), suggest.DidYouMean(name, s.Scales()))
}

// Only keeps only the named experiments. On error nothing has changed.
func (s *Study) Only(names []string) error {
	there := s.Experiments()
	for _, name := range names {
		if slices.Contains(there, name) {
			continue
		}
		flag := "--only " + strings.Join(names, ",")
		if len(there) == 0 {
			return refusal(flag, 0, "%s has no experiments with names: its document has no sweeps", s.Name)
		}
		return refusal(flag, 0, "%s has no experiment %q; allowed: %s%s", s.Name, name, strings.Join(there, ", "), suggest.DidYouMean(name, there))
	}
	s.sweeps = slices.DeleteFunc(slices.Clone(s.sweeps), func(w sweep) bool { return !slices.Contains(names, w.name) })
	return nil
}

// scales decodes the mapping of scales and applies each to the sweeps.
func (d decoder) scales(n *yaml.Node, sweeps []sweep) (out []scale) {
	for _, p := range d.below(n, "scales") {
		full := "scales." + p.key
		if p.key == Full {
			d.add(d.at(p.keyNode), full, "%s is the document as it is written; allowed: another name", Full)
			continue
		}
		c := scale{name: p.key}
		all, each := d.scale(p.value, full, &c.repeats)
		for _, name := range slices.Sorted(maps.Keys(each)) {
			if !slices.ContainsFunc(sweeps, func(w sweep) bool { return w.name == name }) {
				d.add(d.at(p.keyNode), full+".sweeps."+name, "no sweep has that name")
			}
		}
		for _, a := range all.axes {
			if !slices.ContainsFunc(sweeps, func(w sweep) bool { return indexOf(w.axes, a.name) >= 0 }) {
				d.add(a.at, a.full, "no sweep has such an axis")
			}
		}
		for _, w := range sweeps {
			weight := 1 + len(w.axes) + len(w.exclude) + len(all.exclude) + len(all.set)
			for _, a := range all.axes {
				weight += len(a.items)
			}
			if !d.spend(weight, d.at(p.keyNode), full) {
				return out
			}
			c.sweeps = append(c.sweeps, d.scaled(w, all, each[w.name]))
		}
		out = append(out, c)
	}
	return out
}

// scale decodes the changes of one scale for all sweeps and for each.
func (d decoder) scale(n *yaml.Node, full string, repeats *int) (all part, each map[string]part) {
	each = map[string]part{}
	var rest []pair
	for _, p := range d.below(n, full) {
		at := join(full, p.key)
		switch p.key {
		case "repeats":
			if d.into(p.value, at, repeats) && (*repeats < 1 || *repeats > maxRepeats) {
				d.add(d.at(p.value), at, "%d is out of range; allowed: 1 to %d", *repeats, maxRepeats)
			}
		case "sweeps":
			for _, q := range d.below(p.value, at) {
				each[q.key] = d.part(d.below(q.value, join(at, q.key)), join(at, q.key), []string{"set", "axes", "exclude"})
			}
		default:
			rest = append(rest, p)
		}
	}
	all = d.part(rest, full, []string{"repeats", "set", "axes", "exclude", "sweeps"})
	for i := range all.set {
		all.set[i].soft = true // given for all sweeps, also for those that don't use it
	}
	return all, each
}

func (d decoder) part(pairs []pair, full string, allowed []string) (out part) {
	for _, p := range pairs {
		at := join(full, p.key)
		switch p.key {
		case "set":
			out.set = d.set(p.value, at)
		case "axes":
			for _, q := range d.below(p.value, at) {
				items := d.items(q.value, join(at, q.key))
				out.axes = append(out.axes, scaledAxis{canonical(q.key), q.key, join(at, q.key), d.at(q.keyNode), items})
			}
		case "exclude":
			out.exclude = d.rules(p.value, at)
		default:
			d.unknownKey(p, at, allowed...)
		}
	}
	return out
}

// scaled is the sweep in another size.
func (d decoder) scaled(w sweep, all, own part) sweep {
	w.scaled, w.axes, w.exclude = slices.Clone(w.scaled), slices.Clone(w.axes), slices.Concat(w.exclude, all.exclude, own.exclude)
	for _, s := range slices.Concat(all.set, own.set) {
		if indexOf(w.axes, s.path) >= 0 {
			d.add(s.at, s.as, "%s is an axis of %s; a scale chooses its values under axes", s.path, w.name)
			continue
		}
		w.scaled = w.scaled.put(s)
	}
	for i := range w.axes {
		for _, a := range slices.Concat(own.axes, all.axes) { // its own come before those of all
			if a.name == w.axes[i].name {
				w.axes[i].values = d.kept(w.axes[i], a)
				break
			}
		}
	}
	for _, a := range own.axes {
		if indexOf(w.axes, a.name) < 0 && !d.enough() {
			d.add(a.at, a.full, "%s has no such axis; it has %s", w.name, strings.Join(axisNames(w), ", "))
		}
	}
	return w
}

func axisNames(w sweep) []string { return texts(w.axes, func(a axis) string { return a.name }) }

// kept are the values of an axis that a scale keeps: choices by their names, settings by their values.
func (d decoder) kept(a axis, chosen scaledAxis) (out []choice) {
	for _, item := range chosen.items {
		if d.enough() {
			return out
		}
		if !a.named {
			if set := d.settings(item, item, chosen.path, strings.TrimSuffix(chosen.full, "."+chosen.path), nil); len(set) > 0 {
				out = append(out, choice{labelOf(set), set})
			}
			continue
		}
		i := slices.IndexFunc(a.values, func(c choice) bool { return c.label == item.Value })
		if i < 0 {
			d.add(d.at(item), chosen.full, "%q is not one of %s%s", item.Value, strings.Join(labels(a), ", "), suggest.DidYouMean(item.Value, labels(a)))
			continue
		}
		out = append(out, a.values[i])
	}
	if len(out) == 0 {
		d.add(chosen.at, chosen.full, "no value is left")
	}
	return out
}

// Quick shortens every point to a few seconds, for a first look: shorter phases and trials, one confirmation, three rates of a
// curve, small counts and backlogs. It keeps settings overridden by Set or SetAxis. The changes are part of the spec, so quick
// points are points of their own.
func (s *Study) Quick() { s.quick = true }

func shorten(s *Spec, d *draft) {
	free := func(path string) bool {
		return !slices.ContainsFunc(d.under(path), func(p string) bool { return d.given[p].rank == rankFlags })
	}
	atMost := func(path string, t *Duration, most float64) {
		if free(path) {
			*t = min(*t, seconds(most))
		}
	}
	full := s.Duration
	if len(s.Faults) == 0 { // faults have fixed times
		atMost("duration", &s.Duration, 4)
		atMost("warmup.for", &s.Warmup.For, 1)
		atMost("warmup.max", &s.Warmup.Max, 3)
	}
	if s.Warmup.Auto {
		s.Warmup.Max = max(s.Warmup.Max, s.Warmup.For)
	}
	shortenLoad(&s.Load, float64(s.Duration)/float64(max(1, full)))
	atMost("sustainable.trial", &s.Sustainable.Trial, 1)
	atMost("sustainable.confirm", &s.Sustainable.Confirm, 2)
	atMost("sustainable.warmup", &s.Sustainable.Warmup, 0.5)
	atMost("sustainable.soak", &s.Sustainable.Soak, 2)
	if free("sustainable.confirms") {
		s.Sustainable.Confirms = min(s.Sustainable.Confirms, 1)
	}
	if free("curve") {
		s.Curve.Fractions, s.Curve.Rates = three(s.Curve.Fractions), three(s.Curve.Rates)
	}
	if free("count") {
		s.Count.Messages = min(s.Count.Messages, 100_000)
		s.Count.Bytes = shortBytes(s.Count.Bytes, s)
	}
	if free("backlog") {
		s.Backlog.Messages = min(s.Backlog.Messages, 20_000)
		s.Backlog.Bytes = shortBytes(s.Backlog.Bytes, s)
	}
}

func shortBytes(b Size, s *Spec) Size {
	return min(b, max(20_000_000, s.MessageSize.Largest()))
}

// shortenLoad shortens a load that changes with time by the same factor as the measured phase.
func shortenLoad(l *Load, factor float64) {
	squeeze := func(t Duration) Duration { return max(1, Duration(float64(t)*factor)) }
	if factor == 1 {
		return
	}
	given := l.Steps
	l.Steps = nil
	for _, s := range given {
		l.Steps = append(l.Steps, Step{s.Rate, s.To, squeeze(s.For)})
	}
	if l.Burst != nil {
		l.Burst = &Burst{l.Burst.Rate, squeeze(l.Burst.Every), squeeze(l.Burst.For)}
	}
}

// three keeps the first, the middle and the last element of a longer list.
func three(list []float64) []float64 {
	if n := len(list); n > 3 {
		return []float64{list[0], list[n/2], list[n-1]}
	}
	return list
}
