package document

import "github.com/brokermark/brokermark/internal/unit"

// Drawing is a chart that package figure draws: panels of marks, which a line joins. Each line has a colour, and each side, such as
// "published" and "now", a style of its own; without lines the sides have the colours. Without sides the lines have shapes.
type Drawing struct {
	Name     string // by which brokermark figure draws it
	Title    string
	Subtitle string
	Lines    []string
	Sides    []DrawingSide
	Panels   []DrawingPanel
	Notes    []string
	SVG      []byte // as drawn; nil: it is words
}

// DrawingSide is a side with the style of its lines and marks.
type DrawingSide struct {
	Name  string
	Style Style
}

// Style is how a line is drawn.
type Style int

// Styles.
const (
	Solid Style = iota
	Dotted
	Dashed
)

// DrawingPanel shows one figure.
type DrawingPanel struct {
	Across DrawingAxis
	Up     DrawingAxis
	Marks  []DrawingMark // those of a line and side from left to right
}

// DrawingAxis is an axis of numbers, or one of values with names. At a name, the marks of several sides stand beside each other; without
// sides, those of the lines.
type DrawingAxis struct {
	Name    string
	Unit    unit.Unit
	Values  []string  // at which marks stand, in their order; nil: they stand at their numbers
	Numbers []float64 // magnitudes of the values; nil unless all have one
	Bound   float64   // of the axis Up: the most that is asked for, a line across the panel; 0: none
}

// DrawingMark is a figure with its interval, if it has one.
type DrawingMark struct {
	Line, Side int     // indexes in Lines and Sides
	X          float64 // or the index of its value
	Y          Cell    // a Figure or an Interval; Unused: it is drawn as a cross
}

func (Drawing) block() {}

// Text names the command that draws it.
func (d Drawing) Text() string { return "Drawn by: brokermark figure " + d.Name + " -o FILE.svg" }
