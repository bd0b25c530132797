package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// Sentences of an installation's programs: what they see, and as whom they run.
const says = "env; echo uid=$(id -u)"

func TestProgramsOfAnInstallationSeeNothingOfTheCallerAndHaveNoRights(t *testing.T) {
	t.Setenv("PGPASSWORD", "s3cr3t")
	t.Setenv("https_proxy", "http://me:s3cr3t@proxy:1")
	var seen, dir string
	broker := installable(t, nil, func(ctx context.Context, i *Install) (err error) {
		dir = i.Dir
		ok(t, os.WriteFile(filepath.Join(i.Dir, "server"), nil, 0o600))
		seen, err = i.Run(ctx, Command{Path: "sh", Args: []string{"-c", says + "; touch here && echo made; echo >" + i.Dir + "/server; cat " + i.Dir + "/server && echo read"}})
		return err
	})
	h := newHost(t)
	if _, err := h.Install(t.Context(), broker, ""); err != nil {
		t.Fatal(err)
	}
	uid, err := installer()
	ok(t, err)
	if uid == 0 {
		uid = os.Geteuid()
	} else if !strings.Contains(seen, "cannot create "+dir) {
		t.Error("it may change what is installed")
	}
	for text, want := range map[string]bool{"s3cr3t": false, fmt.Sprintf("uid=%d", uid): true, "uid=0": false, "HOME=" + dir + "/.work-": true, "made": true, "read": true} {
		if strings.Contains(seen, text) != want {
			t.Errorf("%q in what it says: %v", text, !want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(h.installs(), "*", ".work-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// maven puts a program of that name first on the PATH.
func maven(t *testing.T, script string) {
	t.Helper()
	bin := newHost(t).Dir
	ok(t, os.WriteFile(filepath.Join(bin, "mvn"), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

func TestMavenSeesItsSettingsAndTheProxyAndNoOtherSecretAndRunsWithoutRights(t *testing.T) {
	maven(t, says+"; cat $HOME/.m2/settings.xml; exit 1")
	home := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(home, ".m2"), 0o700))
	ok(t, os.WriteFile(filepath.Join(home, ".m2", "settings.xml"), []byte("<mirror/> ${env.MIRROR_KEY}\n"), 0o600))
	for name, value := range map[string]string{"HOME": home, "PGPASSWORD": "s3cr3t", "https_proxy": "http://proxy:1", "MIRROR_KEY": "of the mirror"} {
		t.Setenv(name, value)
	}
	err := fetch(t, fstest.MapFS{"locks/2.sha256": {}})
	if err == nil {
		t.Fatal("the failure of Maven is none of the installation")
	}
	for text, want := range map[string]bool{
		"s3cr3t": false, "https_proxy=http://proxy:1": true, "MIRROR_KEY=of the mirror": true, "<mirror/>": true, "HOME=" + home: false,
		"uid=0": false, "-Duser.home=": true,
	} {
		if strings.Contains(err.Error(), text) != want {
			t.Errorf("%q in what it says: %v", text, !want)
		}
	}
}

// fetch installs the jars of one coordinate.
func fetch(t *testing.T, locks fstest.MapFS) error {
	t.Helper()
	broker := installable(t, nil, func(ctx context.Context, i *Install) error { return i.Maven(ctx, locks, "org.x:y:2") })
	_, err := newHost(t).Install(t.Context(), broker, "")
	return err
}

// What is fetched is exactly what the lock names, or it is refused with a sentence that says which file.
func TestNothingIsInstalledButTheFilesThatAreKnown(t *testing.T) {
	const (
		good  = "printf jar >lib/y-2.jar" // its SHA-256 is sum
		sum   = "0163f1eea7894350060624d315234d40c508ab251ba121714e234503045faadd"
		other = "2d3d8e1ac0a7d3b7b1e1d8d5a8e63a9fd8f8b0a4f1fd3bb5ad4d2c6c9f1c0d11"
	)
	for name, c := range map[string]struct {
		script, lock, want string
		altered            bool // another file came than the known one
	}{
		"as it is known":    {good, sum + "  y-2.jar\n", "", false},
		"a changed byte":    {"printf jaR >lib/y-2.jar", sum + "  y-2.jar\n", "y-2.jar is not the file that is known by this name and version: its SHA-256 should be " + sum + " and is ", true},
		"one more":          {good + "; echo >lib/evil.jar", sum + "  y-2.jar\n", "evil.jar was fetched, which is not among the files that this version is known to consist of", true},
		"one less":          {good, sum + "  y-2.jar\n" + other + "  z-1.jar\n", "z-1.jar was not fetched, though this version needs it", false},
		"a link":            {"ln -s /etc/passwd lib/y-2.jar", sum + "  y-2.jar\n", "y-2.jar", false},
		"a pipe":            {"mkfifo lib/y-2.jar", sum + "  y-2.jar\n", "y-2.jar is not an ordinary file", false},
		"a list that isn't": {good, "y-2.jar\n", `locks/2.sha256: "y-2.jar\n" is not a SHA-256, two spaces and a file's name`, false},
	} {
		t.Run(name, func(t *testing.T) {
			maven(t, "mkdir lib; "+c.script)
			err := fetch(t, fstest.MapFS{"locks/2.sha256": {Data: []byte(c.lock)}})
			if altered := errors.As(err, new(*ErrAltered)); altered != c.altered || altered && errors.As(err, new(*ErrMissing)) {
				t.Errorf("altered: %v, want %v: %v", altered, c.altered, err)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	maven(t, "exit 0")
	if err := fetch(t, fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "no SHA-256 of the files of version 2 is known") {
		t.Error(err)
	}
}

// A umask that closes files to others must not close installations to the user that runs them.
func TestAnInstallationCanBeRunWhateverTheMaskIs(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	h, err := NewHost(filepath.Join(newHost(t).Dir, "new"), t.Logf)
	ok(t, err)
	broker := installable(t, nil, func(ctx context.Context, i *Install) error {
		ok(t, os.WriteFile(filepath.Join(i.Dir, "server"), []byte("#!/bin/sh\necho runs\n"), 0o700))
		_, err := i.Run(ctx, Command{Path: filepath.Join(i.Dir, "server")})
		return err
	})
	if _, err := h.Install(t.Context(), broker, ""); err != nil {
		t.Error(err)
	}
}
