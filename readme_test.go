package brokermark_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/advise"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/reports"
)

// docs/gallery/README.md says so, and the picture below the table is of the same records.
func TestTheAnswerOfTheReadmeIsMadeFromTheRecordsOfTheGallery(t *testing.T) {
	content, err := os.ReadFile("docs/gallery/advise.db")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db") // opening a store may write to it
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, err := s.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	answer := advise.DecideAll(records)[0].Advice
	var out bytes.Buffer
	if err := render.Render(&out, reports.Advice(answer), "terminal", render.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, behind, _ := strings.Cut(string(readme), "on a virtual machine with two cores:\n\n```\n")
	shown, _, _ := strings.Cut(behind, "\n```\n")
	if shown == "" || !strings.Contains(out.String(), shown) {
		t.Errorf("README.md shows\n%s\nThe records say\n%s", shown, out.String())
	}
}
