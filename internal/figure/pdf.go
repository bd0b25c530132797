package figure

import (
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas writes texts with letters and fonts that vgpdf lacks: vgpdf takes each byte of a string for a letter of
// code page 1252, and embeds a single font in a document. Figures have two fonts. Text in the regular one is encoded in
// that code page. Bold text, and text with other letters such as "≤", is drawn as the outlines of its letters.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString writes s from origin, the left end of its base line.
func (c pdfCanvas) FillString(face font.Face, origin vg.Point, s string) {
	encoded, err := charmap.Windows1252.NewEncoder().String(s)
	if err != nil || face.Font.Weight != stdfont.WeightNormal {
		c.fillOutlines(face, origin, s)
		return
	}
	c.Canvas.FillString(face, origin, encoded)
}

// fillOutlines fills the shapes of letters. A letter that the font lacks is its empty box. It panics
// if the font file is broken, which is part of the program.
func (c pdfCanvas) fillOutlines(face font.Face, origin vg.Point, s string) {
	var buf sfnt.Buffer
	unitsPerEm := face.Face.UnitsPerEm()
	size := fixed.I(int(unitsPerEm)) // a letter of this size has whole coordinates
	pen := glyphPen{origin: origin, pointsPerStep: float64(face.Font.Size) / float64(unitsPerEm) / stepsPerUnit}
	for _, r := range s {
		index, err := face.Face.GlyphIndex(&buf, r)
		panicOn(err)
		segments, err := face.Face.LoadGlyph(&buf, index, size, nil)
		panicOn(err)
		if len(segments) > 0 { // a space has none
			c.Fill(pen.outline(segments))
		}
		advance, err := face.Face.GlyphAdvance(&buf, index, size, stdfont.HintingNone)
		panicOn(err)
		pen.origin.X += vg.Length(float64(advance) * pen.pointsPerStep)
	}
}

func panicOn(err error) {
	if err != nil {
		panic("figure: font: " + err.Error())
	}
}

// stepsPerUnit is how many steps of a fixed.Int26_6 make one unit.
const stepsPerUnit = 64

// glyphPen draws a letter of a font on a canvas.
type glyphPen struct {
	origin        vg.Point // the left end of the letter's base line
	pointsPerStep float64
}

// point returns a point of the letter on the canvas, whose y goes up where the font's goes down.
func (g glyphPen) point(p fixed.Point26_6) vg.Point {
	return vg.Point{
		X: g.origin.X + vg.Length(float64(p.X)*g.pointsPerStep),
		Y: g.origin.Y - vg.Length(float64(p.Y)*g.pointsPerStep),
	}
}

// outline returns the path around a letter, whose first segment is a move.
func (g glyphPen) outline(segments sfnt.Segments) vg.Path {
	var path vg.Path
	var last vg.Point
	for _, s := range segments {
		var ends [3]vg.Point // of the segment; how many it has depends on its kind
		for i, p := range s.Args {
			ends[i] = g.point(p)
		}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if path != nil {
				path.Close()
			}
			path.Move(ends[0])
			last = ends[0]
		case sfnt.SegmentOpLineTo:
			path.Line(ends[0])
			last = ends[0]
		case sfnt.SegmentOpQuadTo: // as a cubic curve, since PDF has no other
			path.CubeTo(twoThirds(last, ends[0]), twoThirds(ends[1], ends[0]), ends[1])
			last = ends[1]
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(ends[0], ends[1], ends[2])
			last = ends[2]
		}
	}
	path.Close()
	return path
}

// twoThirds returns two thirds of the way from a to b.
func twoThirds(a, b vg.Point) vg.Point {
	return vg.Point{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3}
}
