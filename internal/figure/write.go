package figure

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/brokermark/brokermark/internal/render"
)

// Formats are the formats that Write knows.
var Formats = []string{"svg", "png", "pdf"}

// dpi is the resolution of PNGs, in dots per inch: sharp across a slide or a column of print.
const dpi = 200

// Write draws f in the named format.
func (f Figure) Write(w io.Writer, format string) error {
	var c vg.CanvasWriterTo
	switch format {
	case "svg":
		c = vgsvg.New(f.Width, f.Height)
	case "png":
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi))}
	case "pdf":
		c = pdfCanvas{vgpdf.New(f.Width, f.Height)}
	default:
		return fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats, ", "))
	}
	f.drawOn(draw.New(harmless{c}))
	var file bytes.Buffer
	if _, err := c.WriteTo(&file); err != nil {
		return err
	}
	text := file.Bytes()
	if format == "svg" {
		text = bytes.ReplaceAll(text, []byte("font-family:Liberation Sans;"), []byte(svgFonts))
	}
	_, err := w.Write(text)
	return err
}

// harmless is a canvas that removes control characters from texts, which no XML may hold, and characters that reorder their
// surroundings: names in records may come from an attacker.
type harmless struct{ vg.CanvasWriterTo }

func (c harmless) FillString(face font.Face, at vg.Point, text string) {
	c.CanvasWriterTo.FillString(face, at, render.Line(text))
}

// svgFonts names fonts whose letters are as wide as those of Liberation Sans. An SVG holds no font,
// and readers may lack ours.
const svgFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"
