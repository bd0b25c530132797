package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

var (
	aptTurn    sync.Mutex // held while apt works
	aptUpdated bool       // the lists of packages are fresh
)

func aptCommand(packages []string) string {
	return "apt-get install -y --no-install-recommends " + strings.Join(packages, " ")
}

func debInstalled(name string) bool {
	out, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Status}", name).Output()
	return err == nil && string(out) == "installed"
}

// aptInstall tries with the lists there are and fetches new ones only if that fails.
func aptInstall(ctx context.Context, packages []string) error {
	aptTurn.Lock()
	defer aptTurn.Unlock()
	guard := machinePolicy.forbid()
	defer guard.allow()
	args := append([]string{"-o", "DPkg::Lock::Timeout=120", "-y", "--no-install-recommends", "install"}, packages...)
	err := aptGet(ctx, guard, args...)
	if err == nil || aptUpdated || ctx.Err() != nil {
		return err
	}
	// Its failure alone proves nothing: one unreachable third-party source is enough for it.
	updateErr := aptGet(ctx, guard, "update")
	aptUpdated = true
	if err := aptGet(ctx, guard, args...); err != nil {
		return errors.Join(err, updateErr)
	}
	return nil
}

// aptGet changes the whole machine, so it is never killed in its tracks: cancelling ctx asks it to end.
func aptGet(ctx context.Context, guard *guard, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.ExtraFiles = guard.locks() // apt-get goes on where the tool is killed, and services must not start then either
	home, _ := os.UserHomeDir()
	cmd.Env = cleanEnvironment(home, append(handed(network, apts), aptQuiet...)) // maintainers' scripts see it, too
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("apt-get: %w%s", err, logged(tail(string(out), tailLines)))
	}
	return nil
}

var aptQuiet = []string{"DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"}

// AptTree unpacks packages of another Debian suite, with everything down to the C library, into Dir/tree. It needs no
// root and leaves the machine's own packages alone: apt works on a state of its own, with an empty list of installed
// packages, and takes none that isn't signed. No maintainer script runs. A program in it is run with bwrap --ro-bind Dir/tree /.
func (i *Install) AptTree(ctx context.Context, suite string, packages ...string) error {
	source, err := debianSource()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(i.Dir, ".apt-") // there, so that it goes with what a killed tool leaves
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil { // for the user that apt downloads as
		return err
	}
	options, err := privateApt(work, source.line(suite))
	if err != nil {
		return err
	}
	i.Log("fetching %s of Debian %s", strings.Join(packages, ", "), suite)
	env := append(handed(network, apts), aptQuiet...)
	if err := i.own(ctx, work, env, "apt-get", append(options, "update")...); err != nil {
		return err
	}
	base := []string{"dash", "bash", "coreutils", "sed", "grep", "gawk"} // what start scripts call
	if err := i.own(ctx, work, env, "apt-get", slices.Concat(options, []string{"-y", "-d", "install"}, packages, base)...); err != nil {
		return err
	}
	tree := filepath.Join(i.Dir, "tree")
	if err := merged(tree); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(work, "cache/archives/*.deb"))
	if err != nil || len(debs) == 0 {
		return errors.Join(fmt.Errorf("no package of %s was fetched", suite), err)
	}
	for _, deb := range debs {
		if err := i.own(ctx, work, nil, "sh", "-c", unpack, "sh", deb, tree); err != nil {
			return err
		}
	}
	return furnish(tree)
}

// merged makes the links that a merged /usr has: packages of Debian 12 still put some files into /lib.
func merged(tree string) error {
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(tree, "usr", dir), 0o755), os.Symlink("usr/"+dir, filepath.Join(tree, dir))); err != nil {
			return err
		}
	}
	return nil
}

// unpack takes the files of a package, but neither their owners nor what would give somebody else's rights to who runs
// them.
const unpack = `set -e; umask 022; mkdir -p "$2"; dpkg-deb --fsys-tarfile "$1" >package.tar; tar -x -f package.tar -C "$2" --no-same-owner --no-same-permissions --keep-directory-symlink; rm package.tar`

// TreeCommand runs a program of a tree that AptTree has made below install, through the tree's own loader and
// libraries: they may be newer than the machine's. It needs neither root nor anything on the machine, and is the
// program's own process, without a wrapper.
func TreeCommand(install, program string, args ...string) (Command, error) {
	tree := filepath.Join(install, "tree")
	var dirs []string
	loader := ""
	// Until Debian 12 the C library lies in /lib, everything else in /usr/lib.
	for _, lib := range []string{"lib/*-linux-gnu*", "usr/lib/*-linux-gnu*"} {
		found, _ := filepath.Glob(filepath.Join(tree, lib))
		dirs = append(dirs, found...)
		if loaders, _ := filepath.Glob(filepath.Join(tree, lib, "ld-linux*.so.*")); len(loaders) > 0 {
			loader = loaders[0]
		}
	}
	path := filepath.Join(tree, program)
	if _, err := os.Stat(path); err != nil || loader == "" {
		return Command{}, errors.Join(fmt.Errorf("no %s with a program loader below %s", program, tree), err)
	}
	own := []string{"--argv0", filepath.Base(program), "--library-path", strings.Join(dirs, ":"), path}
	return Command{Path: loader, Args: append(own, args...)}, nil
}

