package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/brokermark/brokermark/internal/store"
)

// The beginnings of files that are known by them.
var (
	sqliteHeader = []byte("SQLite format 3\x00")
	hlogHeader   = []byte("#[")
	hgrmHeader   = []byte("Value ")
)

// readOwn reads the records of another store, of export --format jsonl, or of the file for those that a store didn't take. It
// returns nil for the files of other tools.
func readOwn(ctx context.Context, path string) ([]store.Record, error) {
	if store.IsURL(path) {
		return readStore(ctx, path, "")
	}
	head, err := headOf(path)
	switch {
	case err != nil:
		return nil, cannotRead(path, err)
	case len(head) == 0:
		return nil, badInput("%s is empty", path)
	case bytes.HasPrefix(head, sqliteHeader):
		return readStore(ctx, path, "")
	case bytes.HasPrefix(bytes.TrimSpace(head), hlogHeader), bytes.HasPrefix(bytes.TrimSpace(head), hgrmHeader):
		return nil, hinted(badInput("%s is a latency distribution of HdrHistogram: it doesn't say of which broker and load", path),
			"export --format jsonl writes whole records, which can be imported")
	}
	var first struct {
		PointID string          `json:"point_id"`
		Spec    json.RawMessage `json:"spec"`
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	err = json.Unmarshal(line, &first)
	switch {
	case (err != nil || first.PointID == "") && filepath.Ext(path) != ".jsonl":
		return nil, nil
	case first.PointID != "" && first.Spec == nil:
		return nil, hinted(badInput("%s holds figures only, no whole records", path), "export --format jsonl writes records that can be imported")
	}
	records, err := store.ReadRecords(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	if len(records) == 0 {
		return nil, badInput("%s holds no whole record: its only line lacks its end, as a crash leaves it", path)
	}
	return records, nil
}

// mostHead bounds the first line of a file of records.
const mostHead = 64 << 20

// headOf reads an ordinary file as far as its first line goes.
func headOf(path string) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its other end
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not an ordinary file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head []byte
	for buffer := make([]byte, 64<<10); len(head) < mostHead; {
		n, err := f.Read(buffer)
		head = append(head, buffer[:n]...)
		if err == io.EOF || bytes.IndexByte(buffer[:n], '\n') >= 0 {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return head, nil
}

// importRecords appends the records, as they are, that the store doesn't have yet.
func (s *shell) importRecords(ctx context.Context, st *store.Store, list []imported) error {
	for _, own := range list {
		known := 0
		for _, r := range own.records {
			there, err := st.AppendOnce(ctx, r)
			if err != nil {
				return err
			}
			if there {
				known++
			}
		}
		fmt.Fprintf(s.out, "%s: %d records stored, %d were there already\n", store.Printable(own.path), len(own.records)-known, known)
	}
	return nil
}
