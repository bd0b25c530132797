// Generate collects the licences of everything in the program: the modules that a release is built from on any of its
// platforms, Go itself, and the packages that npm bundles into the front end.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/notices"
)

func main() {
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if err := generate(*out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// component is a part of the program with the files that say under which licence it is.
type component struct {
	notices.Component
	files []string
}

func generate(out string) error {
	root, err := output("", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	text, err := document(root)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

func document(root string) (string, error) {
	modules, err := modulesOf(root)
	if err != nil {
		return "", err
	}
	packages, err := webPackages(filepath.Join(root, "web"))
	if err != nil {
		return "", err
	}
	all := append(modules, packages...)
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.Name, b.Name) })
	var text strings.Builder
	err = write(&text, all)
	return text.String(), err
}

// modulesOf lists Go and every module that a package of the program comes from on a platform of the releases.
func modulesOf(root string) ([]component, error) {
	goroot, err := output(root, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found := map[string]*component{"Go": {notices.Component{Name: "Go"}, []string{filepath.Join(goroot, "LICENSE"), filepath.Join(goroot, "PATENTS")}}}
	for _, platform := range platforms {
		list, err := platform.goList(root, ofOthers)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			f := strings.Fields(line) // path, version, directory of the module, directory of the package
			if len(f) != 4 {
				continue
			}
			c := found[f[0]]
			if c == nil {
				c = &component{Component: notices.Component{Name: f[0], Version: f[1]}}
				found[f[0]] = c
			}
			for dir := f[3]; strings.HasPrefix(dir, f[2]); dir = filepath.Dir(dir) {
				if c.files, err = licencesIn(dir, c.files); err != nil {
					return nil, err
				}
			}
		}
	}
	list := make([]component, 0, len(found))
	for _, c := range found {
		list = append(list, *c)
	}
	return list, nil
}

// webPackages lists the packages that the bundle may hold. What only builds it isn't shipped.
func webPackages(dir string) ([]component, error) {
	packages, err := locked(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var list []component
	for _, c := range packages {
		at := filepath.Join(dir, "node_modules", c.Name)
		files, err := licencesIn(at, nil)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not installed: make web first", c.Name)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, component{c, files})
	}
	return list, nil
}

// Where a directory of licences offers the GPL as a choice, we take the other one.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]es/[^/]+|licen[cs]e|copying|notice|patents|unlicense|copyright)[^/]*$`)

var notALicence = regexp.MustCompile(`(?i)(\.go|\.toml|\.js|/gpl[^/]*)$`)

// licencesIn adds a directory's licences to those that are known.
func licencesIn(dir string, known []string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return known, err
	}
	files, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil {
		return known, err
	}
	more, err := fs.Glob(os.DirFS(dir), "licen?es/*")
	if err != nil {
		return known, err
	}
	for _, name := range append(files, more...) {
		path := filepath.Join(dir, name)
		file, err := os.Stat(path)
		if err != nil {
			return known, err
		}
		if file.Mode().IsRegular() && licenceFile.MatchString(name) && !notALicence.MatchString(name) && !slices.Contains(known, path) {
			known = append(known, path)
		}
	}
	return known, nil
}

// write sets down the components, then each different text with those that it covers.
func write(w io.Writer, all []component) error {
	covers := map[string][]string{}
	fmt.Fprint(w, "Brokermark is licensed under the Apache License 2.0. It contains the software below, under these licences.\n\n")
	for _, c := range all {
		if len(c.files) == 0 {
			return fmt.Errorf("%s has no licence", c.Name)
		}
		line := strings.TrimSpace(c.Name + " " + c.Version)
		fmt.Fprintf(w, "  %s\n", line)
		for _, file := range c.files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			t := plain(string(text))
			if !slices.Contains(covers[t], line) {
				covers[t] = append(covers[t], line)
			}
		}
	}
	texts := slices.SortedFunc(maps.Keys(covers), func(a, b string) int {
		return cmp.Or(cmp.Compare(covers[a][0], covers[b][0]), cmp.Compare(a, b))
	})
	for _, t := range texts {
		fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s\n", notices.Rule, strings.Join(covers[t], "\n"), notices.List, t)
	}
	return nil
}

// plain has texts that differ in line ends and blanks only count as one.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		b.WriteString(strings.TrimRight(line, " \t\n\f"))
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), "\n")
}

func output(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	return strings.TrimSpace(string(out)), nil
}
