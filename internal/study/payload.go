package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/suggest"
)

// samples are payloads from files of this machine.
type samples struct {
	path   string
	sizes  Sizes
	digest string
	bodies [][]byte
	err    error
}

// Of all studies of a command together.
const (
	maxSamples  = 64 << 20 // bytes of the files that payloads are taken from: all of them are kept in memory
	maxPayloads = 1_000_000
)

// library looks payload files up for a study, each once.
type library struct {
	document string // path of the study's document
	files    fs.FS  // the study's own files, with the payloads that its document names, or nil
	found    map[source]samples
	shelf    *shelf
}

// shelf keeps what was read for all studies of a command. A file of several names is kept once.
type shelf struct {
	held     map[source]samples // by the file's real path
	bytes    int64              // that were read of them
	payloads int
}

// source is the origin of payloads in a spec.
type source struct {
	name, column string
	confined     bool // to the folder of the document that names it
}

// disk is the machine's file system, with any path as a name.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }

func (l *library) lookup(from source) samples {
	s, ok := l.found[from]
	if !ok {
		switch {
		case from.confined && l.files != nil:
			s = l.inside(from)
		case from.confined:
			s = l.confined(from)
		default:
			s = l.read(from.name, from.column)
		}
		l.found[from] = s
	}
	return s
}

// beside is the OpenMessaging Benchmark's folder for payloads, beside that of its documents.
const beside = "payload"

// inside reads a file of the study's own folder that its document names.
func (l *library) inside(from source) samples {
	if !fs.ValidPath(from.name) {
		return samples{err: fmt.Errorf("%q is outside of the study's own folder", from.name)}
	}
	return l.shipped(from)
}

// shipped reads one of the study's own files.
func (l *library) shipped(from source) samples {
	return l.load(l.files, from.name, source{name: l.document + "\x00" + from.name, column: from.column})
}

// realPath is the path of a file without links, from the root.
func realPath(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if to, err := filepath.Abs(path); err == nil {
		path = to
	}
	return path
}

// confined reads a file that an untrusted document names.
func (l *library) confined(from source) samples {
	root, dir, name, err := l.own(filepath.Clean(from.name))
	if err != nil {
		return samples{err: err}
	}
	defer root.Close()
	s := l.load(root.FS(), filepath.ToSlash(name), source{name: realPath(filepath.Join(dir, name)), column: from.column})
	s.path = filepath.Join(dir, name)
	return s
}

// own opens the folder of the document, or payload/ beside it if name begins with that, and returns the name inside. No link
// leads out of either.
func (l *library) own(name string) (root *os.Root, dir, inside string, err error) {
	dir = filepath.Dir(l.document)
	root, err = os.OpenRoot(dir)
	if err != nil {
		return nil, "", "", fmt.Errorf("payloads can't be read: %w", err)
	}
	_, elsewhere := root.Lstat(filepath.Base(l.document)) // a document from a pipe has no folder
	if elsewhere != nil || !filepath.IsLocal(name) {
		_ = root.Close()
		return nil, "", "", fmt.Errorf("%q is outside of the document's own folder; name it with a flag, or trust the document with --trust-spec", name)
	}
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return root, dir, name, nil
	}
	_ = root.Close()
	dir = filepath.Join(dir, "..")
	if inside, err = filepath.Rel(beside, name); err == nil && filepath.IsLocal(inside) {
		if root, err = folderIn(dir, beside); err == nil {
			return root, filepath.Join(dir, beside), inside, nil
		}
	}
	return nil, "", "", fmt.Errorf("no file or directory %q beside the document; without it (payloadFile: \"\") payloads are made up", name)
}

// folderIn opens a folder in dir that is not a link.
func folderIn(dir, name string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", name)
	}
	return root.OpenRoot(name)
}

// read looks in the study's own files, the working directory, beside the study, and one folder above it: the OpenMessaging
// Benchmark keeps payload/ beside workloads/ and is run from the folder above both.
func (l *library) read(name, column string) samples {
	if l.files != nil && fs.ValidPath(name) {
		if _, err := fs.Stat(l.files, name); err == nil {
			return l.shipped(source{name: name, column: column})
		}
	}
	tried := []string{name}
	if dir := filepath.Dir(l.document); !filepath.IsAbs(name) {
		tried = append(tried, filepath.Join(dir, name), filepath.Join(dir, "..", name))
	}
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			return l.load(disk{}, path, source{name: realPath(path), column: column})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return samples{err: fmt.Errorf("payloads can't be read: %w", err)}
		}
	}
	return samples{err: fmt.Errorf("no file or directory %q here, beside the study or one folder above it; without it (payloadFile: \"\") payloads are made up", name)}
}

