package figure

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A browser without the fonts that an SVG asks for draws it in a wider one: DejaVu Sans cut the end of each full line off.
func TestLinesFitInAWiderFont(t *testing.T) {
	style := letters(smallSize, soft)
	const width = 10 * vg.Centimeter
	lines := wrap(style, strings.Repeat("published figures are those of a paper ", 20), width)
	widest := vg.Length(0)
	for _, line := range lines {
		widest = max(widest, style.Width(line))
	}
	if len(lines) < 5 || widest*1.15 > width || widest < 0.7*width {
		t.Errorf("%d lines, the widest is %v of %v", len(lines), widest, width)
	}
}
