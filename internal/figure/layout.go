package figure

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panel is one plot of a figure with the words around it.
type Panel struct {
	*plot.Plot
	Title  string  // above the plot
	X, Y   string  // what the axes show: X stands below the plot, Y above it
	Weight float64 // share of the height among the panels above and below; 0 means 1
	grid   *plotter.Grid
}

// drawOn lays title, legend, panels and notes out from top to bottom; the legend never lies on data.
func (f Figure) drawOn(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	margin := vg.Points(10)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c = lines(c, bold(titleSize), f.Title)
	c = lines(c, letters(smallSize, soft), f.Subtitle)
	c = down(c, vg.Points(4))
	c = drawLegend(c, f.Legend)
	c = down(c, vg.Points(6))
	c = drawNotes(c, f.Notes)
	drawPanels(c, f.Panels)
}

// drawNotes writes the notes at the bottom, from the last line up, and returns the rest of c.
func drawNotes(c draw.Canvas, notes []string) draw.Canvas {
	style := letters(smallSize, soft)
	for _, note := range slices.Backward(notes) {
		for _, line := range slices.Backward(wrap(style, note, c.Max.X-c.Min.X)) {
			c.FillText(style, vg.Point{X: c.Min.X, Y: c.Min.Y + style.FontExtents().Descent}, line)
			c.Min.Y += style.FontExtents().Height * 1.15
		}
	}
	if len(notes) > 0 {
		c.Min.Y += vg.Points(6)
	}
	return c
}

// margins are the room that a plot needs around its data.
type margins struct{ left, right, bottom, top vg.Length }

func (m *margins) widen(o margins) {
	m.left, m.right = max(m.left, o.left), max(m.right, o.right)
	m.bottom, m.top = max(m.bottom, o.bottom), max(m.top, o.top)
}

// needed are the margins of p if it is drawn on c.
func (p *Panel) needed(c draw.Canvas) margins {
	d := p.DataCanvas(c)
	return margins{d.Min.X - c.Min.X, c.Max.X - d.Max.X, d.Min.Y - c.Min.Y, c.Max.Y - d.Max.Y}
}

// head is the room for the words above a plot.
func (p *Panel) head() vg.Length {
	var h vg.Length
	if p.Title != "" {
		h += bold(bodySize+1).FontExtents().Height * 1.25
	}
	if p.Y != "" {
		h += letters(smallSize, soft).FontExtents().Height * 1.35
	}
	return h
}

// foot is the room for the words below a plot.
func (p *Panel) foot() vg.Length {
	if p.X == "" {
		return 0
	}
	return letters(bodySize, ink).FontExtents().Height * 1.3
}

// panelSizes is the room that a grid of panels takes: equal for all data of a column or a row.
type panelSizes struct {
	columns []margins // the widest of each column
	rows    []rowSizes
	width   vg.Length // of the data of every panel
}

// rowSizes is the room that a row of panels takes, from top to bottom.
type rowSizes struct {
	margins
	head, data, foot vg.Length
	weight           float64 // share of the height that all data get
}

func (r rowSizes) height() vg.Length { return r.head + r.top + r.data + r.bottom + r.foot }

const panelGapX, panelGapY = vg.Length(16), vg.Length(10)

// sizesOf divides a canvas among panels. No data get less than ten points, even if the canvas is too small.
func sizesOf(panels [][]*Panel, c draw.Canvas) panelSizes {
	s := panelSizes{columns: make([]margins, len(panels[0])), rows: make([]rowSizes, len(panels))}
	for j, row := range panels {
		size := &s.rows[j]
		for i, p := range row {
			if p == nil {
				continue
			}
			need := p.needed(c)
			s.columns[i].widen(need)
			size.widen(need)
			size.head, size.foot = max(size.head, p.head()), max(size.foot, p.foot())
			size.weight = max(size.weight, p.Weight)
		}
		if size.weight == 0 {
			size.weight = 1
		}
	}
	const least = vg.Length(10)
	width := c.Max.X - c.Min.X - panelGapX*vg.Length(len(s.columns)-1) // that is left for data
	for _, m := range s.columns {
		width -= m.left + m.right
	}
	s.width = max(width/vg.Length(len(s.columns)), least)
	height, weights := c.Max.Y-c.Min.Y-panelGapY*vg.Length(len(s.rows)-1), 0.0
	for _, r := range s.rows {
		height -= r.height() // without data as yet
		weights += r.weight
	}
	for j := range s.rows {
		s.rows[j].data = max(height*vg.Length(s.rows[j].weight/weights), least)
	}
	return s
}

// drawPanels gives the data of all panels in a column the same width and puts them below each other, so that equal
// values stand above each other whatever the labels beside them.
func drawPanels(c draw.Canvas, panels [][]*Panel) {
	if len(panels) == 0 {
		return
	}
	sizes := sizesOf(panels, c)
	y := c.Max.Y
	for j, row := range panels {
		size := sizes.rows[j]
		x := c.Min.X
		for i, p := range row {
			if p != nil {
				data := vg.Rectangle{Min: vg.Point{X: x + sizes.columns[i].left, Y: y - size.head - size.top - size.data}}
				data.Max = vg.Point{X: data.Min.X + sizes.width, Y: data.Min.Y + size.data}
				p.drawAround(draw.Canvas{Canvas: c.Canvas, Rectangle: data}, x, y, size.bottom+size.foot)
			}
			x += sizes.columns[i].left + sizes.width + sizes.columns[i].right + panelGapX
		}
		y -= size.height() + panelGapY
	}
}

