// The layout of a figure: title, legend, panels and notes below each other. Panels stand in a grid whose data are
// equally wide, and equally high in a row, so that equal values stand above each other whatever the width of their
// labels. Two columns whose labels need 40 and 20 points, with a gap of 16, leave 324 points of 400: 162 for the data of each.

package figure

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/brokermark/brokermark/internal/lists"
)

// Panel is one plot of a figure with the words around it.
type Panel struct {
	*plot.Plot
	Title     string  // above the plot
	XLabel    string  // of the x axis, below the plot
	YLabel    string  // of the y axis, above the plot
	Weight    float64 // of its height: a panel of weight 2 gets twice the data height of one with weight 1 below it
	grid      *plotter.Grid
	hasUnused bool // shows marks that aren't used
}

// newPanel returns an empty panel: a light grid without a box.
func newPanel(title, xLabel, yLabel string) *Panel {
	p := &Panel{Plot: plot.New(), Title: title, XLabel: xLabel, YLabel: yLabel, Weight: 1, grid: plotter.NewGrid()}
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.Plot.X, &p.Plot.Y} {
		a.Tick.Label.Font = letters(smallSize, ink).Font
		a.Tick.Label.Color = ink
		a.LineStyle = draw.LineStyle{Color: soft, Width: axisWidth}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = tickLength
		a.Padding = 0
	}
	p.grid.Vertical = draw.LineStyle{Color: faint, Width: axisWidth}
	p.grid.Horizontal = p.grid.Vertical
	p.Add(p.grid)
	return p
}

func (p *Panel) addTrace(t trace) {
	p.Add(t)
	p.hasUnused = p.hasUnused || slices.ContainsFunc(t.marks, func(m mark) bool { return !m.used })
}

// Lengths around and between the parts of a figure, in points.
const (
	figureMargin vg.Length = 10
	aboveLegend  vg.Length = 4
	belowLegend  vg.Length = 6
	aboveNotes   vg.Length = 6
	panelGapX    vg.Length = 16
	panelGapY    vg.Length = 10
	leastData    vg.Length = 10 // width and height of a panel's data, even if the figure is too small
)

// drawOn draws title, legend, panels and notes from top to bottom. The legend never lies on data.
func (f Figure) drawOn(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
	c = fillTop(c, bold(titleSize), f.Title)
	c = fillTop(c, letters(smallSize, soft), f.Subtitle)
	c = drawLegend(withoutTop(c, aboveLegend), f.Legend)
	c = drawNotes(withoutTop(c, belowLegend), f.Notes)
	drawPanels(c, f.Panels)
}

func withoutTop(c draw.Canvas, height vg.Length) draw.Canvas { return draw.Crop(c, 0, 0, 0, -height) }

// drawNotes writes the notes at the bottom, from the last line up, and returns the rest of c.
func drawNotes(c draw.Canvas, notes []string) draw.Canvas {
	if len(notes) == 0 {
		return c
	}
	style := letters(smallSize, soft)
	for _, note := range slices.Backward(notes) {
		for _, line := range slices.Backward(wrap(style, note, c.Size().X)) {
			c.FillText(style, vg.Point{X: c.Min.X, Y: c.Min.Y + style.FontExtents().Descent}, line)
			c.Min.Y += lineSpacing * style.FontExtents().Height
		}
	}
	c.Min.Y += aboveNotes
	return c
}

// margins is the room around the data of a plot, for ticks and their labels.
type margins struct{ left, right, bottom, top vg.Length }

// margins returns the room around p's data if p is drawn on c.
func (p *Panel) margins(c draw.Canvas) margins {
	d := p.DataCanvas(c)
	return margins{left: d.Min.X - c.Min.X, right: c.Max.X - d.Max.X, bottom: d.Min.Y - c.Min.Y, top: c.Max.Y - d.Max.Y}
}

// The room for the title and for the labels of the axes.
func (p *Panel) titleHeight() vg.Length  { return lineHeight(p.Title, panelTitleSize, 1.25) }
func (p *Panel) yLabelHeight() vg.Length { return lineHeight(p.YLabel, smallSize, 1.35) }
func (p *Panel) xLabelHeight() vg.Length { return lineHeight(p.XLabel, bodySize, 1.3) }

// lineHeight returns the height of a line of letters of a size, times a spacing. It returns 0 for an empty line.
func lineHeight(line string, size vg.Length, spacing vg.Length) vg.Length {
	if line == "" {
		return 0
	}
	return spacing * letters(size, ink).FontExtents().Height
}

