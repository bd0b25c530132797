package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/notices"
)

const root = "../../.."

func TestEveryModuleOfTheProgramHasItsLicence(t *testing.T) {
	licences := notices.Licences()
	for _, p := range platforms {
		list, err := p.goList(root, "{{if not .Standard}}{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}{{end}}")
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for line := range strings.Lines(list) {
			if name, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				covered(t, licences, notices.Component{Name: name, Version: version})
				checked++
			}
		}
		if checked < 100 {
			t.Errorf("%s/%s: only %d packages of others", p.os, p.arch, checked)
		}
	}
	covered(t, licences, notices.Component{Name: "Go"})
}

func TestEveryPackageOfTheFrontEndHasItsLicence(t *testing.T) {
	licences := notices.Licences()
	packages, err := locked(filepath.Join(root, "web/package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 2 {
		t.Errorf("the front end has only %v", packages)
	}
	for _, c := range packages {
		covered(t, licences, c)
	}
}

func TestTheFontsOfFiguresHaveTheirLicence(t *testing.T) {
	for c, texts := range notices.Licences() {
		if c.Name == "codeberg.org/go-fonts/liberation" && strings.Contains(strings.Join(texts, "\n"), "SIL OPEN FONT LICENSE") {
			return
		}
	}
	t.Error("the SIL Open Font License of the Liberation fonts is missing")
}

func covered(t *testing.T, licences map[notices.Component][]string, c notices.Component) {
	t.Helper()
	texts := licences[c]
	if len(texts) == 0 {
		t.Errorf("no licence of %s %s: make notices, and commit what it writes", c.Name, c.Version)
	}
	for _, text := range texts {
		if len(text) < 50 {
			t.Errorf("%s %s: a licence of %q", c.Name, c.Version, text)
		}
	}
}

func TestAPartWithoutALicenceIsRefused(t *testing.T) {
	err := write(&strings.Builder{}, []component{{Component: notices.Component{Name: "example.org/x", Version: "v1.0.0"}}})
	if err == nil || err.Error() != "example.org/x has no licence" {
		t.Errorf("got %v", err)
	}
}
