package study

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// samples are real payloads, as found on this machine.
type samples struct {
	path   string
	sizes  Sizes
	digest string
	err    error
}

const maxSamples = 64 << 20 // bytes: all of them are kept in memory

// library looks payload files up, each once.
type library struct {
	dir   string // of the study's file
	found map[string]samples
}

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

// read looks from the working directory, beside the study, and one folder above it: the OpenMessaging Benchmark keeps
// payload/ beside workloads/ and is run from above both.
func (l *library) read(name string) samples {
	tried := []string{name}
	if !filepath.IsAbs(name) {
		tried = append(tried, filepath.Join(l.dir, name), filepath.Join(l.dir, "..", name))
	}
	for _, path := range tried {
		if _, err := os.Stat(path); err == nil {
			s, err := load(path)
			s.err = err
			return s
		} else if !errors.Is(err, fs.ErrNotExist) {
			return samples{err: fmt.Errorf("payloads can't be read: %w", err)}
		}
	}
	return samples{err: fmt.Errorf("no file or directory %q here, beside the study or one folder above it; without it (payloadFile: \"\") payloads are made up", name)}
}

func load(path string) (samples, error) {
	s := samples{path: path}
	sum := sha256.New()
	total := 0
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return err
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(body) < minMessage {
			return fmt.Errorf("%s has %d bytes; a message needs at least %d", name, len(body), minMessage)
		}
		if total += len(body); total > maxSamples {
			return fmt.Errorf("more than %s of samples", Size(maxSamples))
		}
		part := sha256.Sum256(body)
		sum.Write(part[:])
		s.sizes = s.sizes.with(Size(len(body)))
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

// with counts one more sample of a size.
func (s Sizes) with(size Size) Sizes {
	i, ok := slices.BinarySearchFunc(s, size, func(w WeightedSize, size Size) int { return cmp.Compare(w.Size, size) })
	if ok {
		s[i].Weight++
		return s
	}
	return slices.Insert(s, i, WeightedSize{size, 1})
}

// completePayload replaces the name of a payload file by what it holds.
func (v *validator) completePayload(l *library) {
	s := v.spec
	if s.PayloadFile == "" {
		return
	}
	found := l.lookup(s.PayloadFile)
	if found.err != nil {
		v.fail("payloadFile", "%v", found.err)
		return
	}
	if len(found.sizes) == 1 {
		found.sizes = Sizes{{found.sizes[0].Size, 1}}
	}
	if v.given.has("messageSize") && s.MessageSize.String() != found.sizes.String() {
		v.fail("messageSize", "%s, but the payloads in %s have %s; leave messageSize out to use their own", s.MessageSize, found.path, found.sizes.text())
		return
	}
	s.PayloadFile, s.PayloadDigest, s.MessageSize = found.path, found.digest, found.sizes
}

func (s Sizes) text() string {
	if len(s) == 1 {
		return s[0].Size.String()
	}
	return s.Smallest().String() + " to " + s.Largest().String()
}