// panelColumn is the room beside the data of a column of panels.
type panelColumn struct{ left, right vg.Length }

// panelRow is the room above and below the data of a row of panels, from top to bottom: texts, margin, data, margin, text.
type panelRow struct {
	textAbove, top, bottom, textBelow vg.Length
	weight                            float64 // the largest Panel.Weight
}

// measurePanels finds the room that suffices around the data of all panels in a column or a row. All rows are equally long (see grid).
func measurePanels(c draw.Canvas, panels [][]*Panel) ([]panelColumn, []panelRow) {
	columns, rows := make([]panelColumn, len(panels[0])), make([]panelRow, len(panels))
	for j := range panels {
		for i, p := range panels[j] {
			if p == nil {
				continue
			}
			m, column, row := p.margins(c), &columns[i], &rows[j]
			column.left, column.right = max(column.left, m.left), max(column.right, m.right)
			row.top, row.bottom = max(row.top, m.top), max(row.bottom, m.bottom)
			row.textAbove = max(row.textAbove, p.titleHeight()+p.yLabelHeight())
			row.textBelow = max(row.textBelow, p.xLabelHeight())
			row.weight = max(row.weight, p.Weight)
		}
	}
	return columns, rows
}

// dataWidth returns the width of the data in every column, if columns and gaps fill a width.
func dataWidth(columns []panelColumn, width vg.Length) vg.Length {
	width -= panelGapX * vg.Length(len(columns)-1)
	for _, column := range columns {
		width -= column.left + column.right
	}
	return max(width/vg.Length(len(columns)), leastData)
}

// dataHeights returns the heights of the data in each row, by the rows' weights, if rows and gaps fill a height.
func dataHeights(rows []panelRow, height vg.Length) []vg.Length {
	height -= panelGapY * vg.Length(len(rows)-1)
	allWeights := 0.0
	for _, row := range rows {
		height -= row.textAbove + row.top + row.bottom + row.textBelow
		allWeights += row.weight
	}
	return lists.Map(rows, func(row panelRow) vg.Length { return max(height*vg.Length(row.weight/allWeights), leastData) })
}

func drawPanels(c draw.Canvas, panels [][]*Panel) {
	if len(panels) == 0 {
		return
	}
	columns, rows := measurePanels(c, panels)
	width, heights := dataWidth(columns, c.Size().X), dataHeights(rows, c.Size().Y)
	top := c.Max.Y // of the row
	for j, row := range rows {
		dataTop := top - row.textAbove - row.top
		dataBottom := dataTop - heights[j]
		bottom := dataBottom - row.bottom - row.textBelow
		left := c.Min.X // of the column
		for i, column := range columns {
			data := box(left+column.left, left+column.left+width, dataBottom, dataTop)
			if p := panels[j][i]; p != nil {
				p.drawPlot(c, data)
				p.drawTexts(c, data, vg.Point{X: left, Y: top}, bottom)
			}
			left = data.Max.X + column.right + panelGapX
		}
		top = bottom - panelGapY
	}
}

// drawPlot draws the plot so that its data fill a rectangle. The library takes the rectangle with the margins instead,
// which depend a little on the size: three rounds settle them.
func (p *Panel) drawPlot(c draw.Canvas, data vg.Rectangle) {
	c.Rectangle = data
	for range 3 {
		m := p.margins(c)
		c.Rectangle = box(data.Min.X-m.left, data.Max.X+m.right, data.Min.Y-m.bottom, data.Max.Y+m.top)
	}
	p.Draw(c)
}

// drawTexts writes the title and the label of the y axis from a corner down, and the label of the x axis at the bottom.
func (p *Panel) drawTexts(c draw.Canvas, data vg.Rectangle, corner vg.Point, bottom vg.Length) {
	width := data.Max.X - corner.X
	title := bold(panelTitleSize)
	title.YAlign = draw.YTop
	c.FillText(title, corner, cut(title, p.Title, width))
	yLabel := letters(smallSize, soft)
	yLabel.YAlign = draw.YTop
	c.FillText(yLabel, vg.Point{X: corner.X, Y: corner.Y - p.titleHeight()}, cut(yLabel, p.YLabel, width))
	xLabel := letters(bodySize, ink)
	xLabel.XAlign = draw.XCenter
	c.FillText(xLabel, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: bottom + xLabel.FontExtents().Descent}, p.XLabel)
}
