package results

import "slices"

// TellingSettings are the spec paths by which points of the same name are told apart first. Other paths come after them.
var TellingSettings = []string{"persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// distinguish adds settings to the names of points that share name, table and load, until they differ. Points do if a study
// varied settings without making them axes.
func distinguish(points []*Point) {
	for _, alike := range namesakes(points) {
		specs := make([]map[string]string, len(alike))
		var paths []string
		for i, p := range alike {
			specs[i] = map[string]string{}
			spec := p.Spec
			spec.Objectives = nil
			p.facts.flatten(specs[i], "", spec)
			paths = append(paths, sortedKeys(specs[i])...)
		}
		slices.Sort(paths)
		for _, path := range slices.Concat(TellingSettings, slices.Compact(paths)) {
			same := func(s map[string]string) bool { return s[path] == specs[0][path] }
			if forPeople[path] || !slices.ContainsFunc(specs, func(s map[string]string) bool { return !same(s) }) {
				continue
			}
			for i, p := range alike {
				value := specs[i][path]
				if value == "" {
					value = "unset"
				}
				p.addWords(Word{Name: path, Value: value})
			}
			if len(namesakes(alike)) == 0 {
				break
			}
			for _, s := range specs {
				delete(s, path) // it is in the names now
			}
		}
	}
}

// namesakes are the points that share their name, setting and load with others, in their order.
func namesakes(points []*Point) [][]*Point {
	type label struct{ name, setting, load string }
	groups := map[label][]*Point{}
	var order []label
	for _, p := range points {
		l := label{p.Name, p.Setting(), p.Load()}
		if len(groups[l]) == 0 {
			order = append(order, l)
		}
		groups[l] = append(groups[l], p)
	}
	var out [][]*Point
	for _, l := range order {
		if len(groups[l]) > 1 {
			out = append(out, groups[l])
		}
	}
	return out
}
