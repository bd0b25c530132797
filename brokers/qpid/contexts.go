package qpid

import (
	"archive/zip"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var contextName = regexp.MustCompile(`\b(?:qpid|queue|broker|virtualhost|connection|channel|producer|consumer|port|store)\.[A-Za-z0-9_.]*[A-Za-z0-9_]\b`)

// contextNames finds the names of context variables in the server's own classes: the server accepts any name and ignores
// those that it doesn't know.
func contextNames(lib string) ([]string, error) {
	jars, err := filepath.Glob(filepath.Join(lib, "qpid-*.jar"))
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, path := range jars {
		jar, err := zip.OpenReader(path)
		if err != nil {
			return nil, err
		}
		for _, f := range jar.File {
			if !strings.HasSuffix(f.Name, ".class") {
				continue
			}
			text, err := contents(f)
			if err != nil {
				_ = jar.Close()
				return nil, err
			}
			for _, name := range contextName.FindAll(text, -1) {
				found[string(name)] = true
			}
		}
		_ = jar.Close()
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func contents(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
