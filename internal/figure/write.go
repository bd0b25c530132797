package figure

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the formats that Write knows.
var Formats = []string{"svg", "png", "pdf"}

// dpi is the resolution of PNGs, in dots per inch: sharp across a slide or a column of print.
const dpi = 200

// Write draws f in the named format.
func (f Figure) Write(w io.Writer, format string) error {
	switch format {
	case "svg":
		return f.writeSVG(w)
	case "png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(dpi))}
		f.drawOn(draw.New(c))
		_, err := c.WriteTo(w)
		return err
	case "pdf":
		c := pdfCanvas{vgpdf.New(f.Width, f.Height)}
		f.drawOn(draw.New(c))
		_, err := c.WriteTo(w)
		return err
	}
	return fmt.Errorf("unknown format %q; known: %s", format, strings.Join(Formats, ", "))
}

// writeSVG names fonts with letters as wide as Liberation Sans beside it: an SVG holds no font, and readers may not have it.
func (f Figure) writeSVG(w io.Writer) error {
	c := vgsvg.New(f.Width, f.Height)
	f.drawOn(draw.New(c))
	var svg bytes.Buffer
	if _, err := c.WriteTo(&svg); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;")))
	return err
}
