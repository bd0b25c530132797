package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/catalog"
)

// Other people copy these studies and change them; the copies need no trust for their settings.
func TestNoServerSettingOfTheStudiesThatComeAlongNeedsTrust(t *testing.T) {
	settings := 0
	for _, name := range studyNames() {
		s, err := embeddedStudy(name)
		if err != nil {
			t.Fatal(err)
		}
		points, err := s.Points()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			settings += len(p.Spec.Server)
		}
		s.Distrusted = true
		if _, err := s.Points(); err != nil && strings.Contains(err.Error(), "server.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if settings < 10 {
		t.Errorf("only %d settings were looked at", settings)
	}
}

var proposed = regexp.MustCompile(`--set server\.([A-Za-z][A-Za-z0-9._-]*)=`)

func TestNoServerSettingThatThePagesProposeNeedsTrust(t *testing.T) {
	text, err := os.ReadFile("../../docs/fairness.md")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, name := range catalog.Names() {
		p, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Recipe != nil && len(p.Defaults.Tuning) < 10 {
			t.Errorf("%s: %d settings need no trust", name, len(p.Defaults.Tuning))
		}
		known = append(known, p.Defaults.Tuning...)
	}
	found := proposed.FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if !slices.Contains(known, m[1]) && !strings.HasPrefix(m[1], "jvm.") {
			t.Errorf("%s needs trust", m[1])
		}
	}
	if len(found) < 5 {
		t.Errorf("only %d settings were found", len(found))
	}
}
