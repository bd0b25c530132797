package results

// Group is items that belong together under a name.
type Group[T any] struct {
	Name    string
	Members []T // at least one
}

// GroupBy splits items by a key, which names their group. Groups keep the order in which they first appear, and so do the
// items of each: 1, 2, 3 by being odd or even are {odd: 1, 3} and {even: 2}.
func GroupBy[T any](items []T, key func(T) string) []Group[T] {
	var groups []Group[T]
	indexes := map[string]int{} // in groups, by name
	for _, item := range items {
		name := key(item)
		i, known := indexes[name]
		if !known {
			i = len(groups)
			indexes[name] = i
			groups = append(groups, Group[T]{Name: name})
		}
		groups[i].Members = append(groups[i].Members, item)
	}
	return groups
}

// BySetting groups the points that stand in one table or panel.
func BySetting(points []Point) []Group[Point] { return GroupBy(points, Point.Setting) }

// Pair is the points of both sides of a comparison, A and B, that were given the same work: "100 B, at-least-once, rate 1k/s"
// of two brokers, or of two versions of one.
type Pair struct {
	Title string  // message size, guarantee and load
	A, B  []Point // either may be empty: only one side was given this work
}

// OnlySide names the side that alone has points, "first" or "second". It is empty if both have.
func (p Pair) OnlySide() string {
	switch {
	case len(p.B) == 0:
		return "first"
	case len(p.A) == 0:
		return "second"
	}
	return ""
}
