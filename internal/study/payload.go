package study

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/brokermark/brokermark/internal/bounded"
)

// samples are real payloads, as found on this machine.
type samples struct {
	path   string
	sizes  Sizes
	digest string
	bodies [][]byte // of samples that came with the study
	err    error
}

const maxSamples = 64 << 20 // bytes: all of them are kept in memory

// library looks payload files up, each once.
type library struct {
	dir   string // of the study's file
	files fs.FS  // the folder of a study that isn't on the disk, or nil
	found map[string]samples
}

// disk is the machine's file system: any path is a name.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }

func (l *library) lookup(name string) samples {
	if l.found == nil {
		l.found = map[string]samples{}
	}
	s, ok := l.found[name]
	if !ok {
		s = l.read(name)
		l.found[name] = s
	}
	return s
}

// read looks in the study's own files, from the working directory, beside the study, and one folder above it: the
// OpenMessaging Benchmark keeps payload/ beside workloads/ and is run from above both.
func (l *library) read(name string) samples {
	if l.files != nil && fs.ValidPath(name) {
		if _, err := fs.Stat(l.files, name); err == nil {
			s, err := load(l.files, name)
			s.err = err
			return s
		}
	}
	tried := []string{name}
	if !filepath.IsAbs(name) {
		tried = append(tried, filepath.Join(l.dir, name), filepath.Join(l.dir, "..", name))
	}
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			s, err := load(disk{}, path)
			s.bodies, s.err = nil, err
			return s
		} else if !errors.Is(err, fs.ErrNotExist) {
			return samples{err: fmt.Errorf("payloads can't be read: %w", err)}
		}
	}
	return samples{err: fmt.Errorf("no file or directory %q here, beside the study or one folder above it; without it (payloadFile: \"\") payloads are made up", name)}
}

func load(files fs.FS, path string) (samples, error) {
	s := samples{path: path}
	sum := sha256.New()
	total := 0
	err := fs.WalkDir(files, path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
			return err
		}
		body, err := bounded.FileIn(files, name, maxSamples-int64(total))
		if errors.Is(err, bounded.ErrTooLong) {
			return fmt.Errorf("more than %s of samples", Size(maxSamples))
		}
		if err != nil {
			return err
		}
		if len(body) < minMessage {
			return fmt.Errorf("%s has %d bytes; a message needs at least %d", name, len(body), minMessage)
		}
		if n := linesOf(name, body); n > 1 {
			return fmt.Errorf("%s has %d lines, which would be one message of %d bytes; put each into a file of its own and name their folder", name, n, len(body))
		}
		if total += len(body); total > maxSamples {
			return fmt.Errorf("more than %s of samples", Size(maxSamples))
		}
		part := sha256.Sum256(body)
		sum.Write(part[:])
		s.sizes = s.sizes.with(Size(len(body)))
		s.bodies = append(s.bodies, body)
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("payloads can't be read: %w", err)
	}
	if len(s.sizes) == 0 {
		return s, fmt.Errorf("payloads can't be read: no file in %s", path)
	}
	s.digest = hex.EncodeToString(sum.Sum(nil)[:16])
	return s, nil
}

// linesOf counts the objects of a file of JSON lines; 1 for any other file, which is one payload.
func linesOf(name string, body []byte) int {
	if ending := filepath.Ext(name); ending != ".jsonl" && ending != ".ndjson" {
		return 1
	}
	return len(bytes.Split(bytes.TrimSpace(body), []byte("\n")))
}

// with counts one more sample of a size.
func (s Sizes) with(size Size) Sizes {
	i, ok := slices.BinarySearchFunc(s, size, func(w WeightedSize, size Size) int { return cmp.Compare(w.Size, size) })
	if ok {
		s[i].Weight++
		return s
	}
	return slices.Insert(s, i, WeightedSize{size, 1})
}

// completePayload replaces the name of a payload file by what it holds. It returns the samples that came with the study.
func (v *validator) completePayload(l *library) (bodies [][]byte) {
	s := v.spec
	if s.PayloadFile == "" {
		return nil
	}
	found := l.lookup(s.PayloadFile)
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
