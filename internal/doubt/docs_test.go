package doubt_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/doubt"
)

var update = flag.Bool("update", false, "write the table into docs/method.md")

// The table is the register's, written anew with: go test ./internal/doubt -update
func TestAll_IsTheTableInTheDocs(t *testing.T) {
	const page, head = "../../docs/method.md", "| class | doubt | beside | meaning |\n|---|---|---|---|\n"
	want := head
	for _, k := range doubt.All() {
		meaning := k.Sentence()
		if k.More() != "" {
			meaning += ". " + k.More()
		}
		want += fmt.Sprintf("| %s | `%s` | %s | %s |\n", k.Class(), k.Code(), k.Place(), meaning)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	rows, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal("docs/method.md has no table of doubts")
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+want+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got := head + rows + "\n"; got != want {
		t.Errorf("docs/method.md lacks what the register says; write it with -update. It has:\n%s\nwant:\n%s", got, want)
	}
}