// load reads a file or a directory, unless the shelf has it.
func (l *library) load(files fs.FS, path string, as source) samples {
	s, held := l.shelf.held[as]
	if s.path = path; held {
		return s
	}
	sum := sha256.New()
	total, left := l.shelf.bytes, maxPayloads-l.shelf.payloads
	err := fs.WalkDir(files, path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
			return err
		}
		body, err := bounded.FileIn(files, name, maxSamples-total)
		if errors.Is(err, bounded.ErrTooLong) {
			return fmt.Errorf("more than %s of samples in all, with %s", Size(maxSamples), name)
		}
		if err != nil {
			return err
		}
		total += int64(len(body))
		held, err := payloadsIn(name, body, as.column)
		if err != nil {
			return err
		}
		for _, p := range held {
			if len(p.body) < minMessage {
				return fmt.Errorf("%s has %d bytes; a message needs at least %d", p.where, len(p.body), minMessage)
			}
			part := sha256.Sum256(p.body)
			sum.Write(part[:])
			s.sizes = s.sizes.with(Size(len(p.body)))
			s.bodies = append(s.bodies, p.body)
		}
		if len(s.bodies) > left {
			return fmt.Errorf("more than %d payloads in all, with %s", maxPayloads, name)
		}
		return nil
	})
	if err == nil && len(s.sizes) == 0 {
		err = fmt.Errorf("no payload in %s", path)
	}
	if err != nil {
		return samples{err: fmt.Errorf("payloads can't be read: %w", err)}
	}
	s.digest = hex.EncodeToString(sum.Sum(nil)[:16])
	l.shelf.held[as], l.shelf.bytes, l.shelf.payloads = s, total, l.shelf.payloads+len(s.bodies)
	return s
}

// payload is one payload of a file, and its position.
type payload struct {
	body  []byte
	where string
}

// payloadsIn splits a file: each JSON line is a payload, and so is each cell of a CSV file's column; any other file is a single
// payload. Of too many payloads it returns one more than is allowed.
func payloadsIn(name string, file []byte, column string) ([]payload, error) {
	ending := strings.ToLower(filepath.Ext(name))
	switch {
	case len(bytes.TrimSpace(file)) == 0:
	case ending == ".jsonl" || ending == ".ndjson":
		if column != "" {
			return nil, fmt.Errorf("%s is JSON lines, each of which is a payload; payloadColumn is for CSV", name)
		}
		return linesOf(name, file), nil
	case column != "" || (ending == ".csv" || ending == ".tsv") && bytes.Count(bytes.TrimSpace(file), []byte("\n")) > 0:
		return cells(name, file, column)
	}
	return []payload{{file, name}}, nil
}

func linesOf(name string, file []byte) (held []payload) {
	at := 0
	for line := range bytes.Lines(file) {
		at++
		if line = bytes.TrimSpace(line); len(line) > 0 && len(held) <= maxPayloads {
			held = append(held, payload{line, fmt.Sprintf("%s:%d", name, at)})
		}
	}
	return held
}

// cells are the cells of a column below its name in the first line.
func cells(name string, file []byte, column string) (held []payload, err error) {
	rows := csv.NewReader(bytes.NewReader(file))
	if strings.EqualFold(filepath.Ext(name), ".tsv") {
		rows.Comma = '\t'
	}
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s is no CSV: %w", name, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff") // a byte order mark written by spreadsheets
	at := slices.Index(head, column)
	if at < 0 {
		said := fmt.Sprintf("no column %q%s", column, suggest.DidYouMean(column, head))
		if column == "" {
			said = "rows of several columns; payloadColumn says which one holds the payloads"
		}
		return nil, fmt.Errorf("%s has %s; there are: %s", name, said, strings.Join(head[:min(len(head), mostNamed)], ", "))
	}
	for len(held) <= maxPayloads {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s is no CSV: %w", name, err)
		}
		line, _ := rows.FieldPos(at)
		held = append(held, payload{[]byte(row[at]), fmt.Sprintf("%s:%d", name, line)})
	}
	return held, nil
}

// mostNamed is the number of columns that an error names.
const mostNamed = 12

// with counts one more sample of a size.
func (s Sizes) with(size Size) Sizes {
	one := WeightedSize{size, 1}
	i, ok := slices.BinarySearchFunc(s, one, bySize)
	if ok {
		s[i].Weight++
		return s
	}
	return slices.Insert(s, i, one)
}

// completePayload replaces the name of a payload file by its contents, and returns them.
func (v *validator) completePayload(l *library) (bodies [][]byte) {
	s := v.spec
	if s.PayloadFile == "" {
		if s.PayloadColumn != "" {
			v.fail("payloadColumn", "only used with payloadFile")
		}
		return nil
	}
	found := l.lookup(source{s.PayloadFile, s.PayloadColumn, (v.distrust || l.files != nil) && v.documents("payloadFile")})
	if found.err != nil {
		v.fail("payloadFile", "%v", found.err)
		return nil
	}
	if len(found.sizes) == 1 {
		found.sizes = Sizes{{found.sizes[0].Size, 1}}
	}
	if v.given.has("messageSize") && s.MessageSize.String() != found.sizes.String() {
		v.fail("messageSize", "%s, but the payloads in %s have %s; leave messageSize out to use their own", s.MessageSize, found.path, found.sizes.text())
		return nil
	}
	s.PayloadFile, s.PayloadDigest, s.MessageSize = found.path, found.digest, found.sizes
	return found.bodies
}

func (s Sizes) text() string {
	if len(s) == 1 {
		return s[0].Size.String()
	}
	return s.Smallest().String() + " to " + s.Largest().String()
}
