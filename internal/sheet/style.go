// What cells look like: a format of their numbers, and a font, fill and alignment by what they are for.

package sheet

import (
	"fmt"

	"github.com/xuri/excelize/v2"
)

type look struct {
	format  string // of numbers; empty for words
	role    role
	atLeast bool // the number is a lower bound, and has ≥ before it
}

// role is what a cell is for.
type role int

const (
	body     role = iota
	unused        // of a figure that no conclusion is drawn from
	header        // names a column
	title         // names a table
	unitName      // names the unit of its row
)

// style is the ID of a look in the workbook, which holds each look once.
func (b *book) style(l look) int {
	if id, known := b.styles[l]; known {
		return id
	}
	var s excelize.Style
	switch l.role {
	case body: // as it is
	case unused:
		s.Font = &excelize.Font{Italic: true, Color: "888888"}
	case header:
		s.Font = &excelize.Font{Bold: true}
		s.Fill = excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"DDE8F0"}}
		s.Alignment = &excelize.Alignment{WrapText: true, Vertical: "center"}
	case title:
		s.Font = &excelize.Font{Bold: true}
	case unitName:
		s.Font = &excelize.Font{Italic: true, Color: "666666"}
		s.Alignment = &excelize.Alignment{WrapText: true, Vertical: "top"}
	default:
		panic(fmt.Sprintf("sheet: there is no style for the role %d", l.role))
	}
	if l.format != "" {
		format := l.format
		if l.atLeast {
			format = `"≥ "` + format
		}
		s.CustomNumFmt = &format
	}
	var id int
	b.try(func() (err error) { id, err = b.file.NewStyle(&s); return err })
	b.styles[l] = id
	return id
}
