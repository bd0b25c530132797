package bundle

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/store"
)

// Header begins every zip.
var Header = []byte("PK\x03\x04")

// Bounds of a bundle, in bytes as it says them of its files: nothing beyond them is read.
const (
	maxFiles   = 10_000
	maxRecords = 16 << 30
	maxOthers  = 4 << 30  // all files but the records
	maxFile    = 64 << 20 // those that are read whole
)

// Check refuses a zip that is no bundle, that has names or sizes which no bundle has, or whose files differ from their sums.
func Check(path string) (Manifest, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s is no zip that can be read: %w", path, err)
	}
	defer z.Close()
	m, err := check(z.File)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// check is Check for a zip's files.
func check(list []*zip.File) (m Manifest, err error) {
	files, err := named(list)
	if err != nil {
		return m, err
	}
	for _, name := range []string{manifestFile, sumsFile, RecordsFile} {
		if files[name] == nil {
			return m, fmt.Errorf("it is no bundle of a study: it has no %s", name)
		}
	}
	manifest, err := content(files[manifestFile])
	if err == nil {
		err = json.Unmarshal(manifest, &m)
	}
	switch {
	case err != nil:
		return m, fmt.Errorf("%s: %w", manifestFile, err)
	case m.Format != format:
		return m, fmt.Errorf("it is of another version of brokermark (form %d, this one reads %d): import it with that one", m.Format, format)
	}
	sums, err := content(files[sumsFile])
	if err != nil {
		return m, fmt.Errorf("%s: %w", sumsFile, err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		known[name] = sum
	}
	for name, f := range files {
		if name == sumsFile {
			continue
		}
		sum, err := sumOf(f)
		switch {
		case err != nil:
			return m, fmt.Errorf("%s: %w", name, err)
		case sum != known[name]:
			return m, fmt.Errorf("%s differs from its sum in %s: the bundle was damaged or changed", name, sumsFile)
		}
		delete(known, name)
	}
	for name := range known {
		return m, fmt.Errorf("%s is named in %s and missing", name, sumsFile)
	}
	return m, nil
}

// named returns the files by their names, without folders. It refuses names that lead elsewhere or come twice, and files that are too
// many or too large.
func named(list []*zip.File) (map[string]*zip.File, error) {
	if len(list) > maxFiles {
		return nil, fmt.Errorf("it has %d files; allowed: %d", len(list), maxFiles)
	}
	files, others := map[string]*zip.File{}, uint64(0)
	for _, f := range list {
		name := f.Name
		isFolder := strings.HasSuffix(name, "/") && f.UncompressedSize64 == 0
		left := maxOthers - others
		if name == RecordsFile {
			left = maxRecords
		}
		switch {
		case isFolder:
			continue
		case !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, '\\') || !f.Mode().IsRegular():
			return nil, fmt.Errorf("%q is no file of a bundle", name)
		case files[name] != nil:
			return nil, fmt.Errorf("two of its files are called %s", name)
		case f.UncompressedSize64 > left:
			return nil, fmt.Errorf("%s is too large: %d bytes; allowed: %d of records, and %d of all other files", name, f.UncompressedSize64, uint64(maxRecords), uint64(maxOthers))
		case name != RecordsFile:
			others += f.UncompressedSize64
		}
		files[name] = f
	}
	return files, nil
}

// content returns the content of a file of moderate size.
func content(f *zip.File) ([]byte, error) {
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return bounded.All(r, maxFile)
}

func sumOf(f *zip.File) (string, error) {
	r, err := open(f)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// limited reads no more than a file is said to have.
type limited struct {
	io.ReadCloser
	left uint64
}

// errLonger is a file that goes on behind its end.
var errLonger = errors.New("it is longer than the zip says")

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if uint64(n) > l.left {
		return 0, errLonger
	}
	l.left -= uint64(n)
	return n, err
}

// open opens a file whose size named has accepted.
func open(f *zip.File) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &limited{r, f.UncompressedSize64}, nil
}

// Records reads the records of a bundle that Check accepted, one by one, as store.ReadRecords reads those of a file.
func Records(path string) iter.Seq2[store.Checked, error] {
	return store.ReadRecordsFrom(path+":"+RecordsFile, func() (io.ReadCloser, error) {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, err
		}
		files, err := named(z.File)
		if err == nil && files[RecordsFile] == nil {
			err = fs.ErrNotExist
		}
		var r io.ReadCloser
		if err == nil {
			r, err = open(files[RecordsFile])
		}
		if err != nil {
			return nil, errors.Join(err, z.Close())
		}
		return inZip{r, z}, nil
	})
}

// inZip is a file of a zip that is closed with it.
type inZip struct {
	io.ReadCloser
	zip io.Closer
}

func (f inZip) Close() error { return errors.Join(f.ReadCloser.Close(), f.zip.Close()) }