// drawAround draws p so that its data fills the rectangle of data, its words left-aligned at x below y.
func (p *Panel) drawAround(data draw.Canvas, x, y, below vg.Length) {
	around := data
	for range 3 { // the margins depend a little on the size
		need := p.needed(around)
		around.Min = vg.Point{X: data.Min.X - need.left, Y: data.Min.Y - need.bottom}
		around.Max = vg.Point{X: data.Max.X + need.right, Y: data.Max.Y + need.top}
	}
	p.Draw(around)
	width := data.Max.X - x
	write := func(style text.Style, s string, height float64) {
		if s != "" {
			style.YAlign = draw.YTop
			data.FillText(style, vg.Point{X: x, Y: y}, cut(style, s, width))
			y -= style.FontExtents().Height * vg.Length(height)
		}
	}
	write(bold(bodySize+1), p.Title, 1.25)
	write(letters(smallSize, soft), p.Y, 1.35)
	style := letters(bodySize, ink)
	style.XAlign = draw.XCenter
	data.FillText(style, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: data.Min.Y - below + style.FontExtents().Descent}, p.X)
}

// down is c without a strip at its top.
func down(c draw.Canvas, by vg.Length) draw.Canvas {
	c.Max.Y -= by
	return c
}

// lines writes text at the top of c, wrapped, and returns the rest of c.
func lines(c draw.Canvas, style text.Style, s string) draw.Canvas {
	if s == "" {
		return c
	}
	style.YAlign = draw.YTop
	for _, l := range wrap(style, s, c.Max.X-c.Min.X) {
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, l)
		c = down(c, style.FontExtents().Height*1.2)
	}
	return c
}

// wrap breaks s at spaces that may break; a word that is too long for a line is cut.
func wrap(style text.Style, s string, width vg.Length) []string {
	var out []string
	current := ""
	for word := range strings.SplitSeq(s, " ") {
		word = cut(style, word, width)
		switch {
		case current == "":
			current = word
		case style.Width(current+" "+word) <= width:
			current += " " + word
		default:
			out, current = append(out, current), word
		}
	}
	if current != "" {
		out = append(out, current)
	}
	return out
}

// cut shortens s to width, with an ellipsis.
func cut(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && style.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// beside writes s with the middle of its letters, not of its line, at the height of at.
func beside(c draw.Canvas, style text.Style, at vg.Point, s string) {
	style.YAlign = draw.YBottom
	at.Y -= style.FontExtents().Ascent * 0.36
	c.FillText(style, at, s)
}

const (
	legendSample = vg.Length(20)
	legendGap    = vg.Length(16)
	legendRow    = vg.Length(13)
)

// legendColumns is how many entries stand beside each other on so much width, and how wide the widest text may be.
func legendColumns(entries []Entry, width vg.Length) (columns int, widest vg.Length) {
	style := letters(bodySize, ink)
	for _, e := range entries {
		widest = max(widest, style.Width(e.Text))
	}
	widest = min(widest, width-legendSample-vg.Points(5))
	return max(1, int((width+legendGap)/(legendSample+vg.Points(5)+widest+legendGap))), widest
}

// legendHeight is the height that a legend needs beyond the two rows that every figure has room for.
func legendHeight(entries []Entry, width vg.Length) vg.Length {
	columns, _ := legendColumns(entries, width)
	return vg.Length(max(0, (len(entries)+columns-1)/columns-2)) * legendRow
}

// drawLegend flows entries in columns of equal width below the title.
func drawLegend(c draw.Canvas, entries []Entry) draw.Canvas {
	if len(entries) == 0 {
		return c
	}
	style, sample, height := letters(bodySize, ink), legendSample, legendRow
	columns, widest := legendColumns(entries, c.Max.X-c.Min.X)
	cell := sample + vg.Points(5) + widest + legendGap
	for i, e := range entries {
		x := c.Min.X + vg.Length(i%columns)*cell
		y := c.Max.Y - vg.Length(i/columns)*height - height/2
		e.sample(c, x, y, sample)
		beside(c, style, vg.Point{X: x + sample + vg.Points(5), Y: y}, cut(style, e.Text, widest))
	}
	return down(c, vg.Length((len(entries)+columns-1)/columns)*height)
}

// sample draws what an entry stands for, beside its text.
func (e Entry) sample(c draw.Canvas, x, y, width vg.Length) {
	if e.Fill != nil {
		h := vg.Points(3.5)
		c.FillPolygon(e.Fill, []vg.Point{{X: x + 4, Y: y - h}, {X: x + width, Y: y - h}, {X: x + width, Y: y + h}, {X: x + 4, Y: y + h}})
	}
	if e.Line != nil {
		c.StrokeLine2(*e.Line, x, y, x+width, y)
	}
	if e.Glyph != nil {
		c.DrawGlyphNoClip(*e.Glyph, vg.Point{X: x + width/2, Y: y})
	}
}
