package driver

import (
	"slices"
	"strconv"
	"strings"
)

// Cell is one guarantee of the matrix: implemented by native settings, or refused.
type Cell struct {
	Guarantee Guarantee
	Native    []Native // the settings that implement it; empty if it is refused
	Refusal   error    // *ErrUnsupported; nil if it is supported
}

// Matrix returns every guarantee that a spec can ask for, with one copy and with three (also with two, if a broker supports two
// but not three), with the driver's answer. It starts nothing.
func (k Kind) Matrix() []Cell {
	var cells []Cell
	for _, replicas := range k.copies() {
		for _, g := range everyWord() {
			g.Replicas = replicas
			c := Cell{Guarantee: g, Refusal: k.Supports(g)}
			if c.Refusal == nil && k.Maps != nil {
				c.Native = k.Maps(g)
			}
			cells = append(cells, c)
		}
	}
	return cells
}

var (
	deliveries   = []Delivery{AtMostOnce, AtLeastOnce, ExactlyOnce}
	persistences = []Persistence{Memory, Log, Fsync}
	acks         = []Acks{AcksNone, AcksLeader, AcksQuorum}
	orderings    = []Ordering{Ordered, Unordered}
)

// everyWord is the cross product of all words, for one copy.
func everyWord() []Guarantee {
	var all []Guarantee
	for _, d := range deliveries {
		for _, p := range persistences {
			for _, a := range acks {
				for _, o := range orderings {
					all = append(all, Guarantee{Delivery: d, Persistence: p, Replicas: 1, Acks: a, Ordering: o})
				}
			}
		}
	}
	return all
}

// copies are the numbers of replicas that make a difference for the broker.
func (k Kind) copies() []int {
	kept := func(replicas int) bool {
		return slices.ContainsFunc(everyWord(), func(g Guarantee) bool {
			g.Replicas = replicas
			return k.Supports(g) == nil
		})
	}
	if !kept(3) && kept(2) {
		return []int{1, 2, 3}
	}
	return []int{1, 3}
}

// Row is several cells with the same answer: every combination of its words. A dimension that makes no difference has all its
// words, and is written "any".
type Row struct {
	Delivery, Persistence, Replicas, Acks, Ordering string
	Cells                                           []Cell
	// Native are the settings of all cells. If only some of the row's copies or orderings have a setting, its When names them.
	Native []Native
}

// Rows folds a matrix into as few rows as possible. Supported guarantees come first.
func Rows(matrix []Cell) []Row {
	v := vocabularyOf(matrix)
	var boxes []box
	for i, c := range generalised(matrix) {
		boxes = append(boxes, box{v.sets(c.Guarantee), outcome(c), []Cell{matrix[i]}})
	}
	boxes = folded(boxes)
	for i, b := range boxes { // what separates families may concern none of the cells
		if b.cells[0].Refusal == nil {
			boxes[i].outcome = "kept: " + NativeText(conditioned(b.cells))
		}
	}
	boxes = folded(boxes)
	var kept, refused []Row
	for _, b := range boxes {
		row := Row{v.text(0, b.sets), v.text(1, b.sets), v.text(2, b.sets), v.text(3, b.sets), v.text(4, b.sets), b.cells, conditioned(b.cells)}
		if b.cells[0].Refusal == nil {
			kept = append(kept, row)
		} else {
			refused = append(refused, row)
		}
	}
	return append(kept, refused...)
}

// generalised gives supported cells that differ only in copies and ordering the same settings, with their conditions.
func generalised(matrix []Cell) []Cell {
	family := func(c Cell) Guarantee {
		g := c.Guarantee
		g.Replicas, g.Ordering = 0, ""
		return g
	}
	families := map[Guarantee][]Cell{}
	for _, c := range matrix {
		if c.Refusal == nil {
			families[family(c)] = append(families[family(c)], c)
		}
	}
	out := slices.Clone(matrix)
	for i, c := range matrix {
		if c.Refusal == nil {
			out[i].Native = conditioned(families[family(c)])
		}
	}
	return out
}

