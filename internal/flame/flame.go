// Package flame draws flame graphs: how often functions were seen under way, as boxes on top of what had called them. It reads the profiles of
// Go, Java and Erlang, and knows no broker.
package flame

import (
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"
)

// Stack is what was under way in one place, the outermost function first, and how often or how long it was seen.
type Stack struct {
	Frames []string
	Weight int64
}

// The drawing, in pixels.
const (
	width    = 1200
	row      = 17
	head     = 40
	narrow   = 0.3 // boxes below this are left out
	perChar  = 6.6
	deepest  = 120 // frames; those further in are left out
	fontSize = 11
)

// box is a function below the same callers.
type box struct {
	weight int64
	calls  map[string]*box
}

func (b *box) add(s Stack) {
	b.weight += s.Weight
	at := b
	for _, f := range s.Frames[:min(len(s.Frames), deepest)] {
		if at.calls == nil {
			at.calls = map[string]*box{}
		}
		if at.calls[f] == nil {
			at.calls[f] = &box{}
		}
		at = at.calls[f]
		at.weight += s.Weight
	}
}

func (b *box) depth() (most int) {
	for _, c := range b.calls {
		most = max(most, 1+c.depth())
	}
	return most
}

// SVG draws stacks. Callers are below what they call; a box shows its function and its share when it is pointed at. No stack is an error.
func SVG(w io.Writer, title string, stacks []Stack) error {
	root := &box{}
	for _, s := range stacks {
		root.add(s)
	}
	if root.weight <= 0 {
		return fmt.Errorf("%s: the profile has no samples", title)
	}
	height := head + row*(root.depth()+1)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="%d">`+"\n", width, height, fontSize)
	fmt.Fprintf(&out, `<rect width="100%%" height="100%%" fill="#fff"/><text x="8" y="22" font-size="15">%s</text>`+"\n", html.EscapeString(title))
	root.draw(&out, "all", 0, width, height-row, root.weight)
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func (b *box) draw(out *strings.Builder, name string, x, wide float64, y int, all int64) {
	if wide < narrow {
		return
	}
	label := ""
	if room := int(wide/perChar) - 1; room >= 3 {
		label = shortened(name, room)
	}
	fmt.Fprintf(out, `<g><title>%s: %.1f %%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/><text x="%.1f" y="%d">%s</text></g>`+"\n",
		html.EscapeString(name), 100*float64(b.weight)/float64(all), x, y, wide, row-1, colour(name), x+3, y+row-5, html.EscapeString(label))
	for _, called := range slices.Sorted(maps.Keys(b.calls)) {
		c := b.calls[called]
		part := wide * float64(c.weight) / float64(b.weight)
		c.draw(out, called, x, part, y-row, all)
		x += part
	}
}

// shortened leaves out the path of a package, and what has no room.
func shortened(name string, room int) string {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	if letters := []rune(name); len(letters) > room {
		return string(letters[:room-1]) + "…"
	}
	return name
}

// colour is the same for functions of a package.
func colour(name string) string {
	pkg := name
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		pkg = name[:at]
	} else if head, _, ok := strings.Cut(name, "."); ok {
		pkg = head
	}
	sum := uint32(2166136261)
	for _, b := range []byte(pkg) {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return fmt.Sprintf("hsl(%d,70%%,%d%%)", sum%60, 65+sum/64%15)
}
