// Package bundle packs a study with its records and all that its report shows into one zip, and reads the records of such a zip
// that may come from another user. It knows the files and their sums, and nothing of what pages and figures show.
//
// Two bundles of the same records, made by the same version, are equal byte by byte: the records are sorted, the names too, and no
// file has a time.
package bundle

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/store"
)

// Files of every bundle.
const (
	RecordsFile  = "records.jsonl"
	DataFile     = "data.csv"
	ColumnsFile  = "columns.csv"
	manifestFile = "manifest.json"
	sumsFile     = "SHA256SUMS"
)

// File is a file of a bundle. Its name has slashes.
type File struct {
	Name  string
	Write func(io.Writer) error
}

func text(name string, content []byte) File {
	return File{name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}

// Sorted returns the records in the order of a bundle, numbered from 1: as they began, whatever their order in the store.
// Of those that a store takes for one record it keeps the first, as an import does.
func Sorted(records []store.Record) []store.Record {
	sorted := slices.SortedStableFunc(slices.Values(records), compare)
	sorted = slices.CompactFunc(sorted, func(a, b store.Record) bool { return compare(a, b) == 0 })
	for i := range sorted {
		sorted[i].ID = int64(i + 1)
	}
	return sorted
}

// compare orders records by what identifies them in a store.
func compare(a, b store.Record) int {
	return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.PointID, b.PointID), cmp.Compare(a.Repetition, b.Repetition), cmp.Compare(a.Status, b.Status))
}

// earliest is the time of every file: the first that a zip can say.
var earliest = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack writes the files, sorted by their names, and their sums behind them.
func pack(w io.Writer, files []File) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	out := zip.NewWriter(w)
	var sums strings.Builder
	for i, f := range files {
		if i > 0 && f.Name == files[i-1].Name {
			return fmt.Errorf("bundle: two files are called %s", f.Name)
		}
		sum := sha256.New()
		if err := add(out, f, sum); err != nil {
			return fmt.Errorf("bundle: %s: %w", f.Name, err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum.Sum(nil), f.Name)
	}
	if err := add(out, text(sumsFile, []byte(sums.String())), io.Discard); err != nil {
		return err
	}
	return out.Close()
}

// add writes a file into the zip and into a sum.
func add(out *zip.Writer, f File, sum io.Writer) error {
	header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: earliest}
	header.SetMode(0o644)
	w, err := out.CreateHeader(header)
	if err != nil {
		return err
	}
	return f.Write(io.MultiWriter(w, sum))
}
