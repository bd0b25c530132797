// What a study was run with: brokers, clients and machines of each side, then the settings in which the
// points that were measured differ from the study's full grid, which of a publication is the paper's own:
//
//	setting               in the paper                here                     points
//	messageSize           1024                        100                      4
//	sustainable.trial     1m0s                        10s                      12

package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// addSetup adds the table of sides and the table of changed settings.
func (p Paper) addSetup(d *document.Document, own *results.Set) {
	d.Add(document.Heading{Level: 2, Text: p.choose("What differs", "What was run")})
	d.Say(p.Study.Description)
	setups := lists.Map(p.measuredSides(own), func(side string) sideSetup { return setupOf(side, own) })
	if len(setups) > 0 {
		d.Add(tableOf("", setupColumns, setups))
	}
	if changes := p.changedSettings(own); len(changes) > 0 {
		d.Say(p.choose("Where the work differs from the paper's own grid (as --scale full runs it):",
			"Where the work differs from the study's grid as --scale full runs it:"))
		d.Add(tableOf("", p.changeColumns(), changes))
	}
}

// sideSetup is what the repetitions of a side were run with.
type sideSetup struct {
	side                       string
	brokers, clients, machines []string // an item for each repetition
	repetitions                int      // that ended ok
}

var setupColumns = []columnOf[sideSetup]{
	textColumn(document.Column{Key: "side", Name: "side", Identifies: true}, func(s sideSetup) string { return s.side }),
	textColumn(document.Column{Key: "brokers", Name: "brokers", Wide: true}, func(s sideSetup) string { return listText(s.brokers) }),
	textColumn(document.Column{Key: "clients", Name: "clients", Wide: true}, func(s sideSetup) string { return listText(s.clients) }),
	textColumn(document.Column{Key: "machine", Name: "machine", Wide: true}, func(s sideSetup) string { return listText(s.machines) }),
	numberColumn(document.Column{Key: "repetitions", Name: "repetitions", Unit: unit.Count},
		func(s sideSetup) int { return s.repetitions }),
}

// setupOf gathers the setup of a side from its records that ended ok.
func setupOf(side string, own *results.Set) sideSetup {
	s := sideSetup{side: side}
	for _, point := range own.Points {
		if claim.SideOf(point) != side {
			continue
		}
		for _, r := range point.Ok() {
			s.repetitions++
			s.brokers = append(s.brokers, strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker))
			s.clients = append(s.clients, r.Versions.Client)
			s.machines = append(s.machines, machine(r.Host))
		}
	}
	return s
}

// listText lists texts, each once and sorted, without empty ones.
func listText(texts []string) string {
	return lists.Join("; ", slices.Compact(slices.Sorted(slices.Values(texts)))...)
}

// machine describes a host by its known properties.
func machine(h results.Host) string {
	words := []string{h.CPU, h.OS, h.Kernel}
	if h.Cores > 0 {
		words = append(words, fmt.Sprintf("%d cores", h.Cores))
	}
	if h.MemoryBytes > 0 {
		words = append(words, unit.Bytes.Format(float64(h.MemoryBytes)))
	}
	return lists.Join(", ", words...)
}

// settingChange is a setting that points were run with, other than in the full grid: sustainable.trial, full
// 1m0s, here 10s. A value that is not set is empty.
type settingChange struct{ path, full, here string }

// changeCount is how many points have a change.
type changeCount struct {
	settingChange
	points int
}

func (p Paper) changeColumns() []columnOf[changeCount] {
	return []columnOf[changeCount]{
		textColumn(document.Column{Key: "setting", Name: "setting", Identifies: true}, func(c changeCount) string { return c.path }),
		textColumn(document.Column{Key: "paper", Name: p.choose("in the paper", "at scale full"), Wide: true},
			func(c changeCount) string { return cmp.Or(c.full, "unset") }),
		textColumn(document.Column{Key: "here", Name: "here", Wide: true},
			func(c changeCount) string { return cmp.Or(c.here, "unset") }),
		numberColumn(document.Column{Key: "points", Name: "points", Unit: unit.Count},
			func(c changeCount) int { return c.points }),
	}
}

// changedSettings lists the settings in which measured points differ from the point of the full grid that
// has the same axis values, by path.
func (p Paper) changedSettings(own *results.Set) []changeCount {
	planned := map[string]study.Spec{} // by axis values
	for _, point := range p.Grid {
		planned[axesText(point.Axes)] = point.Spec
	}
	points := map[settingChange]int{}
	for _, point := range own.Points {
		spec, inGrid := planned[axesText(point.Records[0].Axes)]
		if !inGrid || point.Published() || spec.ID() == point.Spec.ID() {
			continue
		}
		for _, c := range changesBetween(spec, point.Spec) {
			points[c]++
		}
	}
	var changes []changeCount
	for c, n := range points {
		changes = append(changes, changeCount{settingChange: c, points: n})
	}
	slices.SortFunc(changes, func(a, b changeCount) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.full, b.full), cmp.Compare(a.here, b.here))
	})
	return changes
}

// changesBetween lists the settings in which two specs differ, by path. If nothing was searched, the setting
// measure says so, and the settings of the search are left out.
func changesBetween(planned, measured study.Spec) []settingChange {
	full, here := results.SpecFacts(planned), results.SpecFacts(measured)
	nothingSearched := here["sustainable.trial"] == "0s"
	paths := maps.Clone(full)
	maps.Copy(paths, here)
	var changes []settingChange
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		isIdleSearch := nothingSearched && strings.HasPrefix(path, "sustainable.")
		if full[path] == here[path] || isIdleSearch {
			continue
		}
		c := settingChange{path: path, full: shortList(full[path]), here: shortList(here[path])}
		if c.full == c.here { // the lists differ in the middle
			c.full, c.here = full[path], here[path]
		}
		changes = append(changes, c)
	}
	return changes
}

// maxListItems is how many items of a list setting a table shows.
const maxListItems = 5

// shortList sums up a long list, which facts hold as JSON, by its length and its ends: "12 values, 100 to
// 50000". Other values stay as they are.
func shortList(value string) string {
	var items []json.RawMessage
	if json.Unmarshal([]byte(value), &items) != nil || len(items) <= maxListItems {
		return value // it is no list, or a short one
	}
	return fmt.Sprintf("%d values, %s to %s", len(items), items[0], items[len(items)-1])
}

// axesText identifies a point of a grid by its values on the axes. fmt sorts the keys of a map.
func axesText(axes map[string]string) string { return fmt.Sprintf("%q", axes) }
