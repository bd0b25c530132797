// The tables and figures of a publication as drawings: a panel for each of their columns, in the publication's unit, with a line for each
// value of the series, and published and measured figures over each other. Of a curve the first column goes across, as papers draw latency
// over throughput:
//
//	rows: messageSize, columns: [e2e mean ms]                 e2e mean, ms  over  messageSize
//	rows: load.rate, columns: [throughput, e2e mean ms]       e2e mean, ms  over  throughput

package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/studies"
)

// Drawings are the study's tables and figures in its order, filled from results.
func (p Paper) Drawings(set *results.Set) []document.Drawing {
	own := p.ownResults(set)
	var drawings []document.Drawing
	for i, e := range p.Study.Exhibits {
		drawings = append(drawings, p.fillExhibit(e, own).drawing(p.drawingName(i)))
	}
	return drawings
}

// drawingName is how brokermark figure calls the exhibit with this index: by the study, or else by the folder that it is in.
func (p Paper) drawingName(i int) string {
	name := p.Study.Name
	if !slices.Contains(studies.Names(), name) {
		name = "FOLDER"
	}
	return fmt.Sprintf("%s/%d", name, i+1)
}

// styles are those of sides.
var styles = map[string]document.Style{claim.Published: document.Dashed, claim.Then: document.Dotted, claim.Now: document.Solid}

func (x exhibit) drawing(name string) document.Drawing {
	d := document.Drawing{Name: name, Title: x.Title, Subtitle: x.setup()}
	d.Sides = lists.Map(x.sides, func(side string) document.DrawingSide { return document.DrawingSide{Name: side, Style: styles[side]} })
	values := document.DrawingAxis{Name: x.rowName()}
	for _, r := range x.all {
		values.Values = lists.AddNew(values.Values, r.value)
		if x.Series != "" && !slices.Contains(d.Lines, r.series) {
			d.Lines = append(d.Lines, r.series)
		}
	}
	slices.SortStableFunc(values.Values, results.CompareValues)
	values.Numbers = magnitudes(values.Values)
	up := x.columns
	var across *exhibitColumn // of a curve
	if x.ofRates && len(x.columns) > 1 {
		across, up = &x.columns[0], x.columns[1:]
	}
	var missing []string
	for _, c := range up {
		panel := document.DrawingPanel{Across: values, Up: c.axis()}
		if across != nil {
			panel.Across = across.axis()
		}
		for _, r := range x.all {
			for side, sideName := range x.sides {
				y, mark := c.cell(r, sideName), document.DrawingMark{Side: side}
				if x.Series != "" {
					mark.Line = slices.Index(d.Lines, r.series)
				}
				mark.X = float64(slices.Index(values.Values, r.value))
				isPlaced := true
				if across != nil {
					a := across.cell(r, sideName)
					mark.X, isPlaced = a.Number, a.IsNumber()
				}
				switch {
				case y.IsNumber() && isPlaced:
					mark.Y = y.Excluded(sideName != claim.Published && !r.loadPoints[sideName].Used())
					panel.Marks = append(panel.Marks, mark)
				case y.Kind == document.Words:
					missing = append(missing, fmt.Sprintf("%s (%s)", lists.Join(", ", sideName, r.series, r.value), y.Text))
				}
			}
		}
		d.Panels = append(d.Panels, panel)
	}
	d.Notes = []string{"Medians over repetitions; uprights are their intervals."}
	if slices.Contains(x.sides, claim.Published) {
		d.Notes[0] += " " + results.PublishedNote
	}
	if missing = slices.Compact(slices.Sorted(slices.Values(missing))); missing != nil {
		d.Notes = append(d.Notes, "Without a figure: "+strings.Join(results.Shorten(missing), "; ")+".")
	}
	if doubts := results.DoubtsNote(x.measured()); doubts != "" {
		d.Notes = append(d.Notes, doubts)
	}
	return d
}

// measured are the repetitions that the exhibit shows.
func (x exhibit) measured() []results.Record {
	var records []results.Record
	seen := map[string]bool{} // points, by ID
	for _, r := range x.all {
		for _, side := range x.sides {
			if l, ok := r.loadPoints[side]; ok && side != claim.Published && !seen[l.Point.ID] {
				seen[l.Point.ID] = true
				records = append(records, l.Point.Shown()...)
			}
		}
	}
	return records
}

// setup names the versions that measured each side, and the machines.
func (x exhibit) setup() string {
	var words, machines []string
	for _, side := range x.sides {
		var versions []string
		for _, r := range x.all {
			for _, record := range r.loadPoints[side].Records {
				if side != claim.Published {
					versions = append(versions, strings.TrimSpace(record.Spec.Broker+" "+record.Versions.Broker))
					machines = append(machines, machine(record.Host))
				}
			}
		}
		if versions != nil {
			words = append(words, side+": "+strings.ReplaceAll(listText(versions), "; ", ", "))
		}
	}
	return lists.Join(" · ", append(words, listText(machines))...)
}

// axis is the column as an axis, in the publication's unit.
func (c exhibitColumn) axis() document.DrawingAxis {
	column := c.column()
	u := column.Unit
	if u == unit.Count {
		u = unit.None // ticks have no need of all digits
	}
	return document.DrawingAxis{Name: strings.Replace(column.Name, "\n", ", ", 1), Unit: u}
}

// magnitudes are the numbers of values; nil unless all have one.
func magnitudes(values []string) []float64 {
	var numbers []float64
	for _, text := range values {
		v, ok := results.Magnitude(text)
		if !ok {
			return nil
		}
		numbers = append(numbers, v)
	}
	return numbers
}
