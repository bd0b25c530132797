package provision

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/internal/testkit"
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
	for _, c := range []string{"", "a:b", "a:b:c:d"} {
		if pom, err := pomOf([]string{"x:y:1", c}); err == nil {
			t.Errorf("%q: %s", c, pom)
		}
	}
	pom, err := pomOf([]string{"org.x:y:1.0", "org.x:z:2.0"})
	ok(t, err)
	type dependency struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Version  string `xml:"version"`
	}
	var got struct {
		Dependencies []dependency `xml:"dependencies>dependency"`
	}
	ok(t, xml.Unmarshal([]byte(pom), &got))
	if want := []dependency{{"org.x", "y", "1.0"}, {"org.x", "z", "2.0"}}; !slices.Equal(got.Dependencies, want) {
		t.Errorf("%v, want %v", got.Dependencies, want)
	}
}

func TestPackageSourcesAreReadInBothForms(t *testing.T) {
	stanzas := `# a comment
Types: deb-src
URIs: http://mirror.example/src
Suites: bookworm

Enabled: no
Types: deb
URIs: http://mirror.example/off
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
		{"old.list.save", lines, nil},
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

// Sources of others have suites of the same names, and come first by the alphabet.
func TestOnlyListsThatAreDebiansAreTaken(t *testing.T) {
	etc := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(etc, "sources.list.d"), 0o700))
	for file, text := range map[string]string{
		"adoptium.list":  "deb https://adoptium.example/deb bookworm main\n",
		"debian.sources": "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n",
	} {
		ok(t, os.WriteFile(filepath.Join(etc, "sources.list.d", file), []byte(text), 0o600))
	}
	var found []string
	for _, s := range sourcesFor("bookworm", etc) {
		found = append(found, s.URI)
	}
	if want := []string{"https://adoptium.example/deb", "http://mirror.example/debian"}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	for release, want := range map[string]bool{
		"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nOrigin: Debian\nLabel: Debian\n": true,
		"Origin: Artifactory\nLabel: Origin: Debian\nSuite: bookworm\n":                       false,
		"Origin: Debian Backports\n": false,
	} {
		lists := t.TempDir()
		ok(t, os.WriteFile(filepath.Join(lists, "mirror_dists_trixie_InRelease"), []byte(release), 0o600))
		if debians(lists) != want {
			t.Errorf("%q: %v", release, !want)
		}
	}
}

// A package may make a link to a directory outside of the tree, and another one may have a file behind it.
func TestNoPackageWritesOutsideOfTheTree(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		testkit.Lacks(t, "dpkg-deb: %v", err)
	}
	work, outside, tree := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "tree")
	ok(t, merged(tree))
	pack := func(name string, fill func(dir string) error) string {
		dir := filepath.Join(work, name)
		ok(t, os.MkdirAll(filepath.Join(dir, "DEBIAN"), 0o755))
		ok(t, os.WriteFile(filepath.Join(dir, "DEBIAN/control"), []byte("Package: "+name+"\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: b\n"), 0o644))
		ok(t, os.MkdirAll(filepath.Join(dir, "usr/share"), 0o755))
		ok(t, fill(dir))
		out, err := exec.Command("dpkg-deb", "--root-owner-group", "--build", dir, dir+".deb").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return dir + ".deb"
	}
	debs := []string{
		pack("link", func(dir string) error {
			return errors.Join(os.Symlink(outside, filepath.Join(dir, "usr/share/absolute")), os.Symlink("../../../"+strings.Repeat("../", 20)+outside, filepath.Join(dir, "usr/share/relative")),
				os.Mkdir(filepath.Join(dir, "lib"), 0o755), os.WriteFile(filepath.Join(dir, "lib/inside"), nil, 0o644))
		}),
		pack("absolute", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "usr/share/absolute"), 0o755), os.WriteFile(filepath.Join(dir, "usr/share/absolute/file"), nil, 0o644))
		}),
		pack("relative", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "usr/share/relative"), 0o755), os.WriteFile(filepath.Join(dir, "usr/share/relative/file"), nil, 0o644))
		}),
	}
	unpacking := exec.Command("sh", append([]string{"-c", unpack, "sh", tree}, debs...)...)
	unpacking.Dir = work
	said, err := unpacking.CombinedOutput()
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%s lies outside", left[0].Name())
	}
	if _, missing := os.Stat(filepath.Join(tree, "usr/lib/inside")); missing != nil { // through the link of ours
		t.Errorf("%v; %v: %s", missing, err, said)
	}
}
