package figure

import (
	"image/color"
	"math"
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
	X, Y   string  // what the axes show: below, and above below the title
	Weight float64 // share of the height among the panels above and below; 0 = 1
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
	style := letters(smallSize, soft)
	for _, note := range slices.Backward(f.Notes) {
		for _, l := range slices.Backward(wrap(style, note, c.Max.X-c.Min.X)) {
			c.FillText(style, vg.Point{X: c.Min.X, Y: c.Min.Y + style.FontExtents().Descent}, l)
			c.Min.Y += style.FontExtents().Height * 1.15
		}
	}
	if len(f.Notes) > 0 {
		c.Min.Y += vg.Points(6)
	}
	drawPanels(c, f.Panels)
}

// margins are what a plot needs around its data.
type margins struct{ left, right, bottom, top vg.Length }

func (m *margins) widen(o margins) {
	m.left, m.right = max(m.left, o.left), max(m.right, o.right)
	m.bottom, m.top = max(m.bottom, o.bottom), max(m.top, o.top)
}

// needed is what p needs when drawn on c.
func (p *Panel) needed(c draw.Canvas) margins {
	d := p.DataCanvas(c)
	return margins{d.Min.X - c.Min.X, c.Max.X - d.Max.X, d.Min.Y - c.Min.Y, c.Max.Y - d.Max.Y}
}

// head and foot are the room for the words above and below a plot.
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

func (p *Panel) foot() vg.Length {
	if p.X == "" {
		return 0
	}
	return letters(bodySize, ink).FontExtents().Height * 1.3
}

// drawPanels gives the data of all panels in a column the same width and puts them below each other, so that equal
// values stand above each other whatever the labels beside them.
func drawPanels(c draw.Canvas, panels [][]*Panel) {
	if len(panels) == 0 {
		return
	}
	const gapX, gapY = vg.Length(16), vg.Length(10)
	columns := make([]margins, len(panels[0]))
	rows := make([]margins, len(panels))
	heads, feet, weights := make([]vg.Length, len(panels)), make([]vg.Length, len(panels)), make([]float64, len(panels))
	var total float64
	for j, row := range panels {
		for i, p := range row {
			if p == nil {
				continue
			}
			need := p.needed(c)
			columns[i].widen(need)
			rows[j].widen(need)
			heads[j], feet[j] = max(heads[j], p.head()), max(feet[j], p.foot())
			weights[j] = math.Max(weights[j], math.Max(p.Weight, 0))
		}
		if weights[j] == 0 {
			weights[j] = 1
		}
		total += weights[j]
	}
	width, height := c.Max.X-c.Min.X-gapX*vg.Length(len(columns)-1), c.Max.Y-c.Min.Y-gapY*vg.Length(len(rows)-1)
	for _, m := range columns {
		width -= m.left + m.right
	}
	for j, m := range rows {
		height -= m.bottom + m.top + heads[j] + feet[j]
	}
	width = max(width/vg.Length(len(columns)), vg.Points(10))
	y := c.Max.Y
	for j, row := range panels {
		h := max(height*vg.Length(weights[j]/total), vg.Points(10))
		x := c.Min.X
		for i, p := range row {
			if p != nil {
				data := vg.Rectangle{Min: vg.Point{X: x + columns[i].left, Y: y - heads[j] - rows[j].top - h}}
				data.Max = vg.Point{X: data.Min.X + width, Y: data.Min.Y + h}
				p.drawAround(draw.Canvas{Canvas: c.Canvas, Rectangle: data}, x, y, rows[j].bottom+feet[j])
			}
			x += columns[i].left + width + columns[i].right + gapX
		}
		y -= heads[j] + rows[j].top + h + rows[j].bottom + feet[j] + gapY
	}
}

// drawAround draws p so that its data fills the rectangle of data, its words left-aligned at x below y.
func (p *Panel) drawAround(data draw.Canvas, x, y, below vg.Length) {
	around := data
	for range 3 { // what it needs depends a little on how large it is
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

func down(c draw.Canvas, by vg.Length) draw.Canvas {
	c.Max.Y -= by
	return c
}

// lines writes text at the top of c, wrapped, and returns what is left.
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

// legendHeight is what a legend needs beyond the two rows that every figure has room for.
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
