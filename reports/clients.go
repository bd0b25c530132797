// Whether the client libraries of compared contenders were used alike.

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/results"
)

// clientModes says how the client libraries of the compared contenders were used. It is empty for a single contender, if no record has
// the mode, and if the mode is an axis of its own.
func clientModes(points []results.Point) string {
	isOther := func(p results.Point) bool { return p.Name != points[0].Name }
	if !slices.ContainsFunc(points, isOther) {
		return ""
	}
	names := map[string][]string{} // of contenders, by mode
	for _, p := range points {
		if p.Records[0].Axes["client.mode"] != "" {
			return ""
		}
		mode := cmp.Or(clientMode(p), "unknown")
		if !slices.Contains(names[mode], p.Name) {
			names[mode] = append(names[mode], p.Name)
		}
	}
	modes := slices.Sorted(maps.Keys(names))
	switch {
	case len(modes) == 1 && modes[0] == "unknown":
		return ""
	case len(modes) == 1 && modes[0] == "stock":
		return "Clients: every library is used as its documentation does (client.mode: stock)."
	case len(modes) == 1:
		return "Clients: tuned, each library driven as fast as its driver knows how (client.mode: tuned); applications have the stock library."
	}
	var each []string
	for _, mode := range modes {
		each = append(each, fmt.Sprintf("%s %s", mode, strings.Join(names[mode], ", ")))
	}
	return "Clients not alike (client.mode): " + strings.Join(each, "; ") + ". A tuned client does more than the stock library that applications have."
}

// clientMode is the mode of a point's client. It is empty if its records have none, or differ in it.
func clientMode(p results.Point) string {
	mode := results.ClientMode(p.Records[0])
	for _, r := range p.Records {
		if results.ClientMode(r) != mode {
			return ""
		}
	}
	return mode
}
