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

// pdfCanvas writes text that vgpdf can't. vgpdf takes every byte of a string for a letter of code page 1252, and keeps one font file for
// each document. So text in the regular font is encoded in that code page, and bold text, or text with other letters such as "≤", is
// drawn as the outlines of its letters.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString writes s to the right of at.
func (c pdfCanvas) FillString(face font.Face, at vg.Point, s string) {
	encoded, err := charmap.Windows1252.NewEncoder().String(s)
	if err == nil && face.Font.Weight == stdfont.WeightNormal {
		c.Canvas.FillString(face, at, encoded)
		return
	}
	c.outlines(face, at, s)
}

// outlines fills the shapes of letters. A letter that the font doesn't have is its empty box. Errors mean a broken font file, and ours is
// part of the program: a test draws every figure.
func (c pdfCanvas) outlines(face font.Face, at vg.Point, s string) {
	var buf sfnt.Buffer
	unitsPerEm := face.Face.UnitsPerEm()
	size := fixed.I(int(unitsPerEm))                                   // in which a letter has the font's own units
	scale := float64(face.Font.Size) / float64(unitsPerEm) / fixedUnit // to points
	for _, r := range s {
		i, err := face.Face.GlyphIndex(&buf, r)
		if err != nil {
			return
		}
		segments, err := face.Face.LoadGlyph(&buf, i, size, nil)
		if err != nil {
			return
		}
		if path := outline(segments, at, scale); len(path) > 0 {
			c.Fill(path)
		}
		if advance, err := face.Face.GlyphAdvance(&buf, i, size, stdfont.HintingNone); err == nil {
			at.X += vg.Length(float64(advance) * scale)
		}
	}
}

// fixedUnit is how many steps of a fixed.Int26_6 make one unit.
const fixedUnit = 64

// outline is the path of a letter. at is the left end of its base line.
func outline(segments sfnt.Segments, at vg.Point, scale float64) vg.Path {
	var path vg.Path
	point := func(p fixed.Point26_6) vg.Point { // the font's y points down
		return vg.Point{X: at.X + vg.Length(float64(p.X)*scale), Y: at.Y - vg.Length(float64(p.Y)*scale)}
	}
	var last vg.Point
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if path != nil {
				path.Close()
			}
			last = point(s.Args[0])
			path.Move(last)
		case sfnt.SegmentOpLineTo:
			last = point(s.Args[0])
			path.Line(last)
		case sfnt.SegmentOpQuadTo: // as a cubic curve, since PDF has no other
			q, end := point(s.Args[0]), point(s.Args[1])
			path.CubeTo(toward(last, q), toward(end, q), end)
			last = end
		case sfnt.SegmentOpCubeTo:
			last = point(s.Args[2])
			path.CubeTo(point(s.Args[0]), point(s.Args[1]), last)
		}
	}
	if path != nil {
		path.Close()
	}
	return path
}

// toward is two thirds of the way from a to b.
func toward(a, b vg.Point) vg.Point {
	return vg.Point{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3}
}
