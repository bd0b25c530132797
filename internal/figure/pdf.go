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

// pdfCanvas writes the letters that vgpdf can't: it takes bytes for letters of code page 1252, and keeps one font
// file per document. What isn't regular or isn't in that code page is drawn as outlines.
type pdfCanvas struct{ *vgpdf.Canvas }

func (c pdfCanvas) FillString(face font.Face, at vg.Point, s string) {
	encoded, err := charmap.Windows1252.NewEncoder().String(s)
	if err == nil && face.Font.Weight == stdfont.WeightNormal {
		c.Canvas.FillString(face, at, encoded)
		return
	}
	c.outlines(face, at, s)
}

// outlines fills the shapes of the letters; one the font doesn't have is its empty box.
func (c pdfCanvas) outlines(face font.Face, at vg.Point, s string) {
	var buf sfnt.Buffer
	ppem := fixed.Int26_6(face.Face.UnitsPerEm()) << 6
	scale := float64(face.Font.Size) / float64(face.Face.UnitsPerEm()) / 64
	for _, r := range s {
		i, err := face.Face.GlyphIndex(&buf, r)
		if err != nil {
			return // never of a font that was read
		}
		segments, err := face.Face.LoadGlyph(&buf, i, ppem, nil)
		if err != nil {
			return
		}
		if path := outline(segments, at, scale); len(path) > 0 {
			c.Fill(path)
		}
		if advance, err := face.Face.GlyphAdvance(&buf, i, ppem, stdfont.HintingNone); err == nil {
			at.X += vg.Length(float64(advance) * scale)
		}
	}
}

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
