package figure

import (
	"sort"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lineSpacing is the distance between the base lines of a paragraph, as a multiple of the letters' height.
const lineSpacing = 1.2

// fillTop writes a paragraph at the top of c and returns the rest of c.
func fillTop(c draw.Canvas, style text.Style, paragraph string) draw.Canvas {
	style.YAlign = draw.YTop
	for _, line := range wrap(style, paragraph, c.Size().X) {
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, line)
		c = withoutTop(c, lineSpacing*style.FontExtents().Height)
	}
	return c
}

// fillBeside writes s to the right of a point, or around it if the style is centred, with the middle
// of its small letters at the point's height.
func fillBeside(c draw.Canvas, style text.Style, at vg.Point, s string) {
	style.YAlign = draw.YBottom
	at.Y -= style.FontExtents().Ascent * middleOfLetters
	c.FillText(style, at, s)
}

// widerFont is how much wider letters may be in a browser without any of the fonts that an SVG asks for: those of DejaVu
// Sans are wider by a seventh.
const widerFont = 1.16

// wrap breaks s into lines at its spaces, but not at no-break spaces. A word that is wider than a line is cut. The lines fit in a wider font,
// too.
func wrap(style text.Style, s string, width vg.Length) []string {
	width /= widerFont
	var lines []string
	current := ""
	for word := range strings.SplitSeq(s, " ") {
		word = cut(style, word, width)
		switch {
		case current == "":
			current = word
		case style.Width(current+" "+word) <= width:
			current += " " + word
		default:
			lines, current = append(lines, current), word
		}
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// cut shortens s to a width, with an ellipsis at its end.
func cut(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	fits := sort.Search(len(runes), func(n int) bool { return style.Width(string(runes[:n+1])+"…") > width })
	return string(runes[:max(1, fits)]) + "…"
}
