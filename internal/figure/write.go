package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the formats that Write knows.
var Formats = []string{"svg", "png", "pdf"}

// dpi of PNGs: a figure across a slide or a column of print stays sharp.
const dpi = 200

// Entry is a line of the legend.
type Entry struct {
	Text  string
	Line  *draw.LineStyle
	Glyph *draw.GlyphStyle
	Fill  color.Color
}

// Write draws f in the named format.
func (f Figure) Write(w io.Writer, format string) error {
	var out io.WriterTo
	switch format {
	case "svg":
		c := vgsvg.New(f.Width, f.Height)
		f.drawOn(draw.New(c))
		var svg bytes.Buffer
		if _, err := c.WriteTo(&svg); err != nil {
			return err
		}
		// Fonts aren't embedded, so fonts of the same measures are named as well.
		text := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"),
			[]byte("font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"))
		_, err := w.Write(text)
		return err
	case "png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi))}
		f.drawOn(draw.New(c))
		out = c
	case "pdf":
		c := pdfCanvas{vgpdf.New(f.Width, f.Height)}
		f.drawOn(draw.New(c))
		out = c
	default:
		return fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats, ", "))
	}
	_, err := out.WriteTo(w)
	return err
}
