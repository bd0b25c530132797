package study

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// Point is one cell of a study: a complete, valid Spec and its values on the study's axes.
type Point struct {
	ID    string
	Study string
	Label string
	Scale string            // that of its study, or SmokeTest if Quick shortens it
	Axes  map[string]string // by canonical path, or the name of an axis of choices; "sweep" where there are several
	Spec  Spec
	// Payloads are the samples of Spec.PayloadFile. They must not be changed.
	Payloads [][]byte `json:"-"`

	given *draft // nil for a point that wasn't expanded from a study
}

// Where returns where the setting at path was written: "study.yaml:7", or the flag as typed; "" if it was not given.
func (p Point) Where(path string) string {
	if p.given == nil {
		return ""
	}
	at, ok := p.given.where(path)
	if !ok && path == "version" {
		at, _ = p.given.where(versionByBroker)
	}
	if at.line > 0 {
		return fmt.Sprintf("%s:%d", at.file, at.line)
	}
	return at.file
}

// Axis is an axis as a plan shows it.
type Axis struct {
	Name   string
	Values []string
}

// Axes lists the axes of all sweeps with their values, in the order written.
func (s *Study) Axes() []Axis {
	var out []Axis
	for _, w := range s.sweeps {
		for _, a := range w.axes {
			i := slices.IndexFunc(out, func(o Axis) bool { return o.Name == a.name })
			if i < 0 {
				i = len(out)
				out = append(out, Axis{Name: a.name})
			}
			for _, l := range labels(a) {
				if !slices.Contains(out[i].Values, l) {
					out[i].Values = append(out[i].Values, l)
				}
			}
		}
	}
	return out
}

// Points expands the study: every combination of its axes and every explicit point, completed by defaults and
// validated, in the order written; of equal points the first. It reads payload files. What is wrong comes together, as
// *Errors.
func (s *Study) Points() ([]Point, error) { return s.PointsWithin(new(Budget)) }

// PointsWithin is Points of one of several studies, which share a budget.
func (s *Study) PointsWithin(b *Budget) ([]Point, error) {
	if b.shelf.held == nil {
		b.shelf.held = map[source]samples{}
	}
	lib := &library{document: s.File, files: s.Files, found: map[source]samples{}, shelf: &b.shelf}
	e := &expansion{study: s, lib: lib, seen: map[string]bool{}}
	if b.take(e); len(e.found) > 0 {
		return nil, e.err()
	}
	for _, w := range s.sweeps {
		e.sweep(w)
	}
	switch b.repeat(e); {
	case len(e.found) > 0:
		return nil, e.err()
	case len(e.points) > 0:
		return e.points, nil
	case slices.ContainsFunc(s.sweeps, func(w sweep) bool { return len(w.exclude) > 0 }):
		e.add(place{file: s.File}, "exclude", "no point is left")
	default:
		e.add(place{file: s.File}, "points", "there are none; a study has one at least")
	}
	return nil, e.err()
}

// expansion collects points and problems.
type expansion struct {
	problems
	study  *Study
	lib    *library
	seen   map[string]bool // IDs
	points []Point
}

func (e *expansion) sweep(w sweep) {
	if !e.rivals(w) {
		e.combine(w, nil)
	}
}

// combine makes the points of all combinations that begin with the choices of the first axes.
func (e *expansion) combine(w sweep, chosen []choice) {
	if e.enough() {
		return
	}
	if len(chosen) == len(w.axes) {
		e.point(w, chosen)
		return
	}
	for _, c := range w.axes[len(chosen)].values {
		e.combine(w, append(chosen, c))
	}
}

// rivals refuses two axes of one sweep that set the same path.
func (e *expansion) rivals(w sweep) bool {
	before := len(e.found)
	owner := map[string]string{}
	for _, a := range w.axes {
		mine := map[string]bool{}
		for _, c := range a.values {
			for _, s := range c.set {
				mine[s.path] = true
			}
		}
		for _, path := range slices.Sorted(maps.Keys(mine)) {
			other, taken := owner[path]
			if taken && !slices.Contains([]string{impliedMeasure, "version", versionByBroker}, path) {
				e.add(a.at, "axes."+a.name, "gives %s, as the axis %q does", path, other)
			}
			owner[path] = a.name
		}
	}
	return len(e.found) > before
}

// point makes the point of one combination: a choice of each axis.
func (e *expansion) point(w sweep, choices []choice) {
	d := newDraft(cmp.Or(e.study.File, e.study.Name))
	d.put(e.study.base, rankBase)
	d.put(w.set, rankSweep)
	p := Point{Study: e.study.Name, Scale: e.study.AtScale(), Axes: map[string]string{}}
	chosen := map[int]layer{} // by rank
	for i, a := range w.axes {
		p.Axes[a.name] = choices[i].label
		chosen[a.rank] = append(chosen[a.rank], choices[i].set...)
	}
	d.put(chosen[rankAxes], rankAxes)
	d.put(w.scaled, rankScale)
	d.put(append(slices.Clone(w.over), chosen[rankFlags]...), rankFlags)
	idle, ambiguous := d.decide()
	p.Spec = complete(d)
	if e.study.quick {
		p.Scale = SmokeTest
		shorten(&p.Spec, d)
	}
	if w.excludes(p) {
		return
	}
	v := &validator{&e.problems, &p.Spec, d, e.study.Distrusted}
	if ambiguous {
		v.fail("measure", "missing: the settings of several measures are given; allowed: %s", strings.Join(measures, ", "))
		return
	}
	v.idle(idle)
	before := len(e.found)
	v.native()
	v.trust()
	if len(e.found) > before {
		return
	}
	p.Payloads = v.completePayload(e.lib)
	if len(e.found) > before {
		return
	}
	completeInFlight(&p.Spec, d)
	v.validate()
	if len(e.found) > 0 {
		return
	}
	p.given = d
	e.keep(p, w)
}

