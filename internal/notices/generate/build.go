package main

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/notices"
)

// platform is an operating system and an architecture that releases are built for.
type platform struct{ os, arch string }

// What is in a build depends on its platform.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// goList has go list print something of every package in the program on p.
func (p platform) goList(root, template string) (string, error) {
	return output(root, "env", "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "go", "list", "-deps", "-f", template, "./cmd/brokermark")
}

// ofOthers prints the module's path, version and directory and the package's directory, for packages of others.
const ofOthers = `{{if not .Standard}}{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} {{$.Dir}}{{end}}{{end}}{{end}}`

// locked lists the packages of an npm lock file that are shipped.
func locked(path string) ([]notices.Component, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	var list []notices.Component
	for name, p := range lock.Packages {
		if name != "" && !p.Dev {
			list = append(list, notices.Component{Name: strings.TrimPrefix(name, "node_modules/"), Version: p.Version})
		}
	}
	slices.SortFunc(list, func(a, b notices.Component) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