// conditioned lists the settings of all cells, each once, with the condition under which a cell has it.
func conditioned(cells []Cell) []Native {
	var all []Native
	for _, c := range cells {
		for _, n := range c.Native {
			if counts(cells, n) {
				n.Value = "N"
			}
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Native) int { return strings.Compare(string(a.Side)+a.Name, string(b.Side)+b.Name) })
	for i, n := range all {
		all[i].When = when(cells, n)
	}
	return all
}

// counts reports whether n is the number of copies in each of several cells, one of which has several copies.
func counts(cells []Cell, n Native) bool {
	copies := 0
	for _, c := range cells {
		copies = max(copies, c.Guarantee.Replicas)
		n.Value = strconv.Itoa(c.Guarantee.Replicas)
		if !slices.Contains(c.Native, n) {
			return false
		}
	}
	return len(cells) > 1 && copies > 1
}

// when says which of cells have n: "" for all of them.
func when(cells []Cell, n Native) string {
	var replicas, without []int
	var order, disorder []Ordering
	for _, c := range cells {
		if n.Value == "N" || slices.Contains(c.Native, n) {
			replicas, order = append(replicas, c.Guarantee.Replicas), append(order, c.Guarantee.Ordering)
		} else {
			without, disorder = append(without, c.Guarantee.Replicas), append(disorder, c.Guarantee.Ordering)
		}
	}
	var words []string
	if len(disorder) > 0 && !slices.Contains(order, Unordered) {
		words = append(words, string(Ordered))
	}
	if len(disorder) > 0 && !slices.Contains(order, Ordered) {
		words = append(words, string(Unordered))
	}
	if slices.ContainsFunc(without, func(r int) bool { return !slices.Contains(replicas, r) }) {
		slices.Sort(replicas)
		for _, r := range slices.Compact(replicas) {
			words = append(words, "replicas "+strconv.Itoa(r))
		}
	}
	return strings.Join(words, ", ")
}

const dimensions = 5

// box is a set of cells: for each dimension a bit set of words.
type box struct {
	sets    [dimensions]uint
	outcome string
	cells   []Cell
}

func outcome(c Cell) string {
	if c.Refusal != nil {
		return "refused: " + c.Refusal.Error()
	}
	return "kept: " + NativeText(c.Native)
}

// folded joins boxes as long as any two can be joined.
func folded(boxes []box) []box {
	for n := 0; n != len(boxes); {
		n = len(boxes)
		for _, dimension := range []int{4, 2, 3, 1, 0} { // the dimension that matters least to readers is folded first
			boxes = merged(boxes, dimension)
		}
	}
	return boxes
}

// merged joins boxes with the same answer that differ in one dimension only.
func merged(boxes []box, dimension int) []box {
	var out []box
	for _, b := range boxes {
		i := slices.IndexFunc(out, func(o box) bool {
			same := o.sets
			same[dimension] = b.sets[dimension]
			return o.outcome == b.outcome && same == b.sets
		})
		if i < 0 {
			out = append(out, b)
			continue
		}
		out[i].sets[dimension] |= b.sets[dimension]
		out[i].cells = append(out[i].cells, b.cells...)
	}
	return out
}

// vocabulary holds the words of each dimension, in order.
type vocabulary [dimensions][]string

func vocabularyOf(matrix []Cell) vocabulary {
	var v vocabulary
	for _, c := range matrix {
		for i, word := range words(c.Guarantee) {
			if !slices.Contains(v[i], word) {
				v[i] = append(v[i], word)
			}
		}
	}
	return v
}

func words(g Guarantee) [dimensions]string {
	return [dimensions]string{string(g.Delivery), string(g.Persistence), strconv.Itoa(g.Replicas), string(g.Acks), string(g.Ordering)}
}

func (v vocabulary) sets(g Guarantee) (s [dimensions]uint) {
	for i, word := range words(g) {
		s[i] = 1 << slices.Index(v[i], word)
	}
	return s
}

func (v vocabulary) text(dimension int, s [dimensions]uint) string {
	all := uint(1)<<len(v[dimension]) - 1
	if s[dimension] == all && len(v[dimension]) > 1 {
		return "any"
	}
	var list []string
	for i, word := range v[dimension] {
		if s[dimension]&(1<<i) != 0 {
			list = append(list, word)
		}
	}
	return strings.Join(list, ", ")
}
