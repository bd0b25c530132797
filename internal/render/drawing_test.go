package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
)

func TestADrawingIsAnImageOfAPageAndElsewhereTheCommandThatDrawsIt(t *testing.T) {
	drawing := document.Drawing{Name: "paper/1", Title: `"Figure" <1>`, SVG: []byte("<svg onload='x()'/>")}
	page := Fragment([]document.Block{drawing}, "d", 2)
	if !strings.Contains(page, `<img `) || !strings.Contains(page, `src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9J3goKScvPg=="`) ||
		strings.Contains(page, "<1>") || strings.Contains(page, `""Figure`) {
		t.Error(page)
	}
	d := document.Document{Title: "t"}
	d.Add(drawing)
	drawing.SVG = nil
	texts := map[string]string{"a page without it": Fragment([]document.Block{drawing}, "d", 2)}
	for _, format := range Formats() {
		var out bytes.Buffer
		if err := Render(&out, d, format, Options{}); err != nil {
			t.Fatal(err)
		}
		texts[format] = out.String()
	}
	for format, text := range texts {
		if !strings.Contains(text, "brokermark figure paper/1 -o FILE.svg") {
			t.Errorf("%s: %s", format, text)
		}
	}
}
