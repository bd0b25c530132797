// What a study's sides were run with, and where that differs from the full grid.

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// setup lists the brokers, clients and machines of each side, and the settings that differ from the full grid.
func (p Paper) setup(d *document.Document, beside *results.Set) {
	d.Add(document.Heading{Level: 2, Text: p.words().setup})
	d.Say(p.Study.Description)
	var sides []sideSetup
	for _, side := range claim.Sides(beside, p.Study.Name) {
		sides = append(sides, setupOf(side, beside))
	}
	if len(sides) > 0 {
		d.Add(tableOf(setupColumns, sides))
	}
	if changes := p.changedSettings(beside); len(changes) > 0 {
		d.Say(p.words().differs)
		d.Add(tableOf(p.changeColumns(), changes))
	}
}

// sideSetup is what the repetitions of a side were run with.
type sideSetup struct {
	side                       string
	brokers, clients, machines []string // of each repetition
	repetitions                int      // that ended ok
}

var setupColumns = []columnOf[sideSetup]{
	textColumn(document.Column{Key: "side", Name: "side", Row: true}, func(s sideSetup) string { return s.side }),
	cellColumn(document.Column{Key: "brokers", Name: "brokers", Wide: true}, func(s sideSetup) document.Cell { return listCell(s.brokers) }),
	cellColumn(document.Column{Key: "clients", Name: "clients", Wide: true}, func(s sideSetup) document.Cell { return listCell(s.clients) }),
	cellColumn(document.Column{Key: "machine", Name: "machine", Wide: true}, func(s sideSetup) document.Cell { return listCell(s.machines) }),
	numberColumn(document.Column{Key: "repetitions", Name: "repetitions", Unit: unit.Count}, func(s sideSetup) int { return s.repetitions }),
}

// setupOf gathers the setup of a side from its records that ended ok.
func setupOf(side string, beside *results.Set) sideSetup {
	s := sideSetup{side: side}
	for _, point := range beside.Points {
		if sideOf(point) != side {
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

// listCell lists texts, each once and sorted, without empty ones.
func listCell(texts []string) document.Cell {
	known := slices.DeleteFunc(slices.Sorted(slices.Values(texts)), func(t string) bool { return t == "" })
	return document.Text(strings.Join(slices.Compact(known), "; "))
}

// machine describes a host by what is known of it.
func machine(h results.Host) string {
	var words []string
	for _, word := range []string{h.CPU, h.OS, h.Kernel} {
		if word != "" {
			words = append(words, word)
		}
	}
	if h.Cores > 0 {
		words = append(words, fmt.Sprintf("%d cores", h.Cores))
	}
	if h.MemoryBytes > 0 {
		words = append(words, unit.Bytes.Format(float64(h.MemoryBytes)))
	}
	return strings.Join(words, ", ")
}

// settingChange is a setting that points were run with, other than in the full grid.
type settingChange struct {
	path       string
	full, here string // values; here is empty if the setting is unset
	points     int    // that were run with it
}

func (p Paper) changeColumns() []columnOf[settingChange] {
	return []columnOf[settingChange]{
		textColumn(document.Column{Key: "setting", Name: "setting", Row: true}, func(c settingChange) string { return c.path }),
		textColumn(document.Column{Key: "paper", Name: p.words().fullGrid, Wide: true}, func(c settingChange) string { return c.full }),
		textColumn(document.Column{Key: "here", Name: "here", Wide: true}, func(c settingChange) string { return cmp.Or(c.here, "unset") }),
		numberColumn(document.Column{Key: "points", Name: "points", Unit: unit.Count}, func(c settingChange) int { return c.points }),
	}
}

// changedSettings lists the settings in which measured points differ from those of the full grid with the same axis values, by path.
func (p Paper) changedSettings(beside *results.Set) []settingChange {
	full := map[string]study.Spec{} // by axis values
	for _, g := range p.Grid {
		full[axesText(g.Axes)] = g.Spec
	}
	var changes []settingChange
	for _, point := range beside.Points {
		spec, ok := full[axesText(point.Records[0].Axes)]
		if !ok || point.Published() || spec.ID() == point.Spec.ID() {
			continue
		}
		for _, c := range changesBetween(spec, point.Spec) {
			same := func(o settingChange) bool { return o.path == c.path && o.full == c.full && o.here == c.here }
			findOrAdd(&changes, same, c).points++
		}
	}
	slices.SortFunc(changes, func(a, b settingChange) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.full, b.full), cmp.Compare(a.here, b.here))
	})
	return changes
}

// changesBetween lists the settings of full that have another value here. Where no search was run, its settings say nothing.
func changesBetween(full, here study.Spec) []settingChange {
	theirs, ours := results.SpecFacts(full), results.SpecFacts(here)
	noSearch := ours["sustainable.trial"] == "0s"
	var changes []settingChange
	for _, path := range slices.Sorted(maps.Keys(theirs)) {
		ofSearch := strings.HasPrefix(path, "sustainable.")
		if theirs[path] != ours[path] && !(ofSearch && noSearch) {
			changes = append(changes, settingChange{path: path, full: shortList(theirs[path]), here: shortList(ours[path])})
		}
	}
	return changes
}

// maxListItems is how many items of a list setting a table shows.
const maxListItems = 5

// shortList keeps the ends of a long list: "12 values, 100 to 50000". Other values stay as they are.
func shortList(value string) string {
	items := strings.Split(strings.Trim(value, "[]"), ",")
	if !strings.HasPrefix(value, "[") || len(items) <= maxListItems {
		return value
	}
	return fmt.Sprintf("%d values, %s to %s", len(items), items[0], items[len(items)-1])
}

// axesText identifies values on axes.
func axesText(axes map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		b.WriteString(name + "=" + axes[name] + "\n")
	}
	return b.String()
}
