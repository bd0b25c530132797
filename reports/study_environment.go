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

// environment lists the brokers, clients and machines of each side, and the settings that differ from the full grid.
func (p Paper) environment(d *document.Document, beside *results.Set) {
	d.Add(document.Heading{Level: 2, Text: p.words().setup})
	d.Say(p.Study.Description)
	t := document.Table{Columns: []document.Column{
		{Key: "side", Name: "side", Row: true},
		{Key: "brokers", Name: "brokers", Wide: true},
		{Key: "clients", Name: "clients", Wide: true},
		{Key: "machine", Name: "machine", Wide: true},
		{Key: "repetitions", Name: "repetitions", Unit: unit.Count},
	}}
	for _, side := range claim.Sides(beside, p.Study.Name) {
		brokers, clients, machines, n := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
		for _, point := range beside.Points {
			if sideOf(point) != side {
				continue
			}
			for _, r := range point.Ok() {
				n++
				brokers[strings.TrimSpace(r.Spec.Broker+" "+r.Versions.Broker)], clients[r.Versions.Client] = true, true
				machines[machine(r.Host)] = true
			}
		}
		words := func(m map[string]bool) document.Cell {
			delete(m, "")
			return document.Text(strings.Join(slices.Sorted(maps.Keys(m)), "; "))
		}
		t.Rows = append(t.Rows, document.Row{
			"side": document.Text(side), "brokers": words(brokers), "clients": words(clients), "machine": words(machines), "repetitions": document.Number(n),
		})
	}
	if len(t.Rows) > 0 {
		d.Add(t)
	}
	if changed := p.changed(beside); len(changed.Rows) > 0 {
		d.Say(p.words().differs)
		d.Add(changed)
	}
}

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

// changed lists the settings in which measured points differ from those of the full grid with the same axis values.
func (p Paper) changed(beside *results.Set) document.Table {
	grid := map[string]study.Spec{}
	for _, g := range p.Grid {
		grid[axesText(g.Axes)] = g.Spec
	}
	type difference struct{ path, paper, here string }
	counts := map[difference]int{}
	for _, point := range beside.Points {
		full, there := grid[axesText(point.Records[0].Axes)]
		if !there || point.Published() || full.ID() == point.Spec.ID() {
			continue
		}
		paper, here := results.SpecFacts(full), results.SpecFacts(point.Spec)
		for _, path := range slices.Sorted(maps.Keys(paper)) {
			if paper[path] != here[path] && !(strings.HasPrefix(path, "sustainable.") && here["sustainable.trial"] == "0s") { // no search, no settings of one
				counts[difference{path, abridged(paper[path]), abridged(here[path])}]++
			}
		}
	}
	t := document.Table{Columns: []document.Column{
		{Key: "setting", Name: "setting", Row: true},
		{Key: "paper", Name: p.words().paper, Wide: true},
		{Key: "here", Name: "here", Wide: true},
		{Key: "points", Name: "points", Unit: unit.Count},
	}}
	for _, f := range slices.SortedFunc(maps.Keys(counts), func(a, b difference) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.paper, b.paper), cmp.Compare(a.here, b.here))
	}) {
		t.Rows = append(t.Rows, document.Row{
			"setting": document.Text(f.path), "paper": document.Text(f.paper), "here": document.Text(cmp.Or(f.here, "unset")), "points": document.Number(counts[f]),
		})
	}
	return t
}

// abridged keeps the ends of a long list.
func abridged(value string) string {
	items := strings.Split(strings.Trim(value, "[]"), ",")
	if !strings.HasPrefix(value, "[") || len(items) <= 5 {
		return value
	}
	return fmt.Sprintf("%d values, %s to %s", len(items), items[0], items[len(items)-1])
}

func axesText(axes map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(axes)) {
		b.WriteString(name + "=" + axes[name] + "\n")
	}
	return b.String()
}
