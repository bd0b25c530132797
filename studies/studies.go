// Package studies carries the studies that come with the program, one folder each.
package studies

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed */study.yaml
var files embed.FS

// Names lists the studies, sorted.
func Names() []string {
	var names []string
	entries, _ := files.ReadDir(".") // an embedded directory can always be read
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Read returns the study document of a study; an unknown name is answered with the names there are.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(path.Join(name, "study.yaml"))
	if err != nil {
		return nil, fmt.Errorf("unknown study %q; known: %s", name, strings.Join(Names(), ", "))
	}
	return data, nil
}
