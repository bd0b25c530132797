package provision

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// lockOf returns the SHA-256 of all files of a version, by name, from locks/VERSION.sha256 in the format of sha256sum.
func lockOf(locks fs.FS, version string) (map[string]string, error) {
	text, err := fs.ReadFile(locks, "locks/"+version+".sha256")
	if err != nil {
		return nil, fmt.Errorf("no SHA-256 of the files of version %s is known: %w", version, err)
	}
	lock := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("locks/%s.sha256: %q is not a SHA-256, two spaces and a file's name", version, line)
		}
		lock[name] = sum
	}
	return lock, nil
}

// maxFetched bounds a fetched file, in bytes.
const maxFetched = 4 << 30

// accept creates the directory to with the files of from if they are exactly those of the lock; else it returns *ErrAltered. It
// compares the copies, since the program that fetched the files may change from at any time.
func accept(from, to string, lock map[string]string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	fetched, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	missing := maps.Clone(lock)
	for _, f := range fetched {
		name := f.Name()
		want, ok := lock[name]
		if !ok {
			return &ErrAltered{fmt.Errorf("%s was fetched, which is not among the files that this version is known to consist of", name)}
		}
		delete(missing, name)
		found, err := copyHashed(root, name, filepath.Join(to, name))
		if err != nil {
			return err
		}
		if found != want {
			return &ErrAltered{fmt.Errorf("%s is not the file that is known by this name and version: its SHA-256 should be %s and is %s", name, want, found)}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s was not fetched, though this version needs it", strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return nil
}

// copyHashed copies an ordinary file and returns the SHA-256 of the copy.
func copyHashed(root *os.Root, name, to string) (sum string, err error) {
	in, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would block
	if err != nil {
		return "", err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(fmt.Errorf("%s is not an ordinary file", name), err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(in, maxFetched+1))
	if size > maxFetched {
		err = fmt.Errorf("%s is larger than %d bytes", name, int64(maxFetched))
	}
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, out.Close())
}
