package provision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// installable registers a recipe whose installation is install.
func installable(t *testing.T, needs []Need, install func(context.Context, *Install) error) string {
	t.Helper()
	r := testRecipe()
	r.Broker = strings.ReplaceAll(strings.ToLower(t.Name()), "/", "-")
	r.Versions = []Version{{Name: "2", Needs: needs}, {Name: "1"}}
	r.Install = install
	Register(r)
	t.Cleanup(func() { delete(recipes, r.Broker) })
	return r.Broker
}

func TestInstallHappensOnceHoweverManyAsk(t *testing.T) {
	var times atomic.Int32
	broker := installable(t, nil, func(_ context.Context, i *Install) error {
		times.Add(1)
		return os.WriteFile(filepath.Join(i.Dir, "server"), nil, 0o700)
	})
	h := newHost(t)
	if missing := h.Installed(broker, ""); len(missing) != 1 || !strings.Contains(missing[0], "brokermark broker install "+broker+"@2") {
		t.Errorf("before: %q", missing)
	}
	var all errgroup.Group
	for range 3 {
		all.Go(func() error {
			_, err := h.Install(t.Context(), broker, "")
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := times.Load(); n != 1 {
		t.Errorf("installed %d times", n)
	}
	if missing := h.Installed(broker, "2"); len(missing) > 0 {
		t.Errorf("after: %q", missing)
	}
	dir, _ := h.Install(t.Context(), broker, "2")
	fi, err := os.Stat(filepath.Join(dir, "server"))
	if err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("others may not run it: %v, %v", fi, err)
	}
}

func TestAnInstallationOfAnOlderRecipeIsMadeAnew(t *testing.T) {
	made := "server"
	broker := installable(t, nil, func(_ context.Context, i *Install) error {
		return os.WriteFile(filepath.Join(i.Dir, made), nil, 0o700)
	})
	h := newHost(t)
	_, err := h.Install(t.Context(), broker, "")
	if err != nil {
		t.Fatal(err)
	}
	made, recipes[broker].Complete = "compiled", "compiled"
	if missing := h.Installed(broker, ""); len(missing) != 1 {
		t.Errorf("before: %q", missing)
	}
	dir, err := h.Install(t.Context(), broker, "")
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || filepath.Base(left[0]) != made {
		t.Errorf("there is %q", left)
	}
}

func TestFailedInstallSaysWhyAndIsTriedAgain(t *testing.T) {
	fail := true
	broker := installable(t, nil, func(ctx context.Context, i *Install) error {
		if fail {
			_, err := i.Run(ctx, Command{Path: "sh", Args: []string{"-c", "echo connection reset by mirror; exit 4"}})
			return err
		}
		return os.WriteFile(filepath.Join(i.Dir, "done"), nil, 0o644)
	})
	h := newHost(t)
	_, err := h.Install(t.Context(), broker, "1")
	var missing *ErrMissing
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), broker+" 1 is missing; trying to install it failed: sh exited with code 4") ||
		!strings.Contains(err.Error(), "reset by mirror") {
		t.Error(err)
	}
	if left, err := os.ReadDir(h.installs()); err != nil || len(left) != 1 || !strings.HasSuffix(left[0].Name(), ".lock") {
		t.Error("left behind:", left, err)
	}
	fail = false
	if _, err := h.Install(t.Context(), broker, "1"); err != nil {
		t.Error(err)
	}
}

func TestMissingNeedNamesTheCommandThatInstallsIt(t *testing.T) {
	needs := []Need{{Command: "no-such-command-here"}}
	broker := installable(t, needs, nil)
	_, err := newHost(t).Install(t.Context(), broker, "")
	var missing *ErrMissing
	if !errors.As(err, &missing) || missing.What != "no-such-command-here" {
		t.Error(err)
	}
	n := Need{Command: "java", Apt: []string{"default-jre-headless"}}
	want := "java is missing; install it with: apt-get install -y --no-install-recommends default-jre-headless"
	if got := n.missing(nil).Error(); got != want {
		t.Errorf("%q", got)
	}
}

func TestMavenCoordinates(t *testing.T) {
	for _, c := range []struct {
		in   string
		want dependency
		ok   bool
	}{
		{"", dependency{}, false},
		{"a:b", dependency{}, false},
		{"a:b:c:d", dependency{}, false},
		{"org.x:y:1.0", dependency{Group: "org.x", Artifact: "y", Version: "1.0"}, true},
	} {
		if got, err := parseCoordinate(c.in); got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %+v, %v", c.in, got, err)
		}
	}
}

func TestPackageSourcesAreReadInBothForms(t *testing.T) {
	stanzas := `# a comment
Types: deb-src
URIs: http://mirror.example/src
Suites: bookworm

Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/k.gpg
`
	lines := `# deb http://mirror.example/off bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/plain trixie main
deb broken
`
	for _, c := range []struct {
		path, text string
		want       []aptSource
	}{
		{"debian.sources", stanzas, []aptSource{{"http://mirror.example/debian", "/usr/share/keyrings/k.gpg", []string{"bookworm", "bookworm-updates"}}}},
		{"sources.list", lines, []aptSource{
			{"http://mirror.example/debian", "/k.gpg", []string{"bookworm"}},
			{"http://mirror.example/plain", "", []string{"trixie"}},
		}},
	} {
		if got := parseSources(c.path, []byte(c.text)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", c.path, got)
		}
	}
	s := aptSource{URI: "http://mirror.example/debian", SignedBy: "/k.gpg"}
	if got, want := s.line("trixie"), "deb [signed-by=/k.gpg] http://mirror.example/debian trixie main\n"; got != want {
		t.Errorf("%q", got)
	}
}
