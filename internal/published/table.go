package published

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/lists"
)

// maxTableBytes bounds the file of a table: a row of two bytes takes a third of a kilobyte.
const maxTableBytes = 1 << 20

// table is a file of published figures.
type table struct {
	origin  string // where the publication has it: "table 3, page 7"; empty if the file doesn't say
	columns []string
	rows    []row
}

// row is a row of a table.
type row struct {
	cells map[string]string // by column
	line  int               // of the file
}

// readTable reads a table from a CSV file of a folder. Lines that begin with # are comments.
func readTable(folder fs.FS, file string) (table, error) {
	data, err := bounded.FileIn(folder, path.Clean(file), maxTableBytes)
	if err != nil {
		return table{}, err
	}
	data = bounded.Unmarked(data)
	t := table{origin: originOf(string(data))}
	in := csv.NewReader(bytes.NewReader(data))
	in.Comment = '#'
	in.TrimLeadingSpace = true
	header, err := in.Read()
	if err != nil {
		return table{}, fmt.Errorf("%s: no header: %w", file, err)
	}
	t.columns = lists.Map(header, strings.TrimSpace)
	for {
		values, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return table{}, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		r := row{cells: map[string]string{}, line: line}
		for i, column := range t.columns {
			r.cells[column] = strings.TrimSpace(values[i]) // the reader makes all rows as long as the header
		}
		t.rows = append(t.rows, r)
	}
}

// originOf returns the text of the comment "# origin: …" above the header.
func originOf(data string) string {
	for line := range strings.Lines(data) {
		comment, isComment := strings.CutPrefix(line, "#")
		if !isComment {
			break
		}
		if text, isOrigin := strings.CutPrefix(strings.TrimSpace(comment), "origin:"); isOrigin {
			return strings.TrimSpace(text)
		}
	}
	return ""
}
