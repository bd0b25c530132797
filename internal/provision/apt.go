package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// aptInstall first tries the package lists that are there, and fetches new ones only if that fails.
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
	// A failed update alone proves nothing: one unreachable third-party source is enough for it.
	updateErr := aptGet(ctx, guard, "update")
	aptUpdated = true
	if err := aptGet(ctx, guard, args...); err != nil {
		return errors.Join(err, updateErr)
	}
	return nil
}

// aptGet changes the whole machine, so it is never killed halfway: cancelling ctx asks it to end.
func aptGet(ctx context.Context, guard *guard, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.ExtraFiles = guard.locks() // apt-get goes on if the tool is killed, and services must not start then either
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

// AptTree unpacks packages of another Debian suite, with everything down to the C library, into Dir/tree. It needs no root
// and leaves the machine's own packages alone: apt works on a state of its own, with an empty list of installed packages,
// and takes only signed ones. No maintainer script runs. A program in it is run with bwrap --ro-bind Dir/tree /.
func (i *Install) AptTree(ctx context.Context, suite string, packages ...string) error {
	work, err := os.MkdirTemp(i.Dir, ".apt-") // in Dir, so that it is removed with the leftovers of a killed tool
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil { // for the user as which apt downloads
		return err
	}
	i.Log("fetching %s of Debian %s", strings.Join(packages, ", "), suite)
	env := append(handed(network, apts), aptQuiet...)
	options, err := i.lists(ctx, work, suite, env)
	if err != nil {
		return err
	}
	base := []string{"dash", "bash", "coreutils", "sed", "grep", "gawk"} // start scripts call these programs
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
	if err := i.own(ctx, work, nil, "sh", append([]string{"-c", unpack, "sh", tree}, debs...)...); err != nil {
		return err
	}
	return furnish(tree)
}

// lists fetches the lists of a suite from the first of the machine's sources that is Debian's, and returns the options of apt for it.
func (i *Install) lists(ctx context.Context, work, suite string, env []string) (options []string, err error) {
	codename := osCodename()
	sources := sourcesFor(codename, "/etc/apt")
	if sources == nil {
		return nil, &ErrMissing{What: "a Debian package source for " + codename + " in /etc/apt"}
	}
	var refused error
	for _, source := range sources {
		if options, err = privateApt(work, source.line(suite)); err != nil {
			return nil, err
		}
		err = i.own(ctx, work, env, "apt-get", append(options, "update")...)
		if err == nil && !debians(filepath.Join(work, "lists")) {
			err = fmt.Errorf("%s has packages of others than Debian", source.URI)
		}
		if err == nil || ctx.Err() != nil {
			return options, err
		}
		refused = errors.Join(refused, err)
	}
	return nil, refused
}

var originDebian = regexp.MustCompile(`(?m)^Origin: Debian$`)

// debians reports whether the lists that apt has fetched are Debian's, by their signed Release file: other distributions have
// suites of the same names.
func debians(lists string) bool {
	releases, _ := filepath.Glob(filepath.Join(lists, "*Release"))
	return slices.ContainsFunc(releases, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && originDebian.Match(text)
	})
}

// merged creates the links of a merged /usr: packages of Debian 12 still put some files into /lib.
func merged(tree string) error {
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(tree, "usr", dir), 0o755), os.Symlink("usr/"+dir, filepath.Join(tree, dir))); err != nil {
			return err
		}
	}
	return nil
}

// unpack extracts the files of packages without their owners, setuid and setgid bits. tar gets them as one archive, and
// creates links that could lead out of the tree last, so that no package's file is written through one.
const unpack = `set -e; umask 022; tree=$1; shift; for deb; do dpkg-deb --fsys-tarfile "$deb" >>package.tar; done
tar -x -i -f package.tar -C "$tree" --no-same-owner --no-same-permissions --keep-directory-symlink`

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

// furnish creates the files that start scripts need and maintainer scripts would have created.
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

// sourcesFor returns the sources in the folder of apt's configuration that carry the release with this name: one of them is the
// mirror from which this machine gets Debian itself.
func sourcesFor(codename, etc string) (found []aptSource) {
	files, _ := filepath.Glob(filepath.Join(etc, "sources.list.d/*"))
	for _, path := range append([]string{filepath.Join(etc, "sources.list")}, files...) {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, s := range parseSources(path, b) {
			if slices.Contains(s.Suites, codename) {
				found = append(found, s)
			}
		}
	}
	return found
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

// parseSources reads both formats: stanzas (.sources) and one source per line (.list). apt reads no other file names.
func parseSources(path string, b []byte) []aptSource {
	var list []aptSource
	switch filepath.Ext(path) {
	case ".list":
		for line := range strings.Lines(string(b)) {
			if s, ok := parseLine(line); ok {
				list = append(list, s)
			}
		}
		return list
	case ".sources":
	default:
		return nil
	}
	for stanza := range strings.SplitSeq(string(b), "\n\n") {
		var s aptSource
		binary, off := false, false
		for line := range strings.Lines(stanza) {
			key, value, _ := strings.Cut(line, ":")
			fields := strings.Fields(value)
			switch {
			case len(fields) == 0:
			case strings.EqualFold(key, "Types"):
				binary = slices.Contains(fields, "deb")
			case strings.EqualFold(key, "Enabled"):
				off = slices.Contains([]string{"no", "false", "without", "off", "disable", "0"}, strings.ToLower(fields[0]))
			case strings.EqualFold(key, "URIs"):
				s.URI = fields[0]
			case strings.EqualFold(key, "Suites"):
				s.Suites = fields
			case strings.EqualFold(key, "Signed-By"):
				s.SignedBy = fields[0]
			}
		}
		if binary && !off && s.URI != "" {
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

// Enclosed makes c run a program with the /usr and /etc of a tree that AptTree has made (bubblewrap among its packages) instead
// of the machine's: programs of another Debian need another C library, and find each other by their paths. bwrap also comes from
// the tree, started through the tree's own loader, so it needs no root rights and no package on the machine, only user
// namespaces. The program ends with its supervisor, even if that is killed. Paths outside of /usr and /etc are the same on both
// sides. Signals are not passed on. more are further options of bwrap.
func Enclosed(n *Node, c Command, program string, more ...string) (Command, error) {
	tree := filepath.Join(n.Cluster.Install, "tree")
	loaders, _ := filepath.Glob(filepath.Join(tree, "usr/lib/*-linux-gnu*/ld-linux*.so.*"))
	if len(loaders) == 0 {
		return c, fmt.Errorf("no program loader below %s", tree)
	}
	args := []string{
		"--library-path", filepath.Dir(loaders[0]), filepath.Join(tree, "usr/bin/bwrap"), "--die-with-parent",
		"--ro-bind", tree + "/usr", "/usr", "--ro-bind", tree + "/etc", "/etc",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--dev", "/dev", "--ro-bind", "/proc", "/proc", "--ro-bind-try", "/sys", "/sys", "--tmpfs", "/tmp", "--bind", n.Dir, n.Dir,
	}
	if t := n.Cluster.TLS; t != nil {
		args = append(args, "--ro-bind", filepath.Dir(t.CA), filepath.Dir(t.CA))
	}
	c.Args = slices.Concat(args, more, []string{"--chdir", n.Dir, program}, c.Args)
	c.Path = loaders[0]
	return c, nil
}