// keep labels a valid point and adds it unless it is a duplicate.
func (e *expansion) keep(p Point, w sweep) {
	p.ID = p.Spec.ID()
	if e.seen[p.ID] {
		return
	}
	e.seen[p.ID] = true
	if w.single {
		for _, s := range w.set {
			if s.path != "name" && s.path != "label" && s.path != impliedMeasure {
				p.Axes[s.path] = text(reflect.ValueOf(s.value))
			}
		}
	}
	if w.name != "" {
		p.Axes["sweep"] = w.name
	}
	p.Spec.Name = cmp.Or(p.Spec.Name, e.study.Name)
	p.Spec.Label = oneLine(p.Spec.Label + " " + e.label(p, w))
	p.Label = p.Spec.Label
	e.points = append(e.points, p)
}

// oneLine replaces line breaks by spaces: progress and errors show names and labels unchanged, and an untrusted document may have
// written them.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// label makes a label that distinguishes a point from its neighbours.
func (e *expansion) label(p Point, w sweep) string {
	var parts []string
	if w.name != "" && len(e.study.sweeps) > 1 {
		parts = append(parts, w.name)
	}
	for _, a := range w.axes {
		switch {
		case len(a.values) == 1:
		case a.named || a.name == "broker" || a.name == "measure":
			parts = append(parts, p.Axes[a.name])
		default:
			parts = append(parts, a.name+"="+p.Axes[a.name])
		}
	}
	if w.single && p.Spec.Label == "" {
		for _, s := range w.set {
			if value, ok := p.Axes[s.path]; ok {
				parts = append(parts, s.path+"="+value)
			}
		}
	}
	if len(parts) == 0 && p.Spec.Label == "" {
		broker := p.Spec.Broker
		if p.Spec.Version != "" {
			broker += "@" + p.Spec.Version
		}
		return fmt.Sprintf("%s %s", broker, p.Spec.Measure)
	}
	return strings.Join(parts, " ")
}

// excludes reports whether a rule of the sweep drops the point.
func (w sweep) excludes(p Point) bool {
	spec, said := reflect.ValueOf(p.Spec), map[string]string{}
	fails := func(c condition) bool { return !c.holds(p.Axes, spec, said) }
	return slices.ContainsFunc(w.exclude, func(r rule) bool { return !slices.ContainsFunc(r, fails) })
}

// holds reports whether a point with these axes and this spec meets the condition. said collects the values of the spec at paths.
func (c condition) holds(axes map[string]string, spec reflect.Value, said map[string]string) bool {
	if c.name != "" {
		return c.says[""][axes[c.name]]
	}
	for paths, allowed := range c.says {
		is, known := said[paths]
		if !known {
			is = strings.Join(texts(strings.Split(paths, apart), func(path string) string { return valueAt(spec, path) }), apart)
			said[paths] = is
		}
		if allowed[is] {
			return true
		}
	}
	return false
}

// Run is one repetition of one point.
type Run struct {
	Point      *Point // shared by all repetitions of the point
	Repetition int    // 1..repeats
}

// Order interleaves repeats of points: repetition by repetition, each in a seeded shuffle of its own, so that drift of
// the machine spreads evenly over the points. Points for which broker returns the same name share a broker in each repetition,
// so they come one after the other: blocks are shuffled, and the points of each. A point without a name is a block by itself, and all
// are if broker is nil. Equal arguments give equal orders. The runs refer to the elements of points.
func Order(points []Point, repeats int, seed int64, broker func(Spec) string) []Run {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x6272_6f6b_6572)) // any fixed number would do
	blocks := blocksOf(points, broker)
	runs := make([]Run, 0, len(points)*max(0, repeats))
	for r := 1; r <= repeats; r++ {
		for _, b := range rng.Perm(len(blocks)) {
			for _, p := range rng.Perm(len(blocks[b])) {
				runs = append(runs, Run{blocks[b][p], r})
			}
		}
	}
	return runs
}

// blocksOf returns the points that share a broker together, see Order.
func blocksOf(points []Point, broker func(Spec) string) (blocks [][]*Point) {
	at := map[string]int{} // the block of each name
	for i := range points {
		p, name := &points[i], ""
		if broker != nil {
			name = broker(p.Spec)
		}
		if b, ok := at[name]; ok && name != "" {
			blocks[b] = append(blocks[b], p)
			continue
		}
		at[name] = len(blocks)
		blocks = append(blocks, []*Point{p})
	}
	return blocks
}
