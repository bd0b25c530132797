package brokermark_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/brokermark/brokermark"

// deps lists what a package of ours imports, directly or not.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", pkg).Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

func packages(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "./internal/...", "./reports/...", "./studies/...", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

func TestFoundationsImportNothingOfOurs(t *testing.T) {
	for _, name := range []string{"wire", "hist", "schedule", "clock", "driver", "provision", "study"} {
		pkg := module + "/internal/" + name
		for _, d := range deps(t, pkg) {
			if strings.HasPrefix(d, module) && d != pkg {
				t.Errorf("internal/%s imports %s", name, d)
			}
		}
	}
}

func TestClientLibrariesAreUsedUnderBrokersOnly(t *testing.T) {
	clients := []string{"github.com/twmb/franz-go", "github.com/rabbitmq/amqp091-go", "github.com/nats-io/"}
	for _, pkg := range packages(t) {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for imported := range strings.FieldsSeq(string(out)) {
			for _, c := range clients {
				if strings.HasPrefix(imported, c) {
					t.Errorf("%s imports %s", pkg, imported)
				}
			}
		}
	}
}

func TestReportsReadOnlyTheStore(t *testing.T) {
	forbidden := []string{"lab", "worker", "measure", "search", "agent", "provision", "driver"}
	for _, pkg := range []string{module + "/reports", module + "/internal/report"} {
		all := deps(t, pkg)
		for _, name := range forbidden {
			if slices.Contains(all, module+"/internal/"+name) {
				t.Errorf("%s depends on internal/%s", pkg, name)
			}
		}
	}
}
