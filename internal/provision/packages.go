package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Maven puts the jars of the coordinates (group:artifact:version) and their run-time dependencies into Dir/lib. These must be exactly the
// files that locks names for this version (see lockOf). Give exact versions: for a range Maven reads every existing version.
func (i *Install) Maven(ctx context.Context, locks fs.FS, coordinates ...string) error {
	pom, err := pomOf(coordinates)
	if err != nil {
		return err
	}
	i.Log("fetching %s with Maven", strings.Join(coordinates, ", "))
	return i.maven(ctx, locks, "lib", pom, "copy-dependencies", "-DincludeScope=runtime")
}

// pomOf returns a project that depends on the coordinates.
func pomOf(coordinates []string) (string, error) {
	var pom strings.Builder
	pom.WriteString(`<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>brokermark</groupId><artifactId>install</artifactId><version>1</version><packaging>pom</packaging><dependencies>
`)
	for _, c := range coordinates {
		p := strings.Split(c, ":")
		if len(p) != 3 {
			return "", fmt.Errorf("maven coordinate %q: want group:artifact:version", c)
		}
		fmt.Fprintf(&pom, "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n", p[0], p[1], p[2])
	}
	pom.WriteString("</dependencies></project>\n")
	return pom.String(), nil
}

// Archive unpacks the single file of a coordinate (group:artifact:version:tar.gz:bin), without its dependencies, into Dir,
// without the archive's top directory. It must be the file that locks names for this version.
func (i *Install) Archive(ctx context.Context, locks fs.FS, coordinate string, options ...string) error {
	i.Log("fetching %s with Maven", coordinate)
	if err := i.maven(ctx, locks, "archive", "", "copy", append(options, "-Dartifact="+coordinate)...); err != nil {
		return err
	}
	const unpack = "umask 022; tar xzf archive/*.tar.gz --strip-components=1 --no-same-owner --no-same-permissions"
	if err := i.own(ctx, i.Dir, nil, "sh", "-c", unpack); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(i.Dir, "archive"))
}

// WithoutChecksum allows an archive without a checksum in the registry; the checksum of locks is the stronger one.
const WithoutChecksum = "--lax-checksums"

// copier is the plugin that copies artifacts, in the default version of Debian's Maven.
const copier = "org.apache.maven.plugins:maven-dependency-plugin:2.8"

// maven runs a goal of the plugin as the user for programs of installations, and moves the fetched files to the directory to below Dir.
func (i *Install) maven(ctx context.Context, locks fs.FS, to, pom, goal string, options ...string) error {
	lock, err := lockOf(locks, i.Version)
	if err != nil {
		return err
	}
	path, err := lookPath("mvn", "maven")
	if err != nil {
		return err
	}
	files, named, err := mavenSettings()
	if err != nil {
		return err
	}
	if pom != "" {
		files["pom.xml"] = []byte(pom)
	}
	work, leave, err := i.workshop(files)
	if err != nil {
		return err
	}
	defer leave()
	if !slices.Contains(options, WithoutChecksum) {
		options = append(options, "--strict-checksums") // a missing or wrong checksum makes it fail
	}
	args := []string{"-q", "-B", "-Dstyle.color=never", copier + ":" + goal, "-DoutputDirectory=" + filepath.Join(work.dir, to)}
	// Java looks up the home in the list of users, which may not contain this one.
	opts := "MAVEN_OPTS=" + strings.TrimSpace(os.Getenv("MAVEN_OPTS")+" -Duser.home="+work.dir)
	env := append(handed(network, mavens, named), opts)
	if _, err := i.execute(ctx, work.job(path, append(args, options...), env)); err != nil {
		return err
	}
	return accept(filepath.Join(work.dir, to), filepath.Join(i.Dir, to), lock)
}

// mavenSettings returns the caller's own files with Maven's mirrors and logins, and the environment variables that they
// name.
func mavenSettings() (files map[string][]byte, named []string, err error) {
	files = map[string][]byte{}
	home, err := os.UserHomeDir()
	if err != nil {
		return files, nil, nil // then there are no settings
	}
	for _, name := range []string{".m2/settings.xml", ".m2/settings-security.xml"} {
		text, err := os.ReadFile(filepath.Join(home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		files[name] = text
		for _, m := range environmentIn.FindAllSubmatch(text, -1) {
			named = append(named, string(m[1]))
		}
	}
	return files, named, nil
}

// GoInstall builds a command of Go modules into Dir/bin. locks names the modules of this version in VERSION.mod and VERSION.sum,
// which are a go.mod and its go.sum. No code of the modules runs: cgo is off, and no other toolchain is fetched. Errors:
// *ErrMissing without Go, *ErrAltered for a module that go.sum doesn't name.
func (i *Install) GoInstall(ctx context.Context, locks fs.FS, pkg string) error {
	if _, err := lookPath("go", "golang-go"); err != nil {
		return err
	}
	work, err := os.MkdirTemp(i.Dir, ".go-") // as in AptTree
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, kind := range []string{"mod", "sum"} {
		text, err := fs.ReadFile(locks, "locks/"+i.Version+"."+kind)
		if err != nil {
			return fmt.Errorf("no SHA-256 of the modules of %s %s is known: %w", pkg, i.Version, err)
		}
		if err := os.WriteFile(filepath.Join(work, "go."+kind), text, 0o600); err != nil {
			return err
		}
	}
	i.Log("building %s %s", pkg, i.Version)
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false", "GOTOOLCHAIN=local", "GOWORK=off"}
	err = i.own(ctx, work, append(handed(network, gos), env...), "go", "build", "-o", filepath.Join(i.Dir, "bin")+"/", pkg)
	if err != nil && strings.Contains(err.Error(), "SECURITY ERROR") { // a module differs from its go.sum
		return &ErrAltered{err}
	}
	return err
}

func lookPath(command string, apt ...string) (string, error) {
	return Need{Command: command, Apt: apt}.path()
}
