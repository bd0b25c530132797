package brokermark_test

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "github.com/brokermark/brokermark/brokers"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/usual"
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

// imports lists what a package imports itself.
func imports(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, pkg).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
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

// Complaints about a mistyped word may say which one was meant, and drivers tell specs their defaults: the packages for
// that import nothing of ours themselves.
func TestFoundationsImportNothingOfOurs(t *testing.T) {
	for _, name := range []string{"suggest", "usual", "secret", "bounded", "wire", "hist", "schedule", "clock", "ledger", "driver", "provision", "study"} {
		pkg := module + "/internal/" + name
		for _, d := range deps(t, pkg) {
			if strings.HasPrefix(d, module) && d != pkg && d != module+"/internal/suggest" && d != module+"/internal/usual" && d != module+"/internal/secret" && d != module+"/internal/bounded" {
				t.Errorf("internal/%s imports %s", name, d)
			}
		}
	}
}

// A fleet meets at a control server, which is NATS; no message that is measured passes through it.
func TestClientLibrariesAreUsedUnderBrokersOnly(t *testing.T) {
	clients := []string{
		"github.com/twmb/franz-go", "github.com/rabbitmq/", "github.com/nats-io/", "github.com/Azure/go-amqp",
		"github.com/apache/pulsar-client-go", "github.com/redis/", "github.com/eclipse/paho",
	}
	for _, pkg := range packages(t) {
		for _, imported := range imports(t, pkg) {
			for _, c := range clients {
				if control := pkg == module+"/internal/fleet" && c == "github.com/nats-io/"; strings.HasPrefix(imported, c) && !control {
					t.Errorf("%s imports %s", pkg, imported)
				}
			}
		}
	}
}

// Driver, recipe and defaults of a broker are one product with one name; whatever registers one of them alone would be found
// by some commands and not by others.
func TestBrokersAreRegisteredAsProductsOnly(t *testing.T) {
	if got := catalog.Names(); !slices.Equal(got, driver.Names()) {
		t.Errorf("products: %v; drivers: %v", got, driver.Names())
	}
	started := slices.DeleteFunc(catalog.Names(), func(name string) bool { _, ok := catalog.Started(name); return !ok })
	if !slices.Equal(started, provision.Names()) {
		t.Errorf("products that are started: %v; recipes: %v", started, provision.Names())
	}
	for _, name := range catalog.Names() {
		p, err := catalog.Lookup(name)
		known := usual.Of(name)
		if known.Means != nil {
			_ = known.Means(usual.Guarantee{Delivery: "twice", Persistence: "stone", Acks: "all", Ordering: "random", Replicas: -1}) // a record may say so
		}
		p.Defaults.Means, known.Means = nil, nil // functions can't be compared
		if err != nil || p.Driver.Name != name || p.Recipe != nil && p.Recipe.Broker != name || !reflect.DeepEqual(p.Defaults, known) {
			t.Errorf("%s: driver %q, recipe %v, defaults %v, %v", name, p.Driver.Name, p.Recipe, p.Defaults, err)
		}
	}
}

func TestReportsReadOnlyTheStore(t *testing.T) {
	forbidden := []string{"lab", "worker", "measure", "search", "agent", "provision", "driver"}
	for _, pkg := range []string{module + "/reports", module + "/internal/results"} {
		all := deps(t, pkg)
		for _, name := range forbidden {
			if slices.Contains(all, module+"/internal/"+name) {
				t.Errorf("%s depends on internal/%s", pkg, name)
			}
		}
	}
}

// Reports choose from results: what they need of a record, package results names.
func TestReportsReachTheStoreOnlyThroughResults(t *testing.T) {
	for _, imported := range imports(t, module+"/reports") {
		if imported == module+"/internal/store" {
			t.Error("reports imports internal/store")
		}
	}
}

// A renderer knows no broker, no record and no metric.
func TestRenderersOnlyRender(t *testing.T) {
	for pkg, allowed := range map[string][]string{
		"unit": nil, "lists": nil, "remark": nil, "document": {"unit", "lists", "remark"}, "render": {"unit", "lists", "remark", "document"},
	} {
		for _, d := range deps(t, module+"/internal/"+pkg) {
			name, ours := strings.CutPrefix(d, module+"/internal/")
			if ours && name != pkg && !slices.Contains(allowed, name) {
				t.Errorf("internal/%s depends on internal/%s", pkg, name)
			}
		}
	}
}
