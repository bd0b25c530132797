// Package studies carries the studies that come with the program, one folder each, and opens those of its users alike.
package studies

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Document is the file that makes a folder a study.
const Document = "study.yaml"

// files holds every folder whole: tables, claims and payloads beside the study's document.
//
//go:embed */*
var files embed.FS

// Names lists the studies, sorted.
func Names() []string {
	var names []string
	documents, _ := fs.Glob(files, path.Join("*", Document)) // the pattern is well formed
	for _, d := range documents {
		names = append(names, path.Dir(d))
	}
	return names
}

// Read returns the study document of a study.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(path.Join(name, Document))
	if err != nil {
		return nil, fmt.Errorf("no study %q", name)
	}
	return data, nil
}

// FS is the folder of a study: of one that comes with the program by its name, or of one on disk by the path of its
// folder or of a file in it. No link leads out of it: a folder may be another user's.
func FS(name string) (fs.FS, error) {
	if _, err := Read(name); err == nil {
		return fs.Sub(files, name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no study or folder %q", name)
	case !info.IsDir():
		name = filepath.Dir(name)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("the folder of a study can't be read: %w", err)
	}
	return root.FS(), nil // it is open as long as the process uses it
}