// privateApt makes an apt state below work and returns the options that make apt use it.
func privateApt(work, sources string) ([]string, error) {
	for _, d := range []string{"lists/partial", "cache/archives/partial", "state"} {
		if err := os.MkdirAll(filepath.Join(work, d), 0o755); err != nil {
			return nil, err
		}
	}
	list, status := filepath.Join(work, "sources.list"), filepath.Join(work, "state/status")
	if err := errors.Join(os.WriteFile(list, []byte(sources), 0o644), os.WriteFile(status, nil, 0o644)); err != nil {
		return nil, err
	}
	var options []string
	for _, o := range []string{
		"Dir::Etc::sourcelist=" + list, "Dir::Etc::sourceparts=/dev/null",
		"Dir::Etc::preferences=/dev/null", "Dir::Etc::preferencesparts=/dev/null",
		"Dir::State=" + filepath.Join(work, "state"), "Dir::State::lists=" + filepath.Join(work, "lists"),
		"Dir::State::status=" + status, "Dir::Cache=" + filepath.Join(work, "cache"),
		"APT::Install-Recommends=false", "Acquire::Languages=none",
		"Debug::NoLocking=1", "APT::Get::AllowUnauthenticated=false", "Acquire::AllowInsecureRepositories=false",
	} {
		options = append(options, "-o", o)
	}
	return options, nil
}

// furnish adds what maintainer scripts would have made and start scripts ask for.
func furnish(tree string) error {
	for _, d := range []string{"tmp", "run", "proc", "dev", "etc"} {
		if err := os.MkdirAll(filepath.Join(tree, d), 0o755); err != nil {
			return err
		}
	}
	awk := filepath.Join(tree, "usr/bin/awk")
	if _, err := os.Lstat(awk); os.IsNotExist(err) {
		if err := os.Symlink("gawk", awk); err != nil {
			return err
		}
	}
	passwd := "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
	return errors.Join(
		os.WriteFile(filepath.Join(tree, "etc/passwd"), []byte(passwd), 0o644),
		os.WriteFile(filepath.Join(tree, "etc/hosts"), []byte("127.0.0.1 localhost\n"), 0o644))
}

// aptSource is one entry of the machine's own package sources.
type aptSource struct {
	URI, SignedBy string
	Suites        []string
}

func (s aptSource) line(suite string) string {
	signed := ""
	if s.SignedBy != "" {
		signed = "[signed-by=" + s.SignedBy + "] "
	}
	return fmt.Sprintf("deb %s%s %s main\n", signed, s.URI, suite)
}

// debianSource finds the mirror this machine gets Debian itself from: the source that carries its own release.
func debianSource() (aptSource, error) {
	files, _ := filepath.Glob("/etc/apt/sources.list.d/*")
	codename := osCodename()
	for _, path := range append([]string{"/etc/apt/sources.list"}, files...) {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, s := range parseSources(path, b) {
			if slices.Contains(s.Suites, codename) {
				return s, nil
			}
		}
	}
	return aptSource{}, &ErrMissing{What: "a Debian package source for " + codename + " in /etc/apt"}
}

func osCodename() string {
	b, _ := os.ReadFile("/etc/os-release")
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return "stable"
}

// parseSources reads both forms: stanzas (.sources) and one line each (.list).
func parseSources(path string, b []byte) []aptSource {
	var list []aptSource
	if !strings.HasSuffix(path, ".sources") {
		for line := range strings.Lines(string(b)) {
			if s, ok := parseLine(line); ok {
				list = append(list, s)
			}
		}
		return list
	}
	for stanza := range strings.SplitSeq(string(b), "\n\n") {
		var s aptSource
		binary := false
		for line := range strings.Lines(stanza) {
			key, value, _ := strings.Cut(line, ":")
			fields := strings.Fields(value)
			switch {
			case len(fields) == 0:
			case strings.EqualFold(key, "Types"):
				binary = slices.Contains(fields, "deb")
			case strings.EqualFold(key, "URIs"):
				s.URI = fields[0]
			case strings.EqualFold(key, "Suites"):
				s.Suites = fields
			case strings.EqualFold(key, "Signed-By"):
				s.SignedBy = fields[0]
			}
		}
		if binary && s.URI != "" {
			list = append(list, s)
		}
	}
	return list
}

func parseLine(line string) (aptSource, bool) {
	f := strings.Fields(line)
	if len(f) == 0 || f[0] != "deb" {
		return aptSource{}, false
	}
	var s aptSource
	f = f[1:]
	for len(f) > 0 && (strings.HasPrefix(f[0], "[") || strings.Contains(f[0], "=")) {
		if v, ok := strings.CutPrefix(strings.Trim(f[0], "[]"), "signed-by="); ok {
			s.SignedBy = v
		}
		f = f[1:]
	}
	if len(f) < 2 {
		return aptSource{}, false
	}
	s.URI, s.Suites = f[0], f[1:2]
	return s, true
}
