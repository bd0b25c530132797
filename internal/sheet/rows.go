// Writing one sheet from the top down. A sheet that is a table has a header, which stays when readers scroll:
//
//	broker  load       acked    the header
//	kafka   curve 1k/s  1000    a row of two strings and a number

package sheet

import (
	"fmt"
	"iter"
	"slices"

	"github.com/xuri/excelize/v2"

	"github.com/brokermark/brokermark/internal/lists"
)

// sheetWriter writes a sheet row by row. It streams the rows: from some ten thousand on, they are too many for memory.
type sheetWriter struct {
	book  *book
	sheet string
	out   *excelize.StreamWriter
	row   int // the next, from 1
}

// newSheetWriter begins to write a sheet, with columns of these widths in letters.
func (b *book) newSheetWriter(sheet string, widths []float64) *sheetWriter {
	b.setPrintLayout(sheet, len(widths))
	w := &sheetWriter{book: b, sheet: sheet, row: 1}
	b.try(func() (err error) { w.out, err = b.file.NewStreamWriter(sheet); return err })
	for i, width := range widths {
		// A chart finds the cell at which it ends by the widths that the file knows; the stream writes its own.
		b.try(func() error { return b.file.SetColWidth(sheet, letterOf(i+1), letterOf(i+1), width) })
		b.try(func() error { return w.out.SetColWidth(i+1, i+1, width) })
	}
	return w
}

// setPrintLayout sets a sheet across the paper, on as few pages beside each other as can be read: 40 columns on 3.
func (b *book) setPrintLayout(sheet string, columns int) {
	layout := excelize.PageLayoutOptions{
		Orientation: new("landscape"), FitToWidth: new((columns + columnsPerPage - 1) / columnsPerPage), FitToHeight: new(0),
	}
	b.try(func() error { return b.file.SetPageLayout(sheet, &layout) })
	b.try(func() error { return b.file.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: new(true)}) })
}

const (
	columnsPerPage = 16        // as many as can still be read beside each other in print
	maxRows        = 1_000_000 // of a sheet: a little less than the format's limit of 1,048,576
)

// addRow writes a row of nil, strings, numbers or excelize cells.
func (w *sheetWriter) addRow(values []any, options ...excelize.RowOpts) {
	w.book.try(func() error {
		if w.row > maxRows {
			return fmt.Errorf("the sheet %q has more than %d rows; narrow the selection", w.sheet, maxRows)
		}
		return w.out.SetRow(cell(1, w.row), values, options...)
	})
	w.row++
}

// addFilter lets readers choose among the rows below a header, down to the last.
func (w *sheetWriter) addFilter(headerRow, columns int) {
	if last := w.row - 1; last > headerRow {
		w.book.try(func() error {
			return w.book.file.AutoFilter(w.sheet, cell(1, headerRow)+":"+cell(columns, last), nil)
		})
	}
}

// finish ends the sheet. Charts on it have to be added before.
func (w *sheetWriter) finish() { w.book.try(func() error { return w.out.Flush() }) }

// cell names the place at a column and a row, both from 1: "B3" for 2 and 3.
func cell(column, row int) string {
	name, err := excelize.CoordinatesToCellName(column, row)
	if err != nil {
		panic("sheet: " + err.Error()) // beyond the format's limit; addRow stops at maxRows
	}
	return name
}

// headerCells returns the cells that name columns.
func (b *book) headerCells(names []string) []any {
	return lists.Map(names, func(name string) any { return excelize.Cell{StyleID: b.style(look{role: header}), Value: name} })
}

// writeTable writes a table into a sheet of its own. The header and the first columns stay when readers scroll.
func (b *book) writeTable(sheet string, names []string, rows iter.Seq[[]any]) {
	const (
		frozenColumns, headRows = 2, 1
		width                   = 16 // of a column, in letters
		height                  = 30 // of the header, in points: two lines
	)
	w := b.newSheetWriter(sheet, slices.Repeat([]float64{width}, len(names)))
	b.try(func() error {
		return w.out.SetPanes(&excelize.Panes{
			Freeze: true, XSplit: frozenColumns, YSplit: headRows, TopLeftCell: cell(frozenColumns+1, headRows+1), ActivePane: "bottomRight",
		})
	})
	w.addRow(b.headerCells(names), excelize.RowOpts{Height: height})
	for values := range rows {
		w.addRow(values)
	}
	w.addFilter(headRows, len(names))
	w.finish()
}
